"""Counting the tokens of aligned units, and those among them that stand for something unknown.

A tokenizer of characters or of word pieces gives one unknown token for whatever it never saw, and one token is
cheap: a language that it cannot read at all would seem the cheapest. So the unknown ones are always counted too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.encoder import encode
from bpe.errors import StoppedError
from bpe.in_pieces import Progress, encode_marked
from bpe.rank_tokenizer import RankTokenizer
from bpe.tokenizer import UNKNOWN_ID, Tokenizer, TokenizerLike, count_words

__all__ = ["TokenCounts", "count_tokens", "unknown_id"]


_UNITS_A_REPORT = 100


class TokenCounts(NamedTuple):
    """int64[num_units] each: tokens, and how many of them stand for something unknown."""

    num_tokens: NDArray[np.int64]
    num_unknown: NDArray[np.int64]


def count_tokens(tokenizer: TokenizerLike, units: Sequence[str], *, progress: Progress | None = None) -> TokenCounts:
    """Return the number of tokens of each unit; each unit is encoded by itself.

    Raises:
        StoppedError: the progress function, called with (units done, units in all), said so.

    >>> count_tokens(Tokenizer(), ["ab", "é"]).num_tokens.tolist()
    [2, 2]
    """
    if isinstance(tokenizer, Tokenizer):
        return _count_trained(tokenizer, units, progress)
    missing = unknown_id(tokenizer)
    num_tokens, num_unknown = np.zeros((2, len(units)), dtype=np.int64)
    encoded = (
        tokenizer.encode_each(units)
        if isinstance(tokenizer, RankTokenizer)
        else (encode_marked(tokenizer, unit) for unit in units)
    )
    for number, ids in enumerate(encoded):
        _report(progress, number, len(units))
        num_tokens[number] = len(ids)
        num_unknown[number] = ids.count(missing)
    return TokenCounts(num_tokens, num_unknown)


def _report(progress: Progress | None, done: int, asked: int) -> None:
    if progress is not None and done % _UNITS_A_REPORT == 0 and not progress(done, asked):
        raise StoppedError("the counting was stopped before it was done: start it again")


def _count_trained(tokenizer: Tokenizer, units: Sequence[str], progress: Progress | None) -> TokenCounts:
    """Count with a memory of pre-tokens that lasts over all units; `encode` remembers within one text only."""
    known: dict[str, tuple[int, int]] = {}
    num_base = len(tokenizer.base_symbols)
    num_tokens, num_unknown = np.zeros((2, len(units)), dtype=np.int64)
    for number, unit in enumerate(units):
        _report(progress, number, len(units))
        for word, num_times in count_words(unit, tokenizer.split, tokenizer.end_of_word).items():
            if word not in known:
                ids = encode(tokenizer.symbols(word), tokenizer.ranks, num_base)[0]
                known[word] = len(ids), list(ids).count(UNKNOWN_ID)
            num_tokens[number] += num_times * known[word][0]
            num_unknown[number] += num_times * known[word][1]
    return TokenCounts(num_tokens, num_unknown)


def unknown_id(tokenizer: TokenizerLike) -> int:
    """Return the id that stands for what the tokenizer does not know: of its own token for that, else UNKNOWN_ID.

    >>> unknown_id(Tokenizer())
    -1
    """
    return UNKNOWN_ID if tokenizer.unknown_id is None else tokenizer.unknown_id
