"""Token strips: short texts as rows of coloured tokens, for holding several spellings side by side.

The stage shows one long text at every step; a strip shows a few tokens and what is to be said of each. The
colours are the stage's, so a token looks the same on every page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from bpe import UNKNOWN_ID
from bpe.quirks import TextToken
from ui.palette import token_colours
from ui.stage import bundle
from ui.text import count_of, show_token

__all__ = ["Strip", "build_strips", "counts_of", "show_strips"]

_FOLDER = Path(__file__).parent
_STAGE = Path(bundle.__file__).parent
Layout = Literal["rows", "grid", "large", "columns"]
"""rows: one below the other; grid: short ones side by side; large: rows in large letters; columns: numbers set at
the right, so that ones stand under ones."""

MOST_TOKENS = 400
"""So many tokens of a row are drawn; its note counts all."""


@dataclass(frozen=True)
class Strip:
    """One row.

    note   counts, beside the title
    under  a line below each token; its id where this is None
    spans  byte ranges to mark
    """

    title: str
    note: str
    tokens: Sequence[TextToken]
    under: Sequence[str] | None = None
    spans: Sequence[tuple[int, int]] = ()


def counts_of(tokens: Sequence[TextToken]) -> str:
    """Return the counts of a row.

    >>> counts_of([TextToken(7, b"ab"), TextToken(8, b"c")])
    '2 tokens · 3 bytes'
    """
    return f"{count_of(len(tokens), 'token')} · {count_of(sum(len(name) for _, name in tokens), 'byte')}"


def build_strips(strips: Sequence[Strip], layout: Layout = "rows") -> dict[str, Any]:
    """Return what the browser draws.

    >>> strip = Strip("red", "1 token", [TextToken(5, b" red")], spans=[(1, 2)])
    >>> build_strips([strip])["strips"][0]["tokens"]
    [{'hex': '20726564', 'runs': [['·', False], ['r', True], ['ed', False]], 'under': '5', 'endsLine': False}]
    """
    return {"layout": layout, "strips": [_build_strip(strip) for strip in strips]}


def _build_strip(strip: Strip) -> dict[str, Any]:
    drawn = strip.tokens[:MOST_TOKENS]
    left_out = len(strip.tokens) - len(drawn)
    marked = {byte for start, end in strip.spans for byte in range(start, end)}
    tokens = []
    start = 0
    for place, (token, name) in enumerate(drawn):
        under = strip.under[place] if strip.under is not None else _id_label(token)
        tokens.append(
            {
                "hex": name.hex(),
                "runs": _runs(name, start, marked),
                "under": under,
                "endsLine": name.endswith((b"\n", b"\r")),
            }
        )
        start += len(name)
    return {
        "title": strip.title,
        "note": strip.note,
        "tokens": tokens,
        "more": f"and {count_of(left_out, 'token')} more" if left_out else "",
    }


def _id_label(token: int) -> str:
    return "unknown" if token == UNKNOWN_ID else str(token)


def _runs(name: bytes, start: int, marked: set[int]) -> list[list[Any]]:
    """Return the label of a token in stretches, each marked or not. Part of a character is one stretch.

    A tokenizer may put a token before the text that stands for none of it: its label is an empty set.
    """
    if not name:
        return [["∅", False]]
    if not marked.intersection(range(start, start + len(name))):
        return [[show_token(name), False]]
    try:
        chars = [char.encode() for char in name.decode()]
    except UnicodeDecodeError:
        return [[show_token(name), True]]
    runs: list[tuple[bytes, bool]] = []
    at = start
    for char in chars:
        is_marked = at in marked
        if runs and runs[-1][1] == is_marked:
            runs[-1] = (runs[-1][0] + char, is_marked)
        else:
            runs.append((char, is_marked))
        at += len(char)
    return [[show_token(run), is_marked] for run, is_marked in runs]


def strips_js() -> str:
    """Return the script, with the stage's choice of colours in it."""
    colour = (_STAGE / "js" / "colour.js").read_text(encoding="utf-8")
    strip = (_FOLDER / "strip.js").read_text(encoding="utf-8")
    return bundle.join_modules({"colour.js": colour, "strip.js": strip}, "strip.js")


def strips_css() -> str:
    """Return the style sheet, with the stage's token colours in it."""
    return (_FOLDER / "strip.css").read_text(encoding="utf-8") + "\n" + token_colours("background")


_mount = st.components.v2.component(
    "token_strips", html='<div class="strips"></div>\n', css=strips_css(), js=strips_js()
)


def show_strips(strips: Sequence[Strip], *, key: str, layout: Layout = "rows") -> None:
    """Draw rows of tokens."""
    _mount(data=build_strips(strips, layout), key=key)
