"""What a word is, where that has an answer, and whether a tokenizer keeps it whole.

Between white space is right only where a script writes spaces between words. Elsewhere the words come from
ICU, by the optional package icu4py, or there are none. Rust et al. 2021 (arXiv 2012.15613) used the words of
treebanks; these are what can be had for seventy languages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import regex

from bpe.errors import UnavailableError
from bpe.in_pieces import encode_marked
from bpe.metrics.tokens import unknown_id
from bpe.tokenizer import TokenizerLike

__all__ = ["icu_version", "whole_word_test", "words_of", "writes_spaces"]

# Scripts written without a space between words. Ethiopic is not one: it has a word space of its own, U+1361.
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Tai_Le}\p{New_Tai_Lue}"
    r"\p{Tai_Tham}\p{Javanese}\p{Balinese}]"
)
_LETTER = regex.compile(r"\p{L}")
_WORD_SPACE = regex.compile(r"[\s\u1361]+")
_WORD_EDGES = regex.compile(r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$")
_ENOUGH_CHARS = 4_096


def writes_spaces(units: Sequence[str]) -> bool:
    """Tell whether a text is in a script that puts spaces between words, by its first few thousand characters.

    >>> writes_spaces(["All human beings"]), writes_spaces(["すべての人間は"]), writes_spaces(["모든 인간은"])
    (True, False, True)
    """
    sample = ""
    for unit in units:
        sample += unit[:_ENOUGH_CHARS]
        if len(sample) >= _ENOUGH_CHARS:
            break
    return 2 * len(_UNSPACED.findall(sample)) <= len(_LETTER.findall(sample))


def icu_version() -> str | None:
    """Return the version of ICU that finds words here, or None where icu4py is not installed."""
    try:
        return str(importlib.import_module("icu4py").icu_version)
    except ImportError:
        return None


def words_of(units: Sequence[str], tag: str = "und") -> list[list[str]]:
    """Return the words of each unit, without the punctuation at their edges.

    Between white space, or the word space of Ethiopic; from ICU where the script writes no spaces. Of
    Tibetan these are syllables: ICU has no dictionary of it.

    Raises:
        UnavailableError: the script writes no spaces and ICU is not installed.

    >>> words_of(["“Don't,” he said — twice."])
    [["Don't", 'he', 'said', 'twice']]
    """
    split: Callable[[str], Iterable[str]] = _at_spaces if writes_spaces(units) else _icu_splitter(tag)
    stripped = ((_WORD_EDGES.sub("", piece) for piece in split(unit)) for unit in units)
    return [[word for word in words if word] for words in stripped]


def _at_spaces(text: str) -> list[str]:
    return _WORD_SPACE.split(text)


def _icu_splitter(tag: str) -> Callable[[str], Iterable[str]]:
    if icu_version() is None:
        raise UnavailableError(
            "this script writes no spaces, so finding its words needs ICU: install icu4py, or compare tokens per "
            "grapheme, or the premium, which needs no words"
        )
    word_breaker: Any = importlib.import_module("icu4py.breakers").WordBreaker

    return lambda text: list(word_breaker(text, tag))


def whole_word_test(tokenizer: TokenizerLike, after_space: bool) -> Callable[[str], bool]:
    """Return a function that tells whether a word is one token, and remembers the answer.

    after_space     the word is encoded with a space before it, as it stands in running text
    """
    known: dict[str, bool] = {}
    missing = unknown_id(tokenizer)

    def is_whole(word: str) -> bool:
        if word not in known:
            ids = encode_marked(tokenizer, " " + word if after_space else word)
            if after_space and len(ids) == 2 and missing not in ids and tokenizer.token_bytes(ids[0]) == b" ":
                ids = ids[1:]  # the space is a token of its own, as with a split at white space
            known[word] = len(ids) == 1 and ids[0] != missing
        return known[word]

    return is_whole
