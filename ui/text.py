"""Token bytes as text for labels that Python makes: charts, tables, sentences. The stage has its own, in JS.

A token may be a space, part of a character, a control or a right-to-left word; a label must show each, and
must not be read as markup.
"""

from __future__ import annotations

import html
import re
import unicodedata

__all__ = ["NOT_TO_BE_HAD", "as_sentence", "chart_literal", "count_of", "markdown_literal", "show_token"]

NOT_TO_BE_HAD = "–"
"""What stands in a table or chart where there is no figure."""

_PICTURES = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍", "\u00a0": "⍽", "\u3000": "□"}
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def show_token(token: bytes, *, isolate: bool = False) -> str:
    """Return a token for a label: blanks as signs, invisible characters by name, part of a character in hex.

    With `isolate`, a right-to-left token cannot turn the sentence around it.

    >>> show_token(b" the"), show_token(b"\\xe2\\x80"), show_token("\\u200d".encode())
    ('·the', '⟨e2 80⟩', '⟨U+200D⟩')
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return f"⟨{token.hex(' ')}⟩"
    shown = "".join(map(_show_character, text))
    if text and unicodedata.combining(text[0]):
        shown = "◌" + shown
    return f"{_FIRST_STRONG_ISOLATE}{shown}{_POP_ISOLATE}" if isolate else shown


def _show_character(char: str) -> str:
    if char in _PICTURES:
        return _PICTURES[char]
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Co"):
        return f"⟨U+{ord(char):04X}⟩"
    return char


def count_of(number: int, noun: str) -> str:
    """Return a number with its unit, plural where it is not one.

    >>> count_of(1, "token"), count_of(1234, "byte")
    ('1 token', '1,234 bytes')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


_VERB = re.compile(r" (?:must|is|are|has|cannot)\b")
_QUOTED = re.compile(r"'[^']*'")


def as_sentence(message: str) -> str:
    """Return a message of the package as a sentence: a capital first, a full stop last. A file keeps its name.

    >>> as_sentence("the step must be from 0 to 9"), as_sentence("my notes.txt must be UTF-8")
    ('The step must be from 0 to 9.', 'my notes.txt must be UTF-8.')
    """
    subject = _QUOTED.sub("", _VERB.split(message, maxsplit=1)[0])
    first_word = subject.split(" ", 1)[0].rstrip(":,")
    begins_with_name = not first_word.isalpha() or re.search(r"\w\.\w", subject) is not None
    first = message[:1] if begins_with_name else message[:1].upper()
    return first + message[1:].rstrip(".") + "."


def markdown_literal(text: str) -> str:
    """Return a text that Markdown, its colour names, emoji names and formulas leave as it is.

    >>> markdown_literal("$a$ :red[x] *b*")
    '\\\\$a\\\\$ \\\\:red\\\\[x\\\\] \\\\*b\\\\*'
    """
    return "".join("\\" + char if char in r"\`*_{}[]()#+-.!|<>~$:&" else char for char in text)


def chart_literal(text: str) -> str:
    """Return a text that Plotly shows as it is: its labels know some HTML, and formulas between dollars.

    >>> chart_literal("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return html.escape(text, quote=False).replace("$", "&#36;")
