"""Cached work of the page: a vocabulary as columns, searches in it, what the list draws, and the long analysis.

Keys are names and digests of tokenizers; the objects they stand for begin with an underscore and are not hashed.
"""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe import TokenizerLike
from bpe.reachability import Progress, Reachability, find_context, find_unproduced
from bpe.vocabulary import TokenFilter, Vocabulary, find_tokens, list_vocabulary
from ui.jobs import JobBoard
from ui.kept import kept
from ui.vocabulary.listing import build_listing

__all__ = [
    "analyse",
    "analyses",
    "context_of",
    "default_token",
    "listing_of",
    "rows_of",
    "vocabulary_of",
]

_EXAMPLES = (" SolidGoldMagikarp", " strawberry")


@kept(num_kept=4, spinner="Listing the tokens")
def vocabulary_of(key: str, _tokenizer: TokenizerLike) -> Vocabulary:
    """Return the vocabulary of the tokenizer that `key` stands for. Large: some 30 MB for 200,000 tokens."""
    return list_vocabulary(_tokenizer)


@kept(num_kept=48)
def rows_of(key: str, wanted: TokenFilter, _vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the rows that a filter finds."""
    return find_tokens(_vocabulary, wanted)


@kept(num_kept=12)
def listing_of(
    key: str,
    wanted: TokenFilter,
    is_analysed: bool,
    _vocabulary: Vocabulary,
    _rows: NDArray[np.int64],
    _found: Reachability | None,
) -> bytes:
    """Return what the list draws for a filter; `is_analysed` stands for `_found`."""
    return build_listing(_vocabulary, _rows, _found.reasons if _found is not None else None)


@st.cache_resource(show_spinner=False)
def analyses() -> JobBoard[Reachability]:
    """Return the board of finished analyses of reachability, shared by all sessions."""
    return JobBoard(num_kept=16)


@kept(num_kept=500)
def context_of(key: str, token: int, _tokenizer: TokenizerLike) -> str | None:
    """Return a text in whose encoding the token occurs, or None."""
    return find_context(_tokenizer, token)


def default_token(vocabulary: Vocabulary) -> int:
    """Return the token that the page opens on: a famous one, else the longest that is all characters."""
    for text in _EXAMPLES:
        if text in vocabulary.texts:
            return int(vocabulary.ids[vocabulary.texts.index(text)])
    if not len(vocabulary):
        return 0
    lengths = np.where([bool(text.strip()) for text in vocabulary.texts], vocabulary.num_bytes, 0)
    return int(vocabulary.ids[np.argmax(lengths)])


def analyse(tokenizer: TokenizerLike, vocabulary: Vocabulary, progress: Progress) -> Reachability:
    """Return what becomes of each token's own text; this is the work of a job."""
    return find_unproduced(tokenizer, vocabulary, progress)
