"""A training on a small table of words, step by step: every pair with its numbers, and every word as it is cut.

The trainers keep what is needed to go on; a textbook shows what there was to choose from. Here each step of a
byte-pair encoding or WordPiece training is laid out whole: all pairs with count and score, which of them tied, which
one was chosen; and each round of a Unigram training: all tokens with probability and loss, and which ones go.

`count` is what byte-pair encoding looks at, `score` = count(u v) / (count(u) count(v)) what WordPiece looks at. Both
are given for both, so that it can be seen where the two would part. Left out: how the steps are found (trainer.py,
wordpiece_training.py, unigram_training.py). Cost: exact arithmetic for every pair, so this is for small tables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, inf
from typing import NamedTuple

from bpe.errors import SettingsError
from bpe.lifetimes import NEVER
from bpe.training import Training
from bpe.unigram_training import UnigramTraining
from bpe.wordpiece_training import WordPieceTraining

__all__ = ["BenchRound", "BenchStep", "PairRow", "TokenRow", "WordCut", "lay_out_round", "lay_out_step"]


class PairRow(NamedTuple):
    """Two symbols that stand next to each other, and their numbers over the whole table."""

    left: bytes
    right: bytes
    """The symbols as written: with `##` where a WordPiece symbol continues a word, the end mark written out."""
    pair_count: int
    left_count: int
    right_count: int

    @property
    def score(self) -> Fraction:
        """WordPiece's score, exact."""
        return Fraction(self.pair_count, self.left_count * self.right_count)


class WordCut(NamedTuple):
    """A word of the table, how often it counts, and the symbols that it is cut into."""

    word: str
    num_times: int
    symbols: tuple[bytes, ...]
    merging: tuple[int, ...]
    """Places of the symbols that begin a pair which is merged in this step."""


@dataclass(frozen=True)
class BenchStep:
    """The table after `step` merges, before the next one.

    pairs       all pairs, the one that is merged next first; after the last merge, the one that would be
    num_tied    pairs that share the highest number, at least 1 where there are pairs
    num_tokens  symbols of the whole table, each word as often as it counts
    is_last     whether no merge follows
    """

    step: int
    pairs: tuple[PairRow, ...]
    num_tied: int
    words: tuple[WordCut, ...]
    num_tokens: int
    is_last: bool


def lay_out_step(training: Training | WordPieceTraining, step: int) -> BenchStep:
    """Return what there was to choose from after so many merges, 0 to num_merges.

    >>> from bpe import TrainSettings, train
    >>> words = {"hug": 10, "pug": 5, "hugs": 5}
    >>> bench = lay_out_step(train(words, TrainSettings(base="chars", num_merges=3)), 1)
    >>> [(pair.left, pair.right, pair.pair_count, str(pair.score)) for pair in bench.pairs]
    [(b'h', b'ug', 15, '1/20'), (b'p', b'ug', 5, '1/20'), (b'ug', b's', 5, '1/20')]
    >>> [b"|".join(cut.symbols) for cut in bench.words]
    [b'h|ug', b'p|ug', b'h|ug|s']
    """
    words = _words_at(training, step)
    weights = list(training.pre_tokens.values())
    counts: Counter[int] = Counter()
    for symbols, weight in zip(words, weights, strict=True):
        for symbol in symbols:
            counts[symbol] += weight
    ranked, num_tied = _ranked_pairs(training, step)
    name = training.tokenizer.token_bytes
    pairs = tuple(PairRow(name(left), name(right), count, counts[left], counts[right]) for left, right, count in ranked)
    is_last = step >= training.num_merges
    chosen = None if is_last else ranked[0][:2]
    cuts = tuple(
        WordCut(word, weight, tuple(map(name, symbols)), _places_of(chosen, symbols))
        for (word, weight), symbols in zip(training.pre_tokens.items(), words, strict=True)
    )
    return BenchStep(step, pairs, num_tied, cuts, counts.total(), is_last)


def _words_at(training: Training | WordPieceTraining, step: int) -> list[list[int]]:
    """Return the symbols of every word: between two boundaries that are left, the youngest merge made the symbol."""
    words: list[list[int]] = []
    for start, end in pairwise(training.starts.tolist()):
        symbols: list[int] = []
        for base, lifetime in zip(
            training.symbols[start:end].tolist(), [NEVER, *training.lifetimes[start + 1 : end].tolist()], strict=True
        ):
            if lifetime >= step:
                symbols.append(base)
            else:
                symbols[-1] = max(symbols[-1], training.num_base + lifetime)
        words.append(symbols)
    return words


