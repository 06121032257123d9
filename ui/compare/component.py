"""Mounts the aligned rows in a page and tells the page at which step the reader has the own tokenizer.

The browser holds the own tokenizer's lifetimes, so dragging its slider asks nothing of the server; the step arrives
on release. A rerun hands the rows out as they went out before, so that Streamlit sends a hash instead of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from ui.palette import token_colours
from ui.stage import bundle
from ui.stage.payload import read_head, with_head

__all__ = ["aligned_rows", "rows_css", "rows_js"]

_FOLDER = Path(__file__).parent
_STAGE = Path(bundle.__file__).parent


@cache
def rows_js() -> str:
    """Return the scripts as one module, with those of the stage that they build on."""
    folders = (_STAGE / "js", _FOLDER / "js")
    sources = {path.name: path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.js")}
    return bundle.join_modules(sources, "rows_component.js")


@cache
def rows_css() -> str:
    """Return the style sheet, with the stage's token colours in it."""
    return (_FOLDER / "rows.css").read_text(encoding="utf-8") + "\n" + token_colours("fill")


_mount = st.components.v2.component(
    "aligned_rows", html=(_FOLDER / "rows.html").read_text(encoding="utf-8"), css=rows_css(), js=rows_js()
)


def aligned_rows(payload: bytes, *, key: str, on_step: Callable[[int], None]) -> None:
    """Draw a payload of `build_rows`. `on_step` is called with a new step, before the rerun that it causes."""
    head = read_head(payload)
    most = max((row["num_merges"] for row in head["rows"]), default=0)
    record = f"_{key}_given"
    given = st.session_state.get(record)
    reported = _reported(st.session_state.get(key), head["id"], most)
    if given is None or given[0] != head["id"] or head["step"] not in (given[1], reported):
        given = (head["id"], head["step"])
        st.session_state[record] = given

    def step_changed() -> None:
        step = _reported(st.session_state.get(key), head["id"], most)
        if step is not None:
            on_step(step)

    _mount(data=with_head(payload, step=given[1]), key=key, on_step_change=step_changed)


def _reported(state: Any, drawing: str, most: int) -> int | None:
    """Return the step that the browser reported for this drawing. It comes from outside: nothing is granted."""
    report = state.get("step") if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping) or report.get("of") != drawing:
        return None
    step = report.get("value")
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= most:
        return None
    return step
