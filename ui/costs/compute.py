"""Cached work of the page: a text under a tokenizer at every number of merges, and the languages of one text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe import TokenizerLike
from bpe.costs import UnitCosts, compare_units
from bpe.in_pieces import encode_marked, history_in_pieces
from bpe.samples import load_udhr, udhr_languages
from ui.jobs import Job, JobBoard
from ui.kept import kept

__all__ = ["Counted", "LanguageBytes", "count", "count_key", "countings", "language_bytes"]

_LANGUAGES = (
    "eng deu vie rus ell hye kat heb ara amh hin ben tam tel tha khm mya bod kor jpn cmn_hans".split()  # noqa: SIM905
)


@dataclass(frozen=True, eq=False)
class Counted:
    """A text under a tokenizer.

    num_bytes, num_chars, num_tokens   of the whole text
    curve   int64[num_merges + 1], its tokens after k merges; None for a tokenizer without merges
    units   the same text in bytes, characters, words and subwords
    """

    num_bytes: int
    num_chars: int
    num_tokens: int
    curve: NDArray[np.int64] | None
    units: tuple[UnitCosts, ...]


@st.cache_resource(show_spinner=False)
def countings() -> JobBoard[Counted]:
    """Return the board of finished counts, shared by all sessions."""
    return JobBoard(num_kept=24)


def count_key(tokenizer_key: str, text: str) -> str:
    """Return a digest of everything a count depends on."""
    return hashlib.sha256(f"{tokenizer_key}\0{text}".encode()).hexdigest()


def count(tokenizer: TokenizerLike, text: str, job: Job[Counted]) -> Counted:
    """Return the counts; this is the work of a job, which reads the text twice where there are merges.

    Raises:
        StoppedError: the reader asked to stop.
    """
    num_readings = 2 if tokenizer.num_merges else 1
    units = compare_units(text, tokenizer, progress=lambda done, asked: job.report(done, num_readings * asked))

    def in_second_reading(done: int, asked: int) -> bool:
        return job.report(asked + done, num_readings * asked)

    curve = None
    if tokenizer.num_merges:
        curve = history_in_pieces(tokenizer, text, progress=in_second_reading).num_tokens
    return Counted(len(text.encode()), len(text), units[-1].num_units, curve, units)


@dataclass(frozen=True)
class LanguageBytes:
    """The Universal Declaration of Human Rights in one language under a tokenizer."""

    name: str
    script: str
    num_bytes: int
    num_chars: int
    num_tokens: int

    @property
    def bytes_per_token(self) -> float:
        return self.num_bytes / self.num_tokens


@kept(num_kept=16, spinner="Counting languages")
def language_bytes(key: str, _tokenizer: TokenizerLike) -> tuple[LanguageBytes, ...]:
    """Return the declaration in some languages of different scripts, best compressed first."""
    languages = {language.code: language for language in udhr_languages()}
    rows = []
    for code in _LANGUAGES:
        text = "\n".join(load_udhr(code))
        num_tokens = len(encode_marked(_tokenizer, text))
        language = languages[code]
        rows.append(LanguageBytes(language.name, language.script, len(text.encode()), len(text), num_tokens))
    return tuple(sorted(rows, key=lambda row: -row.bytes_per_token))
