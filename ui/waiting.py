"""Waiting for work: short work answers at once, long work shows how far it is and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from bpe import Training, TrainSettings
from ui import compute, frame, state
from ui.compute import Corpus
from ui.jobs import Job, JobBoard
from ui.limits import LIMITS
from ui.text import count_of

__all__ = ["awaited", "trained"]

Result = TypeVar("Result")

_SHORT_SECONDS = 0.9


def awaited(
    slot: str,
    board: JobBoard[Result],
    key: str,
    work: Callable[[Job[Result]], Result],
    *,
    label: Callable[[Job[Result]], str],
    stop: str = "Stop",
    gives_part: bool = False,
    keep: Callable[[Result], bool] = lambda result: True,
) -> Result:
    """Return the result of `work(job)`, known by its key, just finished, or as far as it came when it was stopped.

    While it runs, the page ends here with a progress bar, the sentence `label(job)` and a button; the page runs
    again when it is over. A session has one job a `slot`: asking for another key stops the one before. Work that
    is stopped gives the part it has done (`gives_part`), or ends the page with a sentence and a button.
    """
    known = board.known(key)
    if known is not None:
        _drop(st.session_state.pop(slot, None))
        return known
    job: Job[Result] | None = st.session_state.get(slot)
    if job is None or job.key != key:
        _drop(job)
        job = board.start(key, work, keep=keep)
        st.session_state[slot] = job
    if not _is_given_up(job, gives_part):
        job.wait(_SHORT_SECONDS)
    given_up = _is_given_up(job, gives_part)  # only now: it may be stopped in the queue while the page waits
    if given_up or not job.is_over:
        if given_up:
            st.info(f"{_stopped(job)} Change something above to go on, or start again.")
            st.button("Start again", on_click=_forget, args=(slot,), key=f"{slot}-again")
        else:
            _progress(job, label, stop, gives_part)
        frame.end()
        st.stop()
    if job.error is not None:
        st.session_state.pop(slot)
        raise job.error
    if job.was_too_long:
        st.info(f"{_stopped(job)} What was done up to then is shown.")
    assert job.result is not None
    return job.result


def trained(corpus: Corpus, settings: TrainSettings) -> Training:
    """Return the training of this corpus with these settings; when stopped, the merges learned up to then."""

    def label(job: Job[Training]) -> str:
        left = job.seconds_left
        pace = f"about {left:,.0f} s left" if left is not None else "counting pre-tokens"
        return f"Training: {job.done:,} of {count_of(job.asked, 'merge')}, {pace}"

    key = compute.training_key(corpus, settings)
    own = state.own_tokenizer()
    if own is not None and own.key == key:  # in a full class the server may have dropped what this session still has
        _drop(st.session_state.pop(state.TRAIN_JOB, None))
        return own.training
    return awaited(
        state.TRAIN_JOB,
        compute.trainings(),
        key,
        lambda job: compute.run_training(corpus, settings, job.report),
        label=label,
        stop="Stop here and keep what was learned",
        gives_part=True,
        keep=lambda training: training.stopped != "cancelled",
    )


def _is_given_up(job: Job[Result], gives_part: bool) -> bool:
    """Whether nothing is to be had of the job: it was stopped, and has no part to give."""
    return job.is_stopping and not (gives_part and job.has_begun)


def _stopped(job: Job[Result]) -> str:
    if job.was_too_long:
        return f"Stopped: this server gives one piece of work {count_of(LIMITS.job_seconds, 'second')}."
    return "Stopped."


def _queued(job: Job[Result]) -> str:
    """The sentence while others have their turn; a queue is short or long, but never silent."""
    return f"Waiting for its turn: {count_of(job.num_ahead, 'piece')} of work of other visitors before this one"


def _drop(job: Job[Result] | None) -> None:
    if job is not None:
        job.cancel()


def _forget(slot: str) -> None:
    st.session_state.pop(slot, None)


@st.fragment(run_every=0.4)
def _progress(job: Job[Result], label: Callable[[Job[Result]], str], stop: str, gives_part: bool) -> None:
    """Look at the job every 0.4 s, in a fragment of its own: the rest of the page stays as it is."""
    state.put_back()
    if job.is_over or _is_given_up(job, gives_part):
        st.rerun()
    sentence = _queued(job) if job.is_waiting else label(job)
    st.progress(min(job.done / job.asked, 1.0), "Stopping" if job.is_stopping else sentence)
    st.button(stop, on_click=job.cancel, disabled=job.is_stopping)
