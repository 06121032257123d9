"""What a tokenizer.json does to a text before any merge: normalizer and pre-tokenizers.

A pre-tokenizer is a step from one piece of text to the spans that are kept of it; what lies between two spans is
dropped (white space, mostly) and becomes the *gap* after the first. Steps run one after the other, each on the
pieces of the one before. Only what is known to give the same ids as the library is read; anything else is refused
by its key.

Source: github.com/huggingface/tokenizers, src/normalizers and src/pre_tokenizers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import regex

from bpe.errors import FormatError, SettingsError
from bpe.formats.parts import as_expression
from bpe.formats.reading import Node, quote
from bpe.pretokenize import SPLIT_PATTERNS, compile_split, matches_in_time, split

__all__ = [
    "ANYWHERE_CL100K",
    "OUTER_SPACE",
    "Normalize",
    "Piece",
    "Step",
    "library_pattern",
    "pre_tokens_of",
    "read_normalizer",
    "read_pre_tokenizer",
    "run_steps",
    "split_of_library_pattern",
]

Normalize = Callable[[str], str]
Span = tuple[int, int]
Step = Callable[[str], list[Span]]


MOST_SECONDS = 10.0
"""CPU time for a file's own pattern on one stretch of text: it may backtrack for ever."""


class Piece(NamedTuple):
    """A pre-token and what was dropped after it."""

    text: str
    gap: str


# Oniguruma, the library's regular expressions, reads X{1,3}+ as (X{1,3})+, and `$` as the end of any line. So
# cl100k is written without either there. Equal to the original on 50,000 random texts of digits and line breaks,
# where the original string, run by Oniguruma, was wrong on 8,272.
ANYWHERE_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|(?>\s+)(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s"
)

OUTER_SPACE = r"(?<![\s\S])[\s\x1c-\x1f]+|[\s\x1c-\x1f]+(?![\s\S])"
"""White space at the start or the end of a piece, as Python's `str.strip` sees it."""

_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}"
"""What \\w means in the library, spelled out (Unicode Technical Standard 18)."""

_SPLIT_OF_LIBRARY_PATTERN = {
    **{pattern: name for name, pattern in SPLIT_PATTERNS.items() if name not in ("none", "cl100k")},
    ANYWHERE_CL100K: "cl100k",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
}


def library_pattern(split_name: str) -> str:
    """Return a split pattern as the library must be given it."""
    return ANYWHERE_CL100K if split_name == "cl100k" else SPLIT_PATTERNS.get(split_name, split_name)


def split_of_library_pattern(node: Node) -> str:
    """Return the split pattern that the library was given by `library_pattern`: a name, or a regular expression.

    Raises:
        FormatError: it does not compile.
    """
    expression = node.text()
    pattern = _SPLIT_OF_LIBRARY_PATTERN.get(expression, as_expression(expression))
    try:
        compile_split(pattern)
    except SettingsError as error:
        raise FormatError(f"{node.name}: {node.path}: {error}") from None
    return pattern


def run_steps(text: str, steps: Sequence[Step]) -> list[Piece]:
    """Return the pre-tokens of a text. What is dropped before the first one is not shown.

    >>> run_steps("a  b", [partial(_matches, pattern="\\\\S+")])
    [Piece(text='a', gap='  '), Piece(text='b', gap='')]
    """
    spans = [(0, len(text))] if text else []
    for step in steps:
        spans = [(start + a, start + b) for start, end in spans for a, b in step(text[start:end])]
    next_starts = [*(start for start, _end in spans[1:]), len(text)][: len(spans)]
    return [
        Piece(text[start:end], text[end:next_start])
        for (start, end), next_start in zip(spans, next_starts, strict=True)
    ]


# ---------------------------------------------------------------------- normalizers


_UNICODE_FORMS: dict[str, Normalize] = {
    "NFC": partial(unicodedata.normalize, "NFC"),
    "NFD": partial(unicodedata.normalize, "NFD"),
    "NFKC": partial(unicodedata.normalize, "NFKC"),
    "NFKD": partial(unicodedata.normalize, "NFKD"),
}


