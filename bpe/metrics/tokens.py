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
from bpe.tokenizer import UNKNOWN_ID, Tokenizer, TokenizerLike, count_words
from bpe.unigram import UnigramTokenizer

__all__ = ["TokenCounts", "count_tokens", "encode_marked", "unknown_id"]


class TokenCounts(NamedTuple):
    """int64[num_units] each: tokens, and how many of them stand for something unknown."""

    num_tokens: NDArray[np.int64]
    num_unknown: NDArray[np.int64]


def count_tokens(tokenizer: TokenizerLike, units: Sequence[str]) -> TokenCounts:
    """Return the number of tokens of each unit; each unit is encoded by itself.

    >>> count_tokens(Tokenizer(), ["ab", "é"]).num_tokens.tolist()
    [2, 2]
    """
    if isinstance(tokenizer, Tokenizer):
        return _count_trained(tokenizer, units)
    missing = unknown_id(tokenizer)
    num_tokens, num_unknown = np.zeros((2, len(units)), dtype=np.int64)
    for number, unit in enumerate(units):
        ids = encode_marked(tokenizer, unit)
        num_tokens[number] = len(ids)
        num_unknown[number] = ids.count(missing)
    return TokenCounts(num_tokens, num_unknown)


def _count_trained(tokenizer: Tokenizer, units: Sequence[str]) -> TokenCounts:
    """Count with a memory of pre-tokens that lasts over all units; `encode` remembers within one text only."""
    known: dict[str, tuple[int, int]] = {}
    num_base = len(tokenizer.base_symbols)
    num_tokens, num_unknown = np.zeros((2, len(units)), dtype=np.int64)
    for number, unit in enumerate(units):
        for word, num_times in count_words(unit, tokenizer.split, tokenizer.end_of_word).items():
            if word not in known:
                ids = encode(tokenizer.symbols(word), tokenizer.ranks, num_base)[0]
                known[word] = len(ids), list(ids).count(UNKNOWN_ID)
            num_tokens[number] += num_times * known[word][0]
            num_unknown[number] += num_times * known[word][1]
    return TokenCounts(num_tokens, num_unknown)


def encode_marked(tokenizer: TokenizerLike, text: str) -> list[int]:
    """Return the token ids of a text; what the tokenizer does not know is marked, never an error."""
    if isinstance(tokenizer, Tokenizer | UnigramTokenizer):
        return tokenizer.encode(text, unknown="mark")
    return tokenizer.encode(text)


def unknown_id(tokenizer: TokenizerLike) -> int:
    """Return the id that stands for what the tokenizer does not know: of its own token for that, else UNKNOWN_ID.

    >>> unknown_id(Tokenizer())
    -1
    """
    return UNKNOWN_ID if tokenizer.unknown_id is None else tokenizer.unknown_id
