"""Waiting for a training: short ones answer at once, long ones show how far they are and can be cancelled."""

from __future__ import annotations

import streamlit as st

from bpe import Training, TrainSettings
from ui import compute, frame, state
from ui.compute import Corpus
from ui.jobs import Job
from ui.text import count_of

__all__ = ["trained"]

_SHORT_SECONDS = 0.9


def trained(corpus: Corpus, settings: TrainSettings) -> Training:
    """Return the training of this corpus with these settings, known, finished or cancelled.

    While it runs, the page ends here with a progress bar and a button; the page runs again when it is over.
    Other settings in the meantime stop the old work.
    """
    known = compute.known_training(corpus, settings)
    if known is not None:
        _drop(st.session_state.pop(state.JOB, None))
        return known
    job: Job[Training] | None = st.session_state.get(state.JOB)
    if job is None or job.key != compute.training_key(corpus, settings):
        _drop(job)
        job = compute.start_training(corpus, settings)
        st.session_state[state.JOB] = job
    if not job.wait(_SHORT_SECONDS):
        _progress(job)
        frame.end()
        st.stop()
    if job.error is not None:
        st.session_state.pop(state.JOB)
        raise job.error
    assert job.result is not None
    return job.result


def _drop(job: Job[Training] | None) -> None:
    if job is not None:
        job.cancel()


@st.fragment(run_every=0.4)
def _progress(job: Job[Training]) -> None:
    if job.is_over:
        st.rerun()
    share = job.done / job.asked
    left = job.seconds_left
    st.progress(
        min(share, 1.0),
        f"Training: {job.done:,} of {count_of(job.asked, 'merge')}"
        + (f", about {left:,.0f} s left" if left is not None else ", counting pre-tokens"),
    )
    st.button("Stop here and keep what was learned", on_click=job.cancel)
