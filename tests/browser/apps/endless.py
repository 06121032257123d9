"""Work without end, started by a first visitor, and a count of it for a second one, who stays when the first leaves."""

import sys
import time
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[3]))

from ui.jobs import Job, JobBoard


@st.cache_resource
def board() -> JobBoard[str]:
    return JobBoard(num_kept=1)


@st.cache_resource
def jobs() -> list[Job[str]]:
    return []


def work(job: Job[str]) -> str:
    while job.report(1, 2):
        time.sleep(0.05)
    return "stopped"


@st.fragment(run_every=0.3)
def count() -> None:
    st.write(f"{sum(not job.is_over for job in jobs())} of {len(jobs())} jobs run")


if "watch" not in st.query_params and "job" not in st.session_state:
    st.session_state["job"] = board().start("endless", work, keep=lambda result: False)
    jobs().append(st.session_state["job"])
count()
