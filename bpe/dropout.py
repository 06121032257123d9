"""BPE-dropout: the same merges, but at every step each is left out with probability p.

Provilkov et al. (2020), "BPE-Dropout: Simple and Effective Subword Regularization", arXiv 1910.13267,
algorithm 1. A model trained on such segmentations sees a word cut in several ways. With p = 0 it is
ordinary encoding, with p = 1 the base symbols stay as they are.

What the paper leaves open: a merge here is one occurrence of a pair, so two occurrences are dropped
independently, and one occurrence is merged at a time, the leftmost of the lowest merge rank that was not
dropped. Left out: training. Its neighbour with probabilities instead of drops is unigram.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from random import Random
from typing import NamedTuple

from bpe.errors import SettingsError
from bpe.normalizing import whole_characters
from bpe.pretokenize import split
from bpe.tokenizer import UNKNOWN_ID, Tokenizer

__all__ = ["Spread", "count_dropout", "drop_merges", "dropout_reference", "encode_dropout"]

Pair = tuple[int, int]


def encode_dropout(tokenizer: Tokenizer, text: str, p: float, *, seed: int = 0) -> list[int]:
    """Return token ids of a text with merges dropped; the same seed gives the same ids.

    Every occurrence of a pre-token is cut anew.

    Raises:
        SettingsError: p is not from 0 to 1.
        UnknownSymbolError: a character that a character tokenizer never saw.

    >>> from bpe import TrainSettings, train
    >>> tokenizer = train("low lower lowest " * 3, TrainSettings(num_merges=9)).tokenizer
    >>> [tokenizer.decode([token]) for token in encode_dropout(tokenizer, "lowest", 0.2, seed=3)]
    ['low', 'e', 's', 't']
    """
    _check_probability(p)
    random = Random(seed)
    ids: list[int] = []
    for symbols in _words(tokenizer, text):
        ids += drop_merges(symbols, tokenizer.ranks, len(tokenizer.base_symbols), p, random)
    return ids


class Spread(NamedTuple):
    """One way in which a text was cut, and how often."""

    ids: tuple[int, ...]
    num_times: int


def count_dropout(tokenizer: Tokenizer, text: str, p: float, *, num_samples: int = 1000, seed: int = 0) -> list[Spread]:
    """Cut a text so often and return the distinct results with their counts, most frequent first.

    Equal counts are in order of token ids. The counts add up to `num_samples`.

    Raises:
        SettingsError: p is not from 0 to 1, or `num_samples` is below 1.
        UnknownSymbolError: a character that a character tokenizer never saw.

    >>> from bpe import TrainSettings, train
    >>> tokenizer = train("low lower lowest " * 3, TrainSettings(num_merges=9)).tokenizer
    >>> spread = count_dropout(tokenizer, "low", 0.5, num_samples=100)
    >>> [([tokenizer.decode([token]) for token in way.ids], way.num_times) for way in spread]
    [(['l', 'o', 'w'], 41), (['low'], 32), (['lo', 'w'], 27)]
    """
    _check_probability(p)
    if num_samples < 1:
        raise SettingsError(f"num_samples must be at least 1, but is {num_samples:,}")
    random = Random(seed)
    words = _words(tokenizer, text)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(num_samples):
        ids: list[int] = []
        for symbols in words:
            ids += drop_merges(symbols, tokenizer.ranks, len(tokenizer.base_symbols), p, random)
        counts[tuple(ids)] += 1
    return sorted(
        (Spread(ids, num_times) for ids, num_times in counts.items()), key=lambda way: (-way.num_times, way.ids)
    )


def dropout_reference(
    symbols: Sequence[int], ranks: Mapping[Pair, int], first_token: int, p: float, random: Random
) -> list[int]:
    """Return the token ids of one pre-token by algorithm 1 of the paper. The readable twin of `drop_merges`.

    The paper draws for every possible merge and then takes the first that is left. Here the draws are made in
    order, and stop at the first merge that is left: the others would change nothing.

    >>> dropout_reference([0, 1, 0, 1], {(0, 1): 0, (2, 2): 1}, 2, 0.0, Random(0))
    [3]
    """
    symbols = list(symbols)
    while True:
        possible = sorted((ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks)
        kept = next(((rank, i) for rank, i in possible if random.random() >= p), None)
        if kept is None:
            return symbols
        rank, i = kept
        symbols[i : i + 2] = [first_token + rank]


def drop_merges(
    symbols: Sequence[int], ranks: Mapping[Pair, int], first_token: int, p: float, random: Random
) -> list[int]:
    """Return the token ids of one pre-token, each possible merge dropped with probability p at every step.

    `ranks` maps a pair of token ids to its merge rank; the merge of rank r makes the token `first_token + r`.

    The candidates are in a heap, lowest rank and then leftmost first, as in encoder.py. Those that are dropped
    on the way to the one that is kept go back for the next step. Cost: n log n / (1 - p) for n symbols, for
    p = 1 one look at each: a word of a million characters is no special case.

    >>> drop_merges([0, 1, 0, 1], {(0, 1): 0, (2, 2): 1}, 2, 0.0, Random(0))
    [3]
    """
    n = len(symbols)
    if n < 2 or p == 1:
        return list(symbols)
    symbol = list(symbols)
    after = list(range(1, n + 1))
    before = list(range(-1, n - 1))
    rank_at = [ranks.get(pair, -1) for pair in pairwise(symbol)]  # of the pair that begins here, or -1
    rank_at.append(-1)
    heap = [rank * n + i for i, rank in enumerate(rank_at) if rank >= 0]
    heapify(heap)

    def look_again(i: int) -> None:
        """Find the pair that now begins at i."""
        j = after[i]
        rank = ranks.get((symbol[i], symbol[j]), -1) if j < n else -1
        rank_at[i] = rank
        if rank >= 0:
            heappush(heap, rank * n + i)

    dropped: list[int] = []
    while heap:
        entry = heappop(heap)
        rank, i = divmod(entry, n)
        if rank_at[i] != rank:
            continue  # merged away since it was listed
        if random.random() < p:
            dropped.append(entry)
            continue
        j = after[i]
        symbol[i] = first_token + rank
        rank_at[j] = -1
        after[i] = after[j]
        if after[i] < n:
            before[after[i]] = i
        for back in dropped:
            heappush(heap, back)
        dropped.clear()
        look_again(i)
        if before[i] >= 0:
            look_again(before[i])

    tokens: list[int] = []
    i = 0
    while i < n:
        tokens.append(symbol[i])
        i = after[i]
    return tokens


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:  # also refuses NaN
        raise SettingsError(f"p must be a probability from 0 to 1, but is {p}; 0 keeps every merge, 1 drops them all")


def _words(tokenizer: Tokenizer, text: str) -> list[list[int]]:
    """Return the base ids of the pre-tokens of a text, in order."""
    pieces = split(whole_characters(text), tokenizer.split)
    if tokenizer.end_of_word != "none":
        pieces = [word for piece in pieces if (word := piece.strip())]
    words = [tokenizer.symbols(piece) for piece in pieces]
    if any(UNKNOWN_ID in word for word in words):
        tokenizer.encode(text)  # raises UnknownSymbolError, which names the characters
    return words
