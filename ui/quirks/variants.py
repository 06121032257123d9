"""Case and spelling: one word as people write it, and how little of its tokens survives."""

from __future__ import annotations

import streamlit as st

from bpe.quirks import case_variants, tokens_of
from ui import state
from ui.choosing import Chosen
from ui.quirks.controls import example_buttons, short_text
from ui.quirks.strips import Strip, counts_of, show_strips
from ui.text import count_of

__all__ = ["show"]

_EXAMPLES = {"hello": "hello", "strawberry": "strawberry", "OpenAI": "OpenAI", "straße": "straße"}


def show(chosen: Chosen) -> None:
    """Draw the variants of a word as rows."""
    st.subheader("Is it the same word when it is shouted?")
    example_buttons(state.CASED, _EXAMPLES)
    word = short_text("Word", "hello", state.CASED)
    if not word:
        st.info("There is no word yet: type one.")
        return
    rows = {name: tokens_of(chosen.tokenizer, text) for name, text in case_variants(word).items()}
    first = next(iter(rows.values()))
    known = {token for token, _ in first}
    strips = []
    num_apart = 0
    for name, tokens in rows.items():
        shared = sum(token in known for token, _ in tokens)
        num_apart += not shared
        note = counts_of(tokens) if tokens is first else f"{counts_of(tokens)} · {shared or 'none'} shared"
        strips.append(Strip(name, note, tokens))
    st.markdown(
        f"{count_of(len(rows), 'spelling')}, from {min(map(len, rows.values())):,} to "
        f"{count_of(max(map(len, rows.values())), 'token')}; **{num_apart:,} share no token id** with the first."
    )
    show_strips(strips, key="case-strips", layout="grid")
    st.caption("To a model the ids are all there is. Try next: a name that is written with capitals inside.")
