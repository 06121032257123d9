"""The one way to draw a text area, so that none comes up without its text."""

from __future__ import annotations

import streamlit as st

from ui import state

__all__ = ["text_area"]


def text_area(label: str, key: str, *, height: int, max_chars: int, help: str | None = None) -> str:
    """Draw a text area with what the session holds for it, and return its text.

    What it holds is its default as well. Streamlit tells the browser only once to fill a box with what the session was
    given, and forgets that with the next run; on a slow line the box is drawn later, would be empty, and its emptiness
    would take the place of the text.
    """
    held = str(st.session_state.get(key) or "")
    typed = st.text_area(label, held, key=key, height=height, max_chars=max_chars, help=help)
    state.keep_text(key)
    return typed or ""
