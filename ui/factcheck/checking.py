"""Checking all claims beside the page: results arrive one by one, once for the whole server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from bpe.claims import CLAIMS, Claim, Finding
from bpe.errors import UnavailableError
from ui import state
from ui.jobs import Job, JobBoard

__all__ = ["Missing", "Result", "check", "results_so_far", "watch"]

_SHORT_SECONDS = 0.9
_LOOK_IN_SECONDS = 1.0


@dataclass(frozen=True)
class Missing:
    """A claim that cannot be checked here, and what is missing for it."""

    reason: str


Result = Finding | Missing


def check(claim: Claim) -> Result:
    """Return what holds of a claim, or why that cannot be computed here."""
    try:
        return claim.check()
    except UnavailableError as error:
        return Missing(str(error))


@st.cache_resource(show_spinner=False)
def _results() -> dict[str, Result]:
    """Claims by name, as they are checked. Only ever added to."""
    return {}


@st.cache_resource(show_spinner=False)
def _board() -> JobBoard[None]:
    return JobBoard(num_kept=1)


def _check_rest(job: Job[None]) -> None:
    results = _results()
    for place, (name, claim) in enumerate(CLAIMS.items()):
        if not job.report(place, len(CLAIMS)):
            return
        if name not in results:
            results[name] = check(claim)


def results_so_far() -> tuple[Mapping[str, Result], Job[None] | None]:
    """Return the results there are, and the work on the others: still going on, or stopped. None: all are there.

    Waits a moment for the first ones.
    """
    results = _results()
    if len(results) < len(CLAIMS):
        job: Job[None] | None = st.session_state.get(state.CLAIMS_JOB)
        if job is None:
            job = _board().start("claims", _check_rest, keep=lambda _: False)
            st.session_state[state.CLAIMS_JOB] = job
        job.wait(_SHORT_SECONDS)
        if job.error is not None:
            _forget()
            raise job.error
        if len(results) < len(CLAIMS):
            return dict(results), job
    _forget()
    return dict(results), None


def _forget() -> None:
    st.session_state.pop(state.CLAIMS_JOB, None)


def watch(job: Job[None], num_known: int) -> None:
    """Show how far the work is, with a way to stop it; run the page again when there is something new."""
    if job.is_over:
        st.info(f"Stopped after {num_known:,} of {len(CLAIMS):,} claims.")
        st.button("Check the rest", on_click=_forget)
    else:
        _progress(job, num_known)


@st.fragment(run_every=_LOOK_IN_SECONDS)
def _progress(job: Job[None], num_known: int) -> None:
    state.put_back()
    if job.is_over or len(_results()) > num_known:
        st.rerun()
    st.progress(
        min(num_known / len(CLAIMS), 1.0),
        f"Checking: {num_known:,} of {len(CLAIMS):,} claims, unpacking the vocabularies they need",
    )
    st.button("Stop", on_click=job.cancel, key="stop-checking")