def _ranked_pairs(training: Training | WordPieceTraining, step: int) -> tuple[list[tuple[int, int, int]], int]:
    """Return (left, right, count) of all pairs as the training ranks them, and how many share the first place."""
    if isinstance(training, WordPieceTraining):
        scored = training.contest(step)
        return [(pair.left, pair.right, pair.pair_count) for pair in scored.candidates], scored.num_tied
    counted = training.contest(step, num_shown=len(training.symbols))
    columns = (counted.left.tolist(), counted.right.tolist(), counted.count.tolist())
    return list(zip(*columns, strict=True)), counted.num_tied


def _places_of(pair: tuple[int, int] | None, symbols: list[int]) -> tuple[int, ...]:
    """Return where a pair is merged: from the left, without overlap."""
    places: list[int] = []
    for place, found in enumerate(pairwise(symbols)):
        if found == pair and (not places or places[-1] < place - 1):
            places.append(place)
    return tuple(places)


# ---------------------------------------------------------------------- Unigram


class TokenRow(NamedTuple):
    """A token of a Unigram vocabulary in one round."""

    token: bytes
    expected_count: float
    """How often it is used over the table, all segmentations weighted by their probability."""
    probability: float
    other: tuple[bytes, ...]
    """The best way to cut its text without it; empty where there is none: single symbols stay."""
    loss: float
    """Expected count times the lead over that way, in log probability; infinite where there is none."""
    goes: bool
    """Whether pruning takes it away after this round."""


@dataclass(frozen=True)
class BenchRound:
    """One round of a Unigram training.

    tokens           those that go first, then by falling probability
    log_likelihoods  of the table before each step of expectation maximization, natural logarithms
    words            the likeliest way to cut each word; `merging` is empty, nothing is merged
    num_tokens       tokens of the whole table, cut that way
    """

    number: int
    tokens: tuple[TokenRow, ...]
    log_likelihoods: tuple[float, ...]
    words: tuple[WordCut, ...]
    num_tokens: int
    is_last: bool


def lay_out_round(training: UnigramTraining, number: int) -> BenchRound:
    """Return the vocabulary of a round, and the words cut by it.

    Raises:
        SettingsError: there is no round of this number, or tokens are made of bytes, which a bench cannot write.

    >>> from bpe import UnigramSettings, train_unigram
    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> first = lay_out_round(train_unigram(words, UnigramSettings(vocab_size=10)), 0)
    >>> row = first.tokens[0]
    >>> row.token, row.other, row.goes
    (b'gs', (b'g', b's'), True)
    """
    if training.settings.base != "chars":
        raise SettingsError(
            "a bench must be of tokens made of characters, but these are made of bytes; use base='chars'"
        )
    tokenizer = training.tokenizer_at(number)
    of_round = training.rounds[number]
    is_last = number == len(training.rounds) - 1
    losses = of_round.losses.tolist() if len(of_round.losses) else [inf] * len(of_round.tokens)
    gone = set(of_round.removed.tolist())
    name = tokenizer.token_bytes
    rows = []
    for place, token in enumerate(of_round.tokens):
        ways = [] if len(token.decode()) == 1 else tokenizer.n_best(token.decode(), 2)
        other = next((way.ids for way in ways if len(way.ids) > 1), ())
        rows.append(
            TokenRow(
                token=token,
                expected_count=float(of_round.expected_counts[place]),
                probability=exp(of_round.scores[place]),
                other=tuple(map(name, other)),
                loss=losses[place],
                goes=place in gone,
            )
        )
    rows.sort(key=lambda row: (not row.goes, row.loss if row.goes else 0, -row.probability, row.token))
    cuts = tuple(
        WordCut(word, count, tuple(map(name, tokenizer.encode(word, unknown="mark"))), ())
        for word, count in training.pre_tokens.items()
    )
    num_tokens = sum(cut.num_times * len(cut.symbols) for cut in cuts)
    return BenchRound(number, tuple(rows), of_round.log_likelihoods, cuts, num_tokens, is_last)
