"""Names of code points, for the panel that describes a token.

Only the names that the text needs are sent. Ideographs and Hangul syllables have names that follow from their
number, so the browser computes those itself (js/names.js).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["code_point_name", "pack_names"]

# Control characters have no name in the Unicode standard, only aliases; these are the aliases' first forms.
_C0_NAMES = (
    "NULL, START OF HEADING, START OF TEXT, END OF TEXT, END OF TRANSMISSION, ENQUIRY, ACKNOWLEDGE, ALERT, "
    "BACKSPACE, CHARACTER TABULATION, LINE FEED, LINE TABULATION, FORM FEED, CARRIAGE RETURN, SHIFT OUT, "
    "SHIFT IN, DATA LINK ESCAPE, DEVICE CONTROL ONE, DEVICE CONTROL TWO, DEVICE CONTROL THREE, "
    "DEVICE CONTROL FOUR, NEGATIVE ACKNOWLEDGE, SYNCHRONOUS IDLE, END OF TRANSMISSION BLOCK, CANCEL, "
    "END OF MEDIUM, SUBSTITUTE, ESCAPE, INFORMATION SEPARATOR FOUR, INFORMATION SEPARATOR THREE, "
    "INFORMATION SEPARATOR TWO, INFORMATION SEPARATOR ONE"
)
_ALIASES = dict(enumerate(_C0_NAMES.split(", "))) | {0x7F: "DELETE", 0x85: "NEXT LINE"}
_UNNAMED = {"Cc": "CONTROL", "Co": "PRIVATE USE", "Cn": "UNASSIGNED"}

_COMPUTED_IN_THE_BROWSER = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x323AF), (0xAC00, 0xD7A3))


def code_point_name(char: str) -> str:
    """Return the Unicode name of one character, or what stands for it where the standard gives none.

    >>> code_point_name("é"), code_point_name(chr(9)), code_point_name(chr(0xE000))
    ('LATIN SMALL LETTER E WITH ACUTE', 'CHARACTER TABULATION', 'PRIVATE USE')
    """
    fallback = _ALIASES.get(ord(char)) or _UNNAMED.get(unicodedata.category(char), "")
    return unicodedata.name(char, fallback)


def pack_names(texts: Iterable[str]) -> bytes:
    """Return one line for each distinct code point of the texts, ascending: hex distance to the last, name.

    >>> pack_names(["ba", "中"])
    b'61 LATIN SMALL LETTER A\\n1 LATIN SMALL LETTER B'
    """
    code_points = {ord(char) for text in texts for char in set(text)}
    lines = []
    last = 0
    for code_point in sorted(code_points):
        if any(first <= code_point <= end for first, end in _COMPUTED_IN_THE_BROWSER):
            continue
        lines.append(f"{code_point - last:x} {code_point_name(chr(code_point))}")
        last = code_point
    return "\n".join(lines).encode()
