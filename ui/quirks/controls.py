"""Controls of the page Quirks: short texts and numbers, with their limits."""

from __future__ import annotations

import streamlit as st

from bpe.corpus import clean_text
from bpe.errors import CorpusError, SettingsError
from ui import state
from ui.text import count_of
from ui.views import show_text_notices

__all__ = [
    "MOST_CODE_CHARS",
    "MOST_SENT_CODE_CHARS",
    "check_length",
    "digits",
    "example_buttons",
    "short_text",
]

MOST_TEXT_CHARS = 300
MOST_CODE_CHARS = 20_000
MOST_DIGITS = 30

# What the browser lets through, more than what is taken: it cuts without a word, and a reader deserves one.
# A line is kept in the URL, so there it must stay small.
MOST_SENT_CHARS = 2_000
MOST_SENT_CODE_CHARS = 200_000


def example_buttons(key: str, examples: dict[str, str]) -> None:
    """Draw buttons that put an example into the widget of this key."""
    with st.container(horizontal=True, gap="small"):
        for name, text in examples.items():
            st.button(name, key=f"example-{key}-{name}", on_click=_take_example, args=(key, text))


def _take_example(key: str, text: str) -> None:
    state.put(key, text)


def short_text(label: str, default: str, key: str, *, help: str | None = None) -> str:
    """Draw a line for a text and return it, cleaned.

    Raises:
        CorpusError: it is too long for a line.
    """
    typed = st.text_input(label, default, key=key, max_chars=MOST_SENT_CHARS, bind="query-params", help=help)
    text = check_length(typed or "", MOST_TEXT_CHARS, label, MOST_SENT_CHARS)
    cleaned, notices = clean_text(text)
    show_text_notices(notices)
    return cleaned


def check_length(text: str, most: int, label: str, most_sent: int) -> str:
    """Return the text; `most_sent` is where the browser cuts it.

    Raises:
        CorpusError: it is longer than `most` characters.
    """
    if len(text) > most:
        given = f"{len(text):,}" + (" or more" if len(text) >= most_sent else "")
        raise CorpusError(
            f"{label.lower()} must be at most {count_of(most, 'character')}, but has {given}: "
            "shorten it, or open the whole text on the page Tokenize"
        )
    return text


def digits(label: str, default: str, key: str) -> int:
    """Draw a line for a whole number of any length that is still readable, and return the number.

    Raises:
        SettingsError: it is no whole number, or too long.
    """
    typed = st.text_input(label, default, key=key, max_chars=2 * MOST_DIGITS, bind="query-params") or ""
    number = typed.strip().replace(",", "").replace(" ", "")
    if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
        raise SettingsError(
            f"{label.lower()} must be a whole number of at most {MOST_DIGITS} digits, but is {typed[:40]!r}"
        )
    return int(number)
