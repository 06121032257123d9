"""Split patterns: text -> pre-tokens -> pre-token counts.

A pre-token is a piece of text that merges never cross. Byte-pair encoding as published by Sennrich et al.
(2016, arXiv 1508.07909) split at white space; GPT-2 (Radford et al. 2019) introduced the regular
expression that later models varied. Splitting here loses nothing: joined pre-tokens are the text, for any
pattern, because what a pattern leaves out becomes a pre-token of its own.

It leaves out normalization (lower-casing, NFKC): no byte-level BPE does that. Read trainer.py next.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import regex

from bpe.errors import CorpusError, SettingsError
from bpe.normalizing import whole_characters

__all__ = ["SPLIT_PATTERNS", "check_counts", "compile_split", "count_pre_tokens", "matches_in_time", "split"]

# Source: github.com/openai/gpt-2 src/encoder.py, and tiktoken_ext/openai_public.py for the later two.
# \s+(?!\S)|\s+ leaves the last space of a run to the word that follows.
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

SPLIT_PATTERNS = MappingProxyType(
    {
        "none": "",
        "whitespace": r"\S+|\s+",
        "gpt2": _GPT2,
        "cl100k": _CL100K,
        "o200k": _O200K,
        "llama3": _LLAMA3,
        "digits": _GPT2.replace(r" ?\p{N}+", r"\p{N}"),
    }
)
"""Named split patterns. `none`: the whole text is one pre-token. `digits`: GPT-2's, every digit on its own."""

# A reader's own pattern may backtrack for ever; the named ones cannot. Not the clock: a busy server is not the
# pattern's fault.
_OWN_PATTERN_SECONDS = 10.0


@lru_cache(maxsize=64)
def compile_split(pattern: str) -> regex.Pattern[str] | None:
    """Return the compiled pattern for a name of SPLIT_PATTERNS or a regular expression; None for `none`.

    Raises:
        SettingsError: the expression does not compile, or is empty.
    """
    expression = SPLIT_PATTERNS.get(pattern, pattern)
    if pattern == "none":
        return None
    if not expression:
        raise SettingsError(f"split must be one of {', '.join(SPLIT_PATTERNS)} or a regular expression, but is empty")
    try:
        return regex.compile(expression)
    except regex.error as error:
        raise SettingsError(
            f"split must be one of {', '.join(SPLIT_PATTERNS)} or a regular expression, "
            f"but {pattern!r} does not compile: {error}"
        ) from None


def split(text: str, pattern: str) -> list[str]:
    """Return the pre-tokens of a text, in order. Joined, they are the text.

    Text that the pattern does not match stays: each stretch between two matches is a pre-token.

    Raises:
        SettingsError: the pattern does not compile, or it takes more than 10 s of CPU time on this text.

    >>> split("It's 2,024 tokens", "gpt2")
    ['It', "'s", ' 2', ',', '024', ' tokens']
    >>> split("a-b", "[a-z]")
    ['a', '-', 'b']
    """
    compiled = compile_split(pattern)
    if not text:
        return []
    if compiled is None:
        return [text]
    if pattern in SPLIT_PATTERNS:  # no groups, and every character is matched: findall is the fast way
        return compiled.findall(text)
    pieces: list[str] = []
    end = 0
    try:
        for match in matches_in_time(compiled, text, _OWN_PATTERN_SECONDS):
            if match.start() > end:
                pieces.append(text[end : match.start()])
            if match.end() > match.start():
                pieces.append(match.group())
            end = match.end()
    except TimeoutError:
        raise SettingsError(
            f"split must finish, but {pattern!r} was still running after {_OWN_PATTERN_SECONDS:.0f} s of computing at "
            f"character {end:,}; avoid nested repeats such as (a+)+"
        ) from None
    if end < len(text):
        pieces.append(text[end:])
    return pieces


def matches_in_time(compiled: regex.Pattern[str], text: str, seconds: float) -> Iterator[regex.Match[str]]:
    """Yield the matches of a pattern that nobody has vouched for, for so many seconds of this thread's CPU time.

    The library's own limit counts CPU time of the whole process: with one other thread at work a pattern had half of
    it. Where that limit is hit early, the search goes on behind the last match. So it ends after at most twice the
    seconds of its own work, however busy the machine is.

    Raises:
        TimeoutError: the time is over.

    >>> [match.group() for match in matches_in_time(regex.compile("[a-z]"), "a-b", 1.0)]
    ['a', 'b']
    """
    deadline = time.thread_time() + seconds
    end = 0
    while True:
        try:
            for match in compiled.finditer(text, end, timeout=seconds):
                end = match.end()
                yield match
            return
        except TimeoutError:
            if time.thread_time() >= deadline:
                raise


def count_pre_tokens(text: str, pattern: str) -> dict[str, int]:
    """Return each distinct pre-token with its count, in order of first occurrence.

    Training on these gives the same merges as training on the running text: merges never cross a
    pre-token, and the first occurrence of any pair lies in the first copy of its pre-token.

    >>> count_pre_tokens("low low lower", "whitespace")
    {'low': 2, ' ': 2, 'lower': 1}
    """
    return dict(Counter(split(text, pattern)))


# Counts and their sums stay below 2^63, with a margin for one addition.
_MOST_SYMBOLS = 2**62


def check_counts(table: Mapping[str, int]) -> dict[str, int]:
    """Return a table of pre-tokens and counts, checked; words that differ in half surrogate pairs only are one.

    Raises:
        CorpusError: a word is empty, a count is not a positive integer, or all counts together are too large.

    >>> check_counts({"low": 5, "lower": 2})
    {'low': 5, 'lower': 2}
    """
    checked: dict[str, int] = {}
    for word, count in table.items():
        if not word:
            raise CorpusError("a word in the table must not be empty; remove the empty row")
        if not isinstance(count, int | np.integer) or count < 1:
            raise CorpusError(f"the count of {word!r} must be a whole number of at least 1, but is {count!r}")
        word = whole_characters(word)
        checked[word] = checked.get(word, 0) + int(count)
    num_symbols = sum(len(word) * count for word, count in checked.items())
    if num_symbols >= _MOST_SYMBOLS:
        raise CorpusError(
            f"the table must stand for fewer than 2^62 characters, but is {num_symbols:,}; divide its counts"
        )
    return checked
