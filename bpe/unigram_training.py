"""Learning a Unigram vocabulary: begin with far too many substrings, take away those that are missed least.

Kudo (2018), "Subword Regularization", arXiv 1804.10959, section 3.2. It goes the other way round than trainer.py:
the seeds are substrings of the corpus; expectation maximization estimates their probabilities; those whose loss
would lower the likelihood least are removed; and so on until the vocabulary has its size.

Departures from SentencePiece's program, which itself departs from the paper:
- plain expectation maximization as in the paper, so the likelihood never falls (the program adds a prior);
- a token's loss uses its expected count (the program: its count in best segmentations).

Left out: how the vocabulary cuts a text (unigram.py).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.errors import CorpusError, SettingsError
from bpe.greedy import Trie
from bpe.normalizing import whole_characters
from bpe.pretokenize import check_counts, compile_split, count_pre_tokens
from bpe.settings import Base
from bpe.unigram import UnigramTokenizer, spell, unspell

__all__ = ["UnigramRound", "UnigramSettings", "UnigramTraining", "train_unigram"]

Stopped = Literal["vocab_size", "too_few_substrings", "cancelled"]
Progress = Callable[[int, int], bool | None]

_LONGEST_STRETCH = 1_000
"""Training looks at a longer pre-token in stretches of so many symbols: memory and time stay linear."""

_LEAST_COUNT = 1e-12
"""Expected counts below this are raised to it, so that no probability becomes 0."""


@dataclass(frozen=True)
class UnigramSettings:
    """What to train. Values are checked on construction.

    vocab_size        tokens at the end; at least the single characters of the corpus (base="bytes": 256)
    base              chars or bytes: what tokens are made of. Single ones are never removed.
    split             a name of `SPLIT_PATTERNS` or a regular expression; tokens never cross a pre-token
    max_token_length  symbols of the longest token
    seed_size         substrings to begin with: those with the highest count times length
    shrink            share of the tokens that a round keeps
    num_em_steps      steps of expectation maximization in a round

    Raises:
        SettingsError: a value is out of range.
    """

    vocab_size: int
    base: Base = "chars"
    split: str = "gpt2"
    max_token_length: int = 16
    seed_size: int = 100_000
    shrink: float = 0.75
    num_em_steps: int = 2

    def __post_init__(self) -> None:
        if self.base not in get_args(Base):
            raise SettingsError(f"base must be one of {', '.join(get_args(Base))}, but is {self.base!r}")
        limits = (
            ("vocab_size", 1, 10**7),
            ("max_token_length", 1, 64),
            ("seed_size", 1, 10**7),
            ("num_em_steps", 1, 100),
        )
        for name, least, most in limits:
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} must be from {least} to {most:,}, but is {value:,}")
        if not 0 < self.shrink < 1:
            raise SettingsError(f"shrink must be between 0 and 1, but is {self.shrink}")
        compile_split(self.split)


@dataclass(frozen=True, eq=False)
class UnigramRound:
    """A vocabulary on the way: estimated, then pruned.

    tokens           bytes of each token
    scores           float64[num_tokens], logarithms of the probabilities after the steps of this round
    expected_counts  float64[num_tokens], how often each is used, over all segmentations
    log_likelihoods  of the corpus, before each step: it never falls within a round
    losses           float64[num_tokens]: expected count times how much less its best other segmentation scores.
                     Infinite for single symbols, which have no other. Empty in the last round.
    removed          places of the tokens that pruning took away after this round, smallest loss first
    """

    tokens: tuple[bytes, ...]
    scores: NDArray[np.float64] = field(repr=False)
    expected_counts: NDArray[np.float64] = field(repr=False)
    log_likelihoods: tuple[float, ...]
    losses: NDArray[np.float64] = field(repr=False)
    removed: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class UnigramTraining:
    """The result of a training run.

    stopped         vocab_size; too_few_substrings (there are not so many that occur twice), or cancelled: then the
                    vocabulary is smaller, or larger, than was asked for
    rounds          the vocabulary in every round, the first one all seeds, the last one the result
    log_likelihood  of the corpus under the result, natural logarithm
    pre_tokens      distinct pre-tokens in corpus order, with counts
    """

    settings: UnigramSettings
    stopped: Stopped
    rounds: tuple[UnigramRound, ...] = field(repr=False)
    log_likelihood: float
    tokenizer: UnigramTokenizer
    pre_tokens: Mapping[str, int] = field(repr=False)

    def count_tokens(self, number: int) -> int:
        """Return the tokens of the corpus under the vocabulary of a round, every pre-token cut the likeliest way.

        Cost: linear in the distinct pre-tokens.

        Raises:
            SettingsError: there is no round of this number.
        """
        encode = self.tokenizer_at(number).encode_word
        return sum(len(encode(pre_token)) * count for pre_token, count in self.pre_tokens.items())

    def tokenizer_at(self, number: int) -> UnigramTokenizer:
        """Return the tokenizer with the vocabulary of a round.

        Raises:
            SettingsError: there is no round of this number.
        """
        if not 0 <= number < len(self.rounds):
            raise SettingsError(f"round must be from 0 to {len(self.rounds) - 1}, but is {number:,}")
        return _tokenizer(self.rounds[number].tokens, self.rounds[number].scores, self.settings)


def train_unigram(
    source: str | Mapping[str, int], settings: UnigramSettings, *, progress: Progress | None = None
) -> UnigramTraining:
    """Learn a Unigram vocabulary from a text, or from a table of pre-tokens and their counts.

    `progress(num_removed, num_to_remove)` is called every round; when it returns False, training stops and the
    vocabulary of that round is the result.

    Raises:
        SettingsError: vocab_size is smaller than the alphabet of the corpus.
        CorpusError: nothing to train on, an empty word, or a count that is not a positive integer.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> training = train_unigram(words, UnigramSettings(vocab_size=10))
    >>> [len(step.tokens) for step in training.rounds]
    [17, 12, 10]
    >>> [training.tokenizer.decode([token]) for token in training.tokenizer.encode("hugs")]
    ['hug', 's']
    """
    if isinstance(source, str):
        pre_tokens = count_pre_tokens(whole_characters(source), settings.split)
        if not pre_tokens:
            raise CorpusError("the text must hold at least one character, but is empty; give a text")
    else:
        pre_tokens = check_counts(source)
        if not pre_tokens:
            raise CorpusError("the table must hold at least one word, but is empty; give rows of word and count")
    stretches: dict[str, int] = defaultdict(int)
    for pre_token, count in pre_tokens.items():
        spelled = spell(pre_token.encode(), settings.base)
        for start in range(0, len(spelled), _LONGEST_STRETCH):
            stretches[spelled[start : start + _LONGEST_STRETCH]] += count
    seeds, num_single = _find_seeds(stretches, settings)
    if settings.vocab_size < num_single:
        raise SettingsError(
            f"vocab_size must be at least the {num_single:,} single {settings.base} of this corpus, "
            f"but is {settings.vocab_size:,}"
        )
    rounds, scores, log_likelihood, cancelled = _estimate_and_prune(stretches, seeds, settings, progress)
    stopped: Stopped = "vocab_size" if len(seeds) >= settings.vocab_size else "too_few_substrings"
    return UnigramTraining(
        settings=settings,
        stopped="cancelled" if cancelled else stopped,
        rounds=tuple(rounds),
        log_likelihood=log_likelihood,
        tokenizer=_tokenizer(rounds[-1].tokens, scores, settings),
        pre_tokens=pre_tokens,
    )


def _estimate_and_prune(
    stretches: Mapping[str, int], seeds: Mapping[str, int], settings: UnigramSettings, progress: Progress | None
) -> tuple[list[UnigramRound], NDArray[np.float64], float, bool]:
    """Return the rounds, the scores and log likelihood at the end, and whether it was cancelled.

    The lattices are built once, with the seeds; a round only takes arcs away.
    """
    tokens = list(seeds)
    trie = Trie((token, i) for i, token in enumerate(tokens))
    corpus = _Lattices.of(list(stretches), trie)
    weights = np.fromiter(stretches.values(), dtype=np.float64, count=len(stretches))
    others = _Lattices.of(tokens, trie, without_whole=True)  # all other ways to cut each token
    names = [unspell(token, settings.base) for token in tokens]
    place = np.arange(len(tokens))  # of each token that is left, among the seeds
    scores = _log_shares(np.fromiter(seeds.values(), dtype=np.float64, count=len(seeds)))
    to_remove = max(len(tokens) - settings.vocab_size, 0)
    rounds: list[UnigramRound] = []

    while True:
        log_likelihoods = []
        for _ in range(settings.num_em_steps):
            log_likelihood, expected = corpus.expect(scores, weights)
            log_likelihoods.append(log_likelihood)
            scores = _log_shares(expected)
        num_left = len(place)
        cancelled = False
        if num_left > settings.vocab_size and progress is not None:
            cancelled = progress(len(tokens) - num_left, to_remove) is False
        is_last = cancelled or num_left <= settings.vocab_size
        losses, removed = np.zeros(0), np.zeros(0, dtype=np.int64)
        if not is_last:
            losses = _losses(expected, scores, others.best(scores)[place])
            num_kept = max(settings.vocab_size, int(num_left * settings.shrink))
            removed = np.argsort(losses, kind="stable")[: num_left - num_kept]
        left = tuple(names[i] for i in place.tolist())
        rounds.append(UnigramRound(left, scores, expected, tuple(log_likelihoods), losses, removed))
        if is_last:
            return rounds, scores, corpus.expect(scores, weights)[0], cancelled

        kept = np.ones(num_left, dtype=np.bool_)
        kept[removed] = False
        corpus.keep(kept)
        others.keep(kept)
        place = place[kept]
        scores = scores[kept] - np.logaddexp.reduce(scores[kept])


def _losses(
    expected: NDArray[np.float64], scores: NDArray[np.float64], other_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each token is worth: its expected count times the lead over its best other segmentation."""
    losses = np.full(len(scores), inf)
    several = np.isfinite(other_scores)
    losses[several] = expected[several] * (scores[several] - other_scores[several])
    return losses


