"""A page with nothing but the token stage, for browser tests and benchmarks.

The address says what is drawn: `?text=mixed&size=200000&merges=2000&step=0`, `own=...` for a sentence,
`split=none`, `tokenizer=gpt2` for a real tokenizer, `height=...`, and `marks`, `walls`, `bytes`, `ids` to switch
on.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import streamlit as st

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2])]

from stage_texts import make_text  # noqa: E402

from bpe import TrainSettings, train  # noqa: E402
from bpe.pretrained import load_pretrained  # noqa: E402
from ui.stage.component import stage  # noqa: E402
from ui.stage.payload import StageOptions, StageView, build_payload, with_head  # noqa: E402


@st.cache_resource(max_entries=4, show_spinner=False)
def trained(kind: str, size: int, num_merges: int, split: str):
    text = make_text(kind, size)
    settings = TrainSettings(num_merges=num_merges, min_pair_count=1 if size < 5000 else 2, split=split)
    return text, train(text, settings)


@st.cache_resource(max_entries=8, show_spinner=False)
def payload(kind: str, size: int, num_merges: int, split: str, tokenizer_name: str, own: str) -> tuple[bytes, int]:
    """The drawing at step 0, and its number of merges; a step is put in with `with_head`."""
    if tokenizer_name:
        text = make_text(kind, size)
        tokenizer = load_pretrained(tokenizer_name)
        history = tokenizer.history(text)
        lifetimes = np.concatenate([history.lifetimes, tokenizer.history(own).lifetimes])
        rows = tokenizer.merge_rows(np.unique(lifetimes[lifetimes < tokenizer.num_merges]))
        views = [StageView(history)]
    else:
        text, training = trained(kind, size, num_merges, split)
        tokenizer = training.tokenizer
        rows = training.rows
        views = [StageView(training.history(text))]
    if own:
        views.append(StageView(tokenizer.history(own), title="Your sentence"))
    num_merges = tokenizer.num_merges
    return build_payload(views, rows, tokenizer.base_names(), num_merges=num_merges, step=0), num_merges


query = st.query_params
st.set_page_config(layout="wide")
kind = query.get("text", "mixed")
size = int(query.get("size", 20_000))
num_merges = int(query.get("merges", 2000))
options = StageOptions(**{name: name in query for name in ("marks", "walls", "bytes", "ids")})
drawing, num_merges = payload(
    kind, size, num_merges, query.get("split", "gpt2"), query.get("tokenizer", ""), query.get("own", "")
)
step = st.session_state.get("step", int(query.get("step", 0)))
step = num_merges if step < 0 else min(step, num_merges)


def remember(step: int) -> None:
    st.session_state["step"] = step


if st.button("Back to step 5"):
    remember(5)
    step = 5

state = stage(
    with_head(drawing, step=step, options=asdict(options)),
    key="stage",
    on_step=remember,
    height=int(query.get("height", 400)),
)
st.text(f"step on the server: {state.step}")
st.text(f"options on the server: {state.options}")
