"""Spelling: the letters of a word under the tokens that hide them."""

from __future__ import annotations

import streamlit as st

from bpe.quirks import Spelling, spell
from ui import state
from ui.choosing import Chosen
from ui.quirks.controls import example_buttons, short_text
from ui.quirks.strips import Strip, counts_of, show_strips
from ui.text import count_of, markdown_literal

__all__ = ["letter_sentence", "show"]

_EXAMPLES = {
    "strawberry": "strawberry",
    "Mississippi": "Mississippi",
    "in a sentence": "How many strawberries?",
    "supercalifragilistic": "supercalifragilistic",
}


def show(chosen: Chosen) -> None:
    """Draw the word, its tokens, and where the letter is."""
    st.subheader("How many r's are in strawberry, and who can see them?")
    example_buttons(state.WORD, _EXAMPLES)
    left, right = st.columns([3, 1])
    with left:
        word = short_text("Word", "strawberry", state.WORD)
    with right:
        letter = short_text("Letter to count", "r", state.LETTER)

    spelling = spell(chosen.tokenizer, word, letter)
    spaced = spell(chosen.tokenizer, " " + word, letter)
    st.markdown(letter_sentence(spelling, letter))
    show_strips(
        [
            _strip("As it stands", spelling, letter),
            _strip("After a space, as inside a sentence", spaced, letter),
        ],
        key="spelling-strips",
        layout="large",
    )
    st.caption(
        "A model is given the numbers below the tokens, one vector each: how a token is spelled has to be learned, "
        "token by token. Try next: put a space between the letters, and every letter becomes visible."
    )


def _strip(title: str, spelling: Spelling, letter: str) -> Strip:
    under = [
        f"{token}\n{count} × {letter}" if letter else str(token)
        for (token, _), count in zip(spelling.tokens, spelling.per_token, strict=True)
    ]
    return Strip(title, counts_of(spelling.tokens), spelling.tokens, under, spelling.spans)


def letter_sentence(spelling: Spelling, letter: str) -> str:
    """Return the count as a sum over the tokens, as Markdown.

    >>> from bpe.pretrained import load_pretrained
    >>> letter_sentence(spell(load_pretrained("gpt2"), "strawberry", "r"), "r")
    '**3 × r** in 3 tokens: 0 + 1 + 2.'
    """
    num_tokens = len(spelling.tokens)
    if not num_tokens:
        return "There is no text yet: type a word."
    if not letter:
        return f"{count_of(num_tokens, 'token')}; type a letter to count it."
    parts = " + ".join(map(str, spelling.per_token[:40])) + (" + …" if num_tokens > 40 else "")
    sentence = f"**{spelling.num_found:,} × {markdown_literal(letter)}** in {count_of(num_tokens, 'token')}: {parts}"
    if spelling.num_split:
        sentence += f", and {spelling.num_split:,} across a token boundary, where no token holds it"
    return sentence + "."
