"""Bytes as characters: the table that makes a space read as Ġ in GPT-2's files, with the reader's text in it."""

from __future__ import annotations

import html

import streamlit as st

from bpe.formats.byte_alphabet import CHAR_OF_BYTE, to_chars
from bpe.quirks import tokens_of
from ui import state
from ui.choosing import Chosen
from ui.quirks.controls import example_buttons, short_text
from ui.quirks.strips import Strip, counts_of, show_strips
from ui.text import count_of

__all__ = ["byte_table", "show"]

_EXAMPLES = {
    "a sentence": "A space, a naïve café.",
    "a greeting": "こんにちは 안녕",
    "white space": "two  spaces and a non-breaking one",
}

_STYLE = """
<style>
  .byte-table { border-collapse: collapse; font: 14px/1.3 ui-monospace, monospace; table-layout: fixed; width: 100%;
    max-width: 720px; }
  .byte-table th, .byte-table td { border: 1px solid rgba(128, 128, 128, 0.35); padding: 2px 0; text-align: center; }
  .byte-table th { font-size: 11px; font-weight: 400; opacity: 0.8; }
  .byte-table .moved { font-weight: 700; background: rgba(91, 127, 166, 0.25); }
  .byte-table .used { outline: 2px solid #d1495b; outline-offset: -2px; }
  @media (max-width: 500px) { .byte-table { font-size: 11px; } .byte-table th { font-size: 9px; } }
</style>
"""


def show(chosen: Chosen) -> None:
    """Draw the reader's text in stand-ins, and the table."""
    st.subheader("Why does a space read as Ġ in the files?")
    example_buttons(state.STAND_IN, _EXAMPLES)
    text = short_text("Text", _EXAMPLES["a sentence"], state.STAND_IN)
    tokens = tokens_of(chosen.tokenizer, text)
    written = to_chars(text.encode())
    changed = sum(a != b for a, b in zip(written, text.encode().decode("latin-1"), strict=True))
    st.markdown(
        f"A vocabulary file is text, and a token may be half a character. So GPT-2's files write each byte as one "
        f"printable character: {_num_kept()} of 256 bytes stand for themselves, {256 - _num_kept()} have a stand-in. "
        f"Of the {count_of(len(written), 'byte')} of your text, {changed:,} read as a stand-in."
    )
    st.code(written or "no text yet", language=None, wrap_lines=True)
    names = [to_chars(name) for _, name in tokens]
    show_strips(
        [Strip("Your text, and each token as a file names it", counts_of(tokens), tokens, names)], key="byte-strips"
    )
    st.markdown(
        "**The table:** first half of the byte on the left, second half on top. Outlined: the bytes of your text."
    )
    st.html(_STYLE + byte_table(frozenset(text.encode())))
    st.caption(
        "Shaded bytes are written as another character, all of them from U+0100 on. Try next: a text in another "
        "script, whose bytes read as Latin letters with accents."
    )


def _num_kept() -> int:
    return sum(ord(char) == byte for byte, char in enumerate(CHAR_OF_BYTE))


def byte_table(used: frozenset[int]) -> str:
    """Return the 16 x 16 table of stand-ins as HTML; the bytes in `used` are outlined."""
    head = "".join(f'<th scope="col">_{low:x}</th>' for low in range(16))
    rows = [f"<tr><td></td>{head}</tr>"]
    for high in range(16):
        cells = "".join(_cell(16 * high + low, used) for low in range(16))
        rows.append(f'<tr><th scope="row">{high:x}_</th>{cells}</tr>')
    label = "Stand-in character of each byte in GPT-2's vocabulary files"
    return f'<table class="byte-table" aria-label="{label}">{"".join(rows)}</table>'


def _cell(byte: int, used: frozenset[int]) -> str:
    char = CHAR_OF_BYTE[byte]
    classes = [name for name, holds in (("moved", ord(char) != byte), ("used", byte in used)) if holds]
    return f'<td class="{" ".join(classes)}" title="byte {byte:02x} = {byte}">{html.escape(char)}</td>'
