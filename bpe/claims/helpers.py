"""What the claims have in common: tokenizers, cut texts, the declaration of human rights, wording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bpe.claims.base import Cell, Row, Verdict
from bpe.errors import UnavailableError
from bpe.pretrained import load_pretrained, pretrained_names
from bpe.quirks import Integers, integers_under
from bpe.rank_tokenizer import RankTokenizer
from bpe.samples import load_udhr, udhr_languages
from bpe.tokenizer import TokenizerLike

__all__ = [
    "ENGLISH_SAMPLES",
    "GENERATIONS",
    "PROSE_AND_CODE",
    "count",
    "cut",
    "cut_rows",
    "declaration",
    "declaration_counts",
    "integers_of",
    "is_near",
    "language_name",
    "listed",
    "load",
    "load_ranks",
    "number",
    "other_scripts",
    "premium_of",
    "title_of",
    "verdict_of",
]

GENERATIONS = ("gpt2", "cl100k_base", "o200k_base")
"""Three generations of one publisher's tokenizers: GPT-2, GPT-4, GPT-4o."""


def load(name: str) -> TokenizerLike:
    """Return a real tokenizer, or say that this claim needs it.

    Raises:
        UnavailableError: it is not to be had here.
    """
    if name not in pretrained_names():
        raise UnavailableError(f"this needs the tokenizer {name}, which this version of the app does not know")
    return load_pretrained(name)


def load_ranks(name: str) -> RankTokenizer:
    """Return one of the byte-level tokenizers, whose tokens can be gone through."""
    tokenizer = load(name)
    assert isinstance(tokenizer, RankTokenizer), name
    return tokenizer


def verdict_of(cases: Iterable[bool]) -> Verdict:
    """Return true if every case holds, false if none does.

    >>> verdict_of([True, False])
    'depends'
    """
    held = list(cases)
    if all(held):
        return "true"
    return "depends" if any(held) else "false"


def cut(name: str, text: str) -> str:
    """Return the tokens of a text with bars between them; spaces as dots, part of a character as bytes.

    >>> cut("gpt2", "a strawberry")
    'a|·strawberry'
    """
    tokenizer = load(name)
    names = [tokenizer.token_bytes(token).decode("utf-8", "backslashreplace") for token in tokenizer.encode(text)]
    return "|".join(names).replace(" ", "·")


def count(name: str, text: str) -> int:
    """Return the number of tokens of a text."""
    return len(load(name).encode(text))


def title_of(name: str) -> str:
    """Return the name that people use for a tokenizer."""
    return {"gpt2": "GPT-2", "cl100k_base": "cl100k", "o200k_base": "o200k"}.get(name, name)


def cut_rows(names: Iterable[str], texts: Iterable[str]) -> tuple[Row, ...]:
    """Return one row for each text and tokenizer: the text, its tokens and their number."""
    names = list(names)
    return tuple(
        {
            "text": text.replace(" ", "·"),
            "tokenizer": title_of(name),
            "tokens": cut(name, text),
            "count": count(name, text),
        }
        for text in texts
        for name in names
    )


def number(row: Mapping[str, Cell], column: str) -> float:
    """Return a cell to calculate with."""
    return float(row[column])


def listed(parts: Sequence[str]) -> str:
    """Return parts as in a sentence.

    >>> listed(["6 in GPT-2", "7 in cl100k"])
    '6 in GPT-2 and 7 in cl100k'
    """
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else "none"


def is_near(value: float, said: float, tolerance: float = 0.1) -> bool:
    """Return whether a figure is what was said, give or take ten per cent."""
    return abs(value / said - 1) <= tolerance


@lru_cache(maxsize=8)
def integers_of(name: str) -> Integers:
    """Return the integers from 0 to 9,999 under a tokenizer."""
    return integers_under(load(name))


@lru_cache(maxsize=1)
def declaration() -> dict[str, str]:
    """Return the Universal Declaration of Human Rights by language code."""
    return {language.code: "\n".join(load_udhr(language.code)) for language in udhr_languages()}


@lru_cache(maxsize=16)
def declaration_counts(name: str) -> dict[str, int]:
    """Return the tokens of the declaration by language code."""
    tokenizer = load(name)
    return {code: len(tokenizer.encode(text)) for code, text in declaration().items()}


def premium_of(name: str, code: str) -> float:
    """Return tokens of the declaration in a language for one token of the English."""
    counts = declaration_counts(name)
    return counts[code] / counts["eng"]


def other_scripts() -> list[str]:
    """Return the codes of the languages that do not write Latin."""
    return [language.code for language in udhr_languages() if language.script != "Latn"]


def language_name(code: str) -> str:
    """Return the name of a language of the declaration."""
    return next(language.name for language in udhr_languages() if language.code == code)


ENGLISH_SAMPLES = {"udhr-eng": "Declaration of Human Rights", "kjv-genesis": "Genesis, King James"}
PROSE_AND_CODE = {**ENGLISH_SAMPLES, "python-source": "Python source"}