def _tokenizer(tokens: Sequence[bytes], scores: NDArray[np.float64], settings: UnigramSettings) -> UnigramTokenizer:
    """Return a tokenizer whose ids are in order of falling probability."""
    ranked = sorted(zip(tokens, scores.tolist(), strict=True), key=lambda entry: (-entry[1], entry[0]))
    names, ordered = zip(*ranked, strict=True)
    return UnigramTokenizer(names, ordered, settings.base, settings.split)


def _log_shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.maximum(weights, _LEAST_COUNT)
    shares: NDArray[np.float64] = np.log(weights) - np.log(weights.sum())
    return shares


def _find_seeds(stretches: Mapping[str, int], settings: UnigramSettings) -> tuple[dict[str, int], int]:
    """Return substrings with count times length, highest first, and how many of them are single symbols.

    A substring must occur twice. It is left out when one more symbol to the right takes none of its occurrences
    away: where it stands, the longer one stands too. A suffix tree has exactly those that stay as its inner
    nodes, which is how SentencePiece finds them. Here lengths are counted one after the other, and only
    places where the shorter substring occurs twice are looked at again.
    """
    single = {chr(byte): 0 for byte in range(256)} if settings.base == "bytes" else {}
    for text, count in stretches.items():
        for symbol in text:
            single[symbol] = single.get(symbol, 0) + count

    found: dict[str, int] = {}
    shorter: dict[str, int] = {}
    places = [(text, count, start) for text, count in stretches.items() for start in range(len(text))]
    for length in range(2, settings.max_token_length + 1):
        longer: dict[str, int] = defaultdict(int)
        places = [entry for entry in places if entry[2] + length <= len(entry[0])]
        for text, count, start in places:
            longer[text[start : start + length]] += count
        for token, count in longer.items():
            if shorter.get(token[:-1]) == count:
                found.pop(token[:-1], None)
        longer = {token: count for token, count in longer.items() if count >= 2}
        found.update(longer)
        places = [entry for entry in places if entry[0][entry[2] : entry[2] + length] in longer]
        shorter = longer
    ranked = sorted(
        ((count * len(token), token) for token, count in found.items()), key=lambda seed: (-seed[0], seed[1])
    )
    room = max(settings.seed_size, settings.vocab_size) - len(single)
    seeds = sorted([(count, token) for token, count in single.items()], key=lambda seed: (-seed[0], seed[1]))
    return {token: weight for weight, token in [*seeds, *ranked[: max(room, 0)]]}, len(single)


