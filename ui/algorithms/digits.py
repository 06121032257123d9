"""Digits: groups of three by place value, beside the cuts that frequency made in real vocabularies."""

from __future__ import annotations

import streamlit as st

from bpe import UNKNOWN_ID, cut_digits, load_pretrained, triads, write_triads
from bpe.pretrained import pretrained_info
from bpe.quirks import TextToken
from ui import state
from ui.algorithms.about import show_about
from ui.quirks.controls import example_buttons, short_text
from ui.quirks.strips import Strip, show_strips
from ui.text import count_of, markdown_literal

__all__ = ["show", "triad_strip"]

_EXAMPLES = {number: number for number in ("1234567", "12345678.1234", "2249", "2250", "1000000", "0.0045")}
_VOCABULARIES = ("gpt2", "cl100k_base", "o200k_base", "llama3", "qwen2.5")
MOST_DIGITS = 60


def show() -> None:
    """Draw a number as triads and as several vocabularies cut it."""
    example_buttons(state.TRIAD_NUMBER, _EXAMPLES)
    number = short_text("Number", next(iter(_EXAMPLES)), state.TRIAD_NUMBER).strip()[:MOST_DIGITS]
    written = write_triads(number)
    st.markdown(f"By place value: **{markdown_literal(written)}**")
    digits = number.replace(",", "").split(".")[0]
    cuts = {}
    for name in _VOCABULARIES:
        if pretrained_info(name).available and digits.isascii():
            cuts[name] = cut_digits(load_pretrained(name), digits)
    rows = [triad_strip(number)]
    for name, cut in cuts.items():
        aligned = f"{cut.num_aligned:,} of {cut.num_triad_cuts:,} places between triads cut" if len(digits) > 3 else ""
        tokens = [TextToken(UNKNOWN_ID, token.encode()) for token in cut.tokens]
        note = ", ".join(part for part in (count_of(len(tokens), "token"), aligned) if part)
        rows.append(Strip(name, note, tokens, [""] * len(tokens)))
    show_strips(rows, key=state.TRIAD_ROWS)
    st.caption(
        "Of a decimal number the vocabularies are shown with the digits before the point. Marks: k thousand, "
        "m million, b billion, t trillion, q quadrillion; p the first three decimals, pp the next."
    )
    st.caption("Try next: 2249 and 2250, which GPT-2 cuts in different places.")
    show_about("triadic")


def triad_strip(number: str) -> Strip:
    """Return the row of triads, each with its mark and power of ten below.

    >>> triad_strip("1234").under
    ['k · 10^3', '10^0']
    """
    found = triads(number)
    tokens = [TextToken(UNKNOWN_ID, triad.digits.encode()) for triad in found]
    under = [" · ".join(part for part in (triad.marker, f"10^{triad.power}") if part) for triad in found]
    return Strip("Triadic tokens", count_of(len(tokens), "token"), tokens, under)