def read_normalizer(node: Node) -> Normalize | None:
    """Return the normalizer; None where there is none.

    Raises:
        FormatError: a kind that is not read here.
    """
    if node.value is None:
        return None
    kind = node.get("type").text()
    if kind in _UNICODE_FORMS:
        return _UNICODE_FORMS[kind]
    if kind == "Lowercase":
        return _lowercase
    if kind == "Sequence":
        steps = [read_normalizer(item) for item in node.get("normalizers").items()]
        return partial(_normalize_in_turn, steps=[step for step in steps if step is not None])
    raise node.find("type").refuse("one of NFC, NFD, NFKC, NFKD, Lowercase, Sequence, the normalizers read so far")


def _lowercase(text: str) -> str:
    # Character by character, as the library: str.lower would write a final sigma as such.
    return "".join(char.lower() for char in text)


def _normalize_in_turn(text: str, steps: Sequence[Normalize]) -> str:
    for step in steps:
        text = step(text)
    return text


# ---------------------------------------------------------------------- pre-tokenizers


def read_pre_tokenizer(node: Node) -> tuple[list[Step], bool]:
    """Return the steps, and whether the byte alphabet is used (a ByteLevel among them, as the last one).

    Raises:
        FormatError: a kind or an option that is not read here.
    """
    if node.value is None:
        return [], False
    kind = node.get("type").text()
    if kind == "Sequence":
        steps: list[Step] = []
        byte_level = False
        for item in node.get("pretokenizers").items():
            if byte_level:
                raise node.refuse("a sequence that ends with ByteLevel")
            more, byte_level = read_pre_tokenizer(item)
            steps += more
        return steps, byte_level
    if kind == "ByteLevel":
        if node.find("add_prefix_space").flag(default=True):
            raise node.find("add_prefix_space").refuse("false: a space that is not in the text is not added here")
        return ([partial(pre_tokens_of, pattern="gpt2")] if node.find("use_regex").flag(default=True) else []), True
    if kind == "Split":
        return [_read_split(node)], False
    if kind == "Digits":
        pattern = r"\p{N}" if node.find("individual_digits").flag() else r"\p{N}+"
        return [partial(pre_tokens_of, pattern=pattern)], False
    if kind == "Whitespace":
        return [partial(_matches, pattern=rf"[{_WORD}]+|[^{_WORD}\s]+")], False
    if kind == "WhitespaceSplit":
        return [partial(_matches, pattern=r"\S+")], False
    raise node.find("type").refuse(
        "one of ByteLevel, Split, Digits, Whitespace, WhitespaceSplit, Sequence, the pre-tokenizers read so far"
    )


def _read_split(node: Node) -> Step:
    pattern_node = node.get("pattern")
    if "Regex" in pattern_node.members():
        expression = pattern_node.get("Regex").text()
    else:
        expression = regex.escape(pattern_node.get("String").text())
    pattern = _SPLIT_OF_LIBRARY_PATTERN.get(expression, as_expression(expression))
    try:
        compile_split(pattern)
    except SettingsError as error:
        raise FormatError(f"{node.name}: {pattern_node.path}: {error}") from None

    behavior = node.get("behavior").text()
    inverted = node.find("invert").flag()
    if behavior == "Isolated":
        return partial(pre_tokens_of, pattern=pattern)
    if behavior == "Removed":
        return partial(_matches if inverted else _rest, pattern=pattern)
    raise node.find("behavior").refuse("Isolated or Removed, the ones read so far")


def pre_tokens_of(text: str, pattern: str) -> list[Span]:
    """Matches and the stretches between them."""
    spans: list[Span] = []
    end = 0
    for piece in split(text, pattern):
        spans.append((end, end + len(piece)))
        end += len(piece)
    return spans


def _matches(text: str, pattern: str) -> list[Span]:
    """Only what the pattern matches."""
    compiled = compile_split(pattern)
    assert compiled is not None
    try:
        return [found.span() for found in matches_in_time(compiled, text, MOST_SECONDS) if found.group()]
    except TimeoutError:
        raise SettingsError(
            f"a split pattern must finish, but the file's {quote(pattern)} was still running after "
            f"{MOST_SECONDS:.0f} s of computing"
        ) from None


def _rest(text: str, pattern: str) -> list[Span]:
    """Only what the pattern does not match."""
    spans: list[Span] = []
    end = 0
    for start, stop in [*_matches(text, pattern), (len(text), len(text))]:
        if start > end:
            spans.append((end, start))
        end = stop
    return spans