class _Lattices:
    """The lattices of many texts, as arrays: one pass over all of them is a few numpy calls for each offset.

    The nodes of all texts are numbered one text after the other. Arcs are kept twice: ordered by where they end,
    for sums from the left, and by where they start, for sums from the right.
    """

    def __init__(self, first: NDArray[np.int64], last: NDArray[np.int64], arcs: tuple[NDArray[np.int32], ...]) -> None:
        self._first = first  # node at which each text begins
        self._last = last
        self._text_of_node = np.repeat(np.arange(len(first)), last - first + 1)
        start, end, token = arcs
        offset = end - first[self._text_of_node[end]]
        self._forward = _Sweep(start, end, token, offset)
        self._backward = _Sweep(end, start, token, start - last[self._text_of_node[start]], leftwards=True)

    @classmethod
    def of(cls, texts: Sequence[str], trie: Trie, *, without_whole: bool = False) -> _Lattices:
        """Return the lattices of some texts; without the arc over the whole text, if that is asked for."""
        starts, ends, tokens = array("i"), array("i"), array("i")
        first: list[int] = []
        node = 0
        for text in texts:
            first.append(node)
            for start in range(len(text)):
                for end, token in trie.matches(text, start):
                    if without_whole and start == 0 and end == len(text):
                        continue
                    starts.append(node + start)
                    ends.append(node + end)
                    tokens.append(token)
            node += len(text) + 1
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        at = np.array(first, dtype=np.int64)
        arcs = tuple(np.array(column, dtype=np.int32) for column in (starts, ends, tokens))
        return cls(at, at + lengths, arcs)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget the arcs of tokens that are not kept, and number those that are anew."""
        self._forward.keep(kept)
        self._backward.keep(kept)

    def expect(self, scores: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the log likelihood of the texts, and the expected count of every token (the E step).

        `weights` says how often each text counts.
        """
        ahead = self._backward.run(scores, self._last, np.logaddexp)
        behind = self._forward.run(scores, self._first, np.logaddexp)
        totals = behind[self._last]
        sweep = self._forward
        text = self._text_of_node[sweep.source]
        shares = np.exp(behind[sweep.source] + scores[sweep.token] + ahead[sweep.target] - totals[text])
        expected = np.bincount(sweep.token, weights=shares * weights[text], minlength=len(scores))
        return float(weights @ totals), expected.astype(np.float64, copy=False)

    def best(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of the best segmentation of every text; minus infinity where there is none."""
        return self._forward.run(scores, self._first, np.maximum)[self._last]


class _Sweep:
    """Arcs in the order in which a sum over paths needs them, from one end of every text to the other.

    Arcs whose targets are equally far from the beginning form a level: their sources lie in levels before. Within
    a level, arcs with the same target are neighbours (a group).
    """

    def __init__(
        self,
        source: NDArray[Any],
        target: NDArray[Any],
        token: NDArray[Any],
        offset: NDArray[Any],
        *,
        leftwards: bool = False,
    ) -> None:
        """`offset` is where the target lies in its text; leftwards, texts are run through from the end."""
        level = -offset if leftwards else offset
        order = np.lexsort((target, level))
        self.source, self.target, self.token, self._level = source[order], target[order], token[order], level[order]
        self._find_groups()

    def keep(self, kept: NDArray[np.bool_]) -> None:
        number = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        stays = kept[self.token]
        self.source, self.target, self._level = self.source[stays], self.target[stays], self._level[stays]
        self.token = number[self.token[stays]]
        self._find_groups()

    def _find_groups(self) -> None:
        begins = np.ones(len(self.target), dtype=np.bool_)
        begins[1:] = self.target[1:] != self.target[:-1]
        self._groups = np.flatnonzero(begins)
        levels = self._level[self._groups]
        bounds = np.concatenate(([0], np.flatnonzero(levels[1:] != levels[:-1]) + 1, [len(levels)]))
        self._bounds = bounds.tolist() if len(levels) else [0]

    def run(self, scores: NDArray[np.float64], roots: NDArray[np.int64], add: np.ufunc) -> NDArray[np.float64]:
        """Return, for every node, `add` over all paths from the roots to it."""
        num_nodes = int(max(roots.max(), self.source.max(initial=0), self.target.max(initial=0))) + 1
        sums = np.full(num_nodes, -inf)
        sums[roots] = 0.0
        weights = scores[self.token]
        for low, high in pairwise(self._bounds):
            groups = self._groups[low:high]
            end = self._groups[high] if high < len(self._groups) else len(self.target)
            span = slice(groups[0], end)
            arriving = sums[self.source[span]] + weights[span]
            sums[self.target[groups]] = add.reduceat(arriving, groups - groups[0])
        return sums
