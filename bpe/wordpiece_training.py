"""Learning a WordPiece vocabulary: merges chosen by score instead of count.

Schuster and Nakajima (2012), "Japanese and Korean Voice Search"; Wu et al. (2016), arXiv 1609.08144. Training merges
the pair with the highest

    score(u, v) = count(u v) / (count(u) count(v)),

which is how much likelier the pair is than two independent symbols: merging it raises the likelihood of the
corpus most. Google never published its trainer; this is the rule as the literature describes it.

What is different from byte-pair encoding (trainer.py): counts in the denominator fall, so the score of a pair can
rise without being touched. No lazy heap is exact then: `train_wordpiece` keeps the counts up to date and scans all
pairs at each step, in numpy.
A vocabulary of texts needs every token to be made by one merge only, and it is: until a stretch of text
becomes a token, all merges lie inside it, so wherever the stretch stands they are the same ones.

Left out: how the vocabulary is used, which takes no notice of the merges (wordpiece.py). Read unigram_training.py for
the trainer that goes the other way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.encoder import merge_pair
from bpe.errors import CorpusError, SettingsError
from bpe.lifetimes import NEVER, cut
from bpe.normalizing import whole_characters
from bpe.pretokenize import check_counts, compile_split
from bpe.settings import Descending, TieBreak
from bpe.wordpiece import BERT_SPLIT, UNKNOWN, WordPiece, WordPieceTokenizer, split_words

__all__ = [
    "Candidate",
    "WordPieceContest",
    "WordPieceMerge",
    "WordPieceSettings",
    "WordPieceTraining",
    "train_wordpiece",
    "train_wordpiece_reference",
]

Stopped = Literal["num_merges", "vocab_size", "min_pair_count", "no_pairs", "cancelled"]
Progress = Callable[[int, int], bool | None]
Pair = tuple[int, int]


@dataclass(frozen=True)
class WordPieceSettings:
    """What to train. Values are checked on construction.

    num_merges      stop after so many merges; give this or vocab_size
    vocab_size      stop when [UNK], the characters and the learned tokens are so many
    min_pair_count  pairs that occur less often are not merged. The score alone prefers the rarest pairs:
                    two symbols that occur once, together, have the highest score of all, 1.
    tie_break       which of the pairs with the highest score is merged, as in `TrainSettings`:
                    first-seen, lowest-ids, or greatest-pair (compared as written, `##` included)
    split           a name of `SPLIT_PATTERNS` or a regular expression; white space around a match is cut off
    max_input_chars_per_word
                    a longer word is encoded as [UNK]. 100 in Hugging Face's BERT, 200 in Google's.

    Raises:
        SettingsError: a value is out of range, or two exclude each other.

    >>> WordPieceSettings(vocab_size=1000).tie_break
    'first-seen'
    """

    num_merges: int | None = None
    vocab_size: int | None = None
    min_pair_count: int = 2
    tie_break: TieBreak = "first-seen"
    split: str = BERT_SPLIT
    max_input_chars_per_word: int = 100

    def __post_init__(self) -> None:
        if self.tie_break not in get_args(TieBreak):
            raise SettingsError(f"tie_break must be one of {', '.join(get_args(TieBreak))}, but is {self.tie_break!r}")
        if (self.num_merges is None) == (self.vocab_size is None):
            raise SettingsError("give either num_merges or vocab_size, not both and not neither")
        limits = (("num_merges", 0), ("vocab_size", 1), ("min_pair_count", 1), ("max_input_chars_per_word", 1))
        for name, least in limits:
            value = getattr(self, name)
            if value is not None and not least <= value < 2**31:
                raise SettingsError(f"{name} must be from {least} to {2**31 - 1:,}, but is {value:,}")
        compile_split(self.split)


class WordPieceMerge(NamedTuple):
    """One merge and what was counted when it was chosen."""

    rank: int
    """0-based place in learning order."""
    left: int
    right: int
    token: int
    """Ids of the two symbols and of the token they make."""
    pair_count: int
    """Adjacent occurrences over the corpus, overlaps included."""
    left_count: int
    right_count: int
    """Occurrences of the two symbols."""
    num_tied: int
    """Other pairs that had the same score."""
    num_replaced: int
    """Occurrences that were replaced."""
    num_tokens: int
    """Tokens of the corpus after this merge."""

    @property
    def score(self) -> Fraction:
        """The score of the pair, exact."""
        return Fraction(self.pair_count, self.left_count * self.right_count)


class Candidate(NamedTuple):
    """A pair in the contest of one step."""

    left: int
    right: int
    pair_count: int
    left_count: int
    right_count: int

    @property
    def score(self) -> Fraction:
        """The score of the pair, exact."""
        return Fraction(self.pair_count, self.left_count * self.right_count)


@dataclass(frozen=True)
class WordPieceContest:
    """The pairs after k merges, highest score first, within a score in the order of the tie rule.

    num_tied   pairs that share the highest score, the winner included
    num_pairs  pairs in all that occur often enough to be merged
    """

    candidates: tuple[Candidate, ...]
    num_tied: int
    num_pairs: int
    tie_break: TieBreak


@dataclass(frozen=True, eq=False)
class WordPieceTraining:
    """The result of a training run: the merges, the tokens at every step, and the tokenizer.

    stopped       num_merges, vocab_size, min_pair_count (pairs are left, but too rare), no_pairs (every word is one
                  token), cancelled (by the progress function)
    num_base      [UNK] and the characters of the corpus, bare and continuing
    num_tokens    int64[num_merges + 1], tokens of the corpus after k merges
    pre_tokens    distinct words in corpus order, with counts
    """

    settings: WordPieceSettings
    stopped: Stopped
    merges: tuple[WordPieceMerge, ...]
    num_base: int
    num_tokens: NDArray[np.int64]
    tokenizer: WordPieceTokenizer
    pre_tokens: Mapping[str, int]
    symbols: NDArray[np.int64] = field(repr=False)
    """int64[num_symbols]: base ids of all distinct words, one after the other."""
    starts: NDArray[np.int64] = field(repr=False)
    """int64[num_words + 1]: where each distinct word starts in `symbols`, and the end."""
    lifetimes: NDArray[np.int32] = field(repr=False)
    """int32[num_symbols]: of the boundary *before* each symbol; NEVER at the start of a word."""

    @property
    def num_merges(self) -> int:
        """Merges made, and tokens learned."""
        return len(self.merges)

    def tokenizer_at(self, k: int) -> WordPieceTokenizer:
        """Return the tokenizer with the vocabulary after k merges.

        Raises:
            SettingsError: k is not from 0 to num_merges.
        """
        if not 0 <= k <= self.num_merges:
            raise SettingsError(f"step must be from 0 to {self.num_merges:,}, but is {k:,}")
        return replace(self.tokenizer, vocabulary=self.tokenizer.vocabulary[: self.num_base + k])

    def contest(self, k: int, num_shown: int | None = None) -> WordPieceContest:
        """Return the pairs after k merges with their scores, all or the first so many.

        The first one is what merge k chose, unless a stop was hit before. Cost: linear in the distinct words,
        and exact arithmetic for every pair.

        >>> training = train_wordpiece({"hug": 10, "pug": 5, "hugs": 5}, WordPieceSettings(num_merges=1))
        >>> contest = training.contest(0)
        >>> [(pair.pair_count, pair.left_count, pair.right_count) for pair in contest.candidates]
        [(15, 15, 20), (20, 20, 20), (5, 5, 20), (5, 20, 5)]
        >>> contest.num_tied
        4
        """
        left, right, count, first, symbol_counts = self._pair_counts(k)
        pairs = zip(left.tolist(), right.tolist(), count.tolist(), first.tolist(), strict=True)
        found = [
            (Candidate(a, b, pair_count, symbol_counts[a], symbol_counts[b]), place)
            for a, b, pair_count, place in pairs
            if pair_count >= self.settings.min_pair_count
        ]
        names = [piece.written.encode() for piece in self.tokenizer.vocabulary]

        def order(entry: tuple[Candidate, int]) -> tuple[Any, ...]:
            pair, place = entry
            if self.settings.tie_break == "first-seen":
                return -pair.score, place
            if self.settings.tie_break == "lowest-ids":
                return -pair.score, pair.left, pair.right
            return -pair.score, Descending((names[pair.left], names[pair.right])), pair.left, pair.right

        ranked = [pair for pair, _place in sorted(found, key=order)]
        num_tied = sum(pair.score == ranked[0].score for pair in ranked)
        return WordPieceContest(tuple(ranked[:num_shown]), num_tied, len(ranked), self.settings.tie_break)

    def _pair_counts(
        self, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], list[int]]:
        """Return (left, right, count, first place) of every pair after k merges, and the count of every token."""
        at = cut(self.lifetimes[1:], k)[:-1]
        youngest = np.maximum.reduceat(np.where(self.lifetimes < k, self.lifetimes, -1), at)
        tokens = np.where(youngest < 0, self.symbols[at], self.num_base + youngest)
        word = np.searchsorted(self.starts, at, side="right") - 1
        weights = np.fromiter(self.pre_tokens.values(), dtype=np.int64, count=len(self.pre_tokens))[word]
        symbol_counts = np.zeros(self.tokenizer.vocab_size, dtype=np.int64)
        np.add.at(symbol_counts, tokens, weights)
        inside = word[1:] == word[:-1]
        width = np.int64(self.tokenizer.vocab_size)
        keys = (tokens[:-1] * width + tokens[1:])[inside]
        pairs, first, which = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(counts, which, weights[:-1][inside])
        return pairs // width, pairs % width, counts, at[:-1][inside][first], symbol_counts.tolist()


def train_wordpiece(
    source: str | Mapping[str, int], settings: WordPieceSettings, *, progress: Progress | None = None
) -> WordPieceTraining:
    """Learn a WordPiece vocabulary from a text, or from a table of words and their counts.

    The words of a table are taken as they stand. `progress(num_done, num_asked)` is called a few hundred
    times; when it returns False, training stops and what was learned so far is the result.

    Raises:
        SettingsError: vocab_size is smaller than [UNK] and the characters of the corpus.
        CorpusError: nothing to train on, an empty word, or a count that is not a positive integer.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> training = train_wordpiece(words, WordPieceSettings(num_merges=3))
    >>> name = training.tokenizer.token_bytes
    >>> [(name(merge.token).decode(), str(merge.score)) for merge in training.merges]
    [('##gs', '1/20'), ('hu', '1/36'), ('hugs', '1/15')]
    """
    return _train(source, settings, _incremental, progress)


def train_wordpiece_reference(source: str | Mapping[str, int], settings: WordPieceSettings) -> WordPieceTraining:
    """Learn a WordPiece vocabulary by recounting at every step. The readable twin of `train_wordpiece`.

    >>> train_wordpiece_reference({"ab": 3, "abc": 1}, WordPieceSettings(num_merges=1)).num_tokens.tolist()
    [9, 5]
    """
    return _train(source, settings, _reference, None)


class _Corpus(NamedTuple):
    pre_tokens: dict[str, int]
    words: list[list[int]]
    """Base ids of each distinct word."""
    vocabulary: list[WordPiece]
    """Tokens so far, in id order; the engines append to it."""


class _Steps(NamedTuple):
    merges: list[WordPieceMerge]
    lifetimes: list[int]
    stopped: Stopped


_Engine = Callable[[_Corpus, WordPieceSettings, Progress], _Steps]


def _train(
    source: str | Mapping[str, int], settings: WordPieceSettings, engine: _Engine, progress: Progress | None
) -> WordPieceTraining:
    corpus = _prepare(source, settings)
    num_base = len(corpus.vocabulary)
    if settings.vocab_size is not None and settings.vocab_size < num_base:
        raise SettingsError(
            f"vocab_size must be at least {num_base:,}, for {UNKNOWN} and the characters of this corpus (once at the "
            f"beginning of a word, once inside), but is {settings.vocab_size:,}"
        )
    steps = engine(corpus, settings, progress or (lambda done, asked: True))
    lengths = np.array([len(word) for word in corpus.words], dtype=np.int64)
    num_symbols = sum(len(word) * count for word, count in corpus.pre_tokens.items())
    return WordPieceTraining(
        settings=settings,
        stopped=steps.stopped,
        merges=tuple(steps.merges),
        num_base=num_base,
        num_tokens=np.array([num_symbols, *(merge.num_tokens for merge in steps.merges)], dtype=np.int64),
        tokenizer=WordPieceTokenizer(
            tuple(corpus.vocabulary), {UNKNOWN: 0}, settings.split, settings.max_input_chars_per_word
        ),
        pre_tokens=corpus.pre_tokens,
        symbols=np.array([symbol for word in corpus.words for symbol in word], dtype=np.int64),
        starts=np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        lifetimes=np.array(steps.lifetimes, dtype=np.int32),
    )


def _prepare(source: str | Mapping[str, int], settings: WordPieceSettings) -> _Corpus:
    if isinstance(source, str):
        counts: dict[str, int] = defaultdict(int)
        for _before, word, _after in split_words(whole_characters(source), settings.split):
            counts[word] += 1
        if not counts:
            raise CorpusError(
                "the text must hold at least one word, but has none; give a text with more than white space"
            )
        pre_tokens = dict(counts)
    else:
        pre_tokens = check_counts(source)
        if not pre_tokens:
            raise CorpusError("the table must hold at least one word, but is empty; give rows of word and count")
    base = {WordPiece(word[0], False) for word in pre_tokens}
    base |= {WordPiece(char, True) for word in pre_tokens for char in word[1:]}
    vocabulary = [WordPiece(UNKNOWN, False), *sorted(base, key=lambda piece: (piece.continues, piece.text))]
    # [UNK] is kept out: a word that is written like it is made of its characters.
    id_of = {piece: token for token, piece in enumerate(vocabulary) if token}
    words = [[id_of[WordPiece(char, i > 0)] for i, char in enumerate(word)] for word in pre_tokens]
    return _Corpus(pre_tokens, words, vocabulary)


def _most_merges(corpus: _Corpus, settings: WordPieceSettings) -> tuple[int, Stopped]:
    """Return how many merges are asked for, and what to say when they are made."""
    if settings.num_merges is not None:
        return settings.num_merges, "num_merges"
    assert settings.vocab_size is not None
    return settings.vocab_size - len(corpus.vocabulary), "vocab_size"


def _join(vocabulary: list[WordPiece], pair: Pair) -> int:
    """Add the token that a pair makes; return its id."""
    left, right = vocabulary[pair[0]], vocabulary[pair[1]]
    vocabulary.append(WordPiece(left.text + right.text, left.continues))
    return len(vocabulary) - 1


def _break_tie(tied: Sequence[Pair], rule: TieBreak, vocabulary: Sequence[WordPiece]) -> Pair:
    """Choose among pairs, given in the order of their first occurrence."""
    if rule == "first-seen":
        return tied[0]
    if rule == "lowest-ids":
        return min(tied)

    def written(pair: Pair) -> tuple[bytes, bytes]:
        return vocabulary[pair[0]].written.encode(), vocabulary[pair[1]].written.encode()

    greatest = max(map(written, tied))
    return min(pair for pair in tied if written(pair) == greatest)


def _reference(corpus: _Corpus, settings: WordPieceSettings, progress: Progress) -> _Steps:
    """Count all symbols and pairs, merge the pair with the highest score, repeat."""
    vocabulary = corpus.vocabulary
    asked, stop = _most_merges(corpus, settings)
    weights = list(corpus.pre_tokens.values())
    words = [list(word) for word in corpus.words]
    lifetimes = [[NEVER] * len(word) for word in words]
    num_tokens = sum(len(word) * weight for word, weight in zip(words, weights, strict=True))
    merges: list[WordPieceMerge] = []

    def result(stopped: Stopped) -> _Steps:
        return _Steps(merges, [lifetime for word in lifetimes for lifetime in word], stopped)

    for rank in range(asked):
        if progress(rank, asked) is False:
            return result("cancelled")
        counts: dict[int, int] = defaultdict(int)
        pair_counts: dict[Pair, int] = defaultdict(int)
        for word, weight in zip(words, weights, strict=True):
            for symbol in word:
                counts[symbol] += weight
            for pair in pairwise(word):
                pair_counts[pair] += weight
        if not pair_counts:
            return result("no_pairs")
        scores = {
            pair: Fraction(count, counts[pair[0]] * counts[pair[1]])
            for pair, count in pair_counts.items()
            if count >= settings.min_pair_count
        }
        if not scores:
            return result("min_pair_count")
        highest = max(scores.values())
        tied = [pair for pair, score in scores.items() if score == highest]
        best = _break_tie(tied, settings.tie_break, vocabulary)

        token = _join(vocabulary, best)
        replaced = 0
        for i, (word, weight) in enumerate(zip(words, weights, strict=True)):
            merged = merge_pair(word, best, token)
            if len(merged) == len(word):
                continue
            replaced += (len(word) - len(merged)) * weight
            for gone in _starts(word, vocabulary) - _starts(merged, vocabulary):
                lifetimes[i][gone] = rank
            words[i] = merged
        num_tokens -= replaced
        merges.append(
            WordPieceMerge(
                rank, *best, token, pair_counts[best], counts[best[0]], counts[best[1]],
                len(tied) - 1, replaced, num_tokens,
            )
        )  # fmt: skip
    return result(stop)


def _starts(word: Sequence[int], tokens: Sequence[WordPiece]) -> set[int]:
    """Return where the symbols of a word start, in characters."""
    return set(accumulate((len(tokens[symbol].text) for symbol in word[:-1]), initial=0))


def _incremental(corpus: _Corpus, settings: WordPieceSettings, progress: Progress) -> _Steps:
    """Merge the best pair, update the counts around it, scan the scores of all pairs.

    The words lie one after the other in flat lists, linked as in trainer.py. There and here a pair is born in the
    one step that makes its newer symbol: afterwards its count only falls and its first place only moves right.
    """
    vocabulary = corpus.vocabulary
    asked, stop = _most_merges(corpus, settings)
    num_symbols = sum(map(len, corpus.words))
    symbol: list[int] = [token for word in corpus.words for token in word]
    after: list[int] = []
    before: list[int] = []
    weight: list[int] = []
    for word, count in zip(corpus.words, corpus.pre_tokens.values(), strict=True):
        start = len(after)
        after.extend(range(start + 1, start + len(word)))
        after.append(-1)
        before.append(-1)
        before.extend(range(start, start + len(word) - 1))
        weight.extend([count] * len(word))

    lifetimes = [NEVER] * num_symbols
    # No run can add more tokens than there are boundaries.
    table = _PairTable(len(vocabulary) + min(asked, num_symbols), settings.min_pair_count)
    counts: dict[Pair, int] = defaultdict(int)
    places: dict[Pair, list[int]] = defaultdict(list)
    for i, token in enumerate(symbol):
        table.add_symbols(token, weight[i])
        if after[i] >= 0:
            pair = token, symbol[after[i]]
            counts[pair] += weight[i]
            places[pair].append(i)
    for pair, pair_count in counts.items():
        table.add(pair, pair_count, places[pair])
    num_tokens = sum(weight)
    merges: list[WordPieceMerge] = []
    report_every = max(1, asked // 400)

    def stands_at(pair: Pair, i: int) -> bool:
        return symbol[i] == pair[0] and after[i] >= 0 and symbol[after[i]] == pair[1]

    for rank in range(asked):
        if rank % report_every == 0 and progress(rank, asked) is False:
            return _Steps(merges, lifetimes, "cancelled")
        if not table.slot_of:
            return _Steps(merges, lifetimes, "no_pairs")
        leaders = table.leaders()
        if len(leaders) == 0:
            return _Steps(merges, lifetimes, "min_pair_count")
        if settings.tie_break == "first-seen":
            best = table.first_seen(leaders, stands_at)
        else:
            best = _break_tie(table.pairs(leaders), settings.tie_break, vocabulary)

        left, right = best
        token = _join(vocabulary, best)
        pair_count, listed = table.remove(best)
        left_count, right_count = table.symbol_count(left), table.symbol_count(right)
        changes: dict[Pair, int] = defaultdict(int)
        born: dict[Pair, list[int]] = defaultdict(list)
        replaced = 0
        for i in listed:
            if not stands_at(best, i):
                continue  # merged away since it was listed, or an overlap as in aaa
            j = after[i]
            count = weight[i]
            replaced += count
            h = before[i]
            k = after[j]
            if h >= 0:
                changes[symbol[h], left] -= count
                changes[symbol[h], token] += count
                born[symbol[h], token].append(h)
            if k >= 0:
                changes[right, symbol[k]] -= count
                changes[token, symbol[k]] += count
                born[token, symbol[k]].append(i)
                before[k] = i
            symbol[i] = token
            symbol[j] = -1
            after[i] = k
            lifetimes[j] = rank

        changes.pop(best, None)  # what an overlap left of the merged pair (aaa) is gone now
        for pair, change in changes.items():
            if pair in born and change:
                table.add(pair, change, born[pair])
            elif change:
                table.lower(pair, -change)
        table.add_symbols(left, -replaced)
        table.add_symbols(right, -replaced)
        table.add_symbols(token, replaced)
        num_tokens -= replaced
        merges.append(
            WordPieceMerge(
                rank, left, right, token, pair_count, left_count, right_count,
                len(leaders) - 1, replaced, num_tokens,
            )
        )  # fmt: skip
    return _Steps(merges, lifetimes, stop)


class _PairTable:
    """Counts of the living pairs and of the symbols, in arrays that a step can scan at once.

    A pair has a slot in the arrays, taken over by another pair when it is gone. Where no pair lives the count is 0.
    """

    def __init__(self, most_tokens: int, min_pair_count: int) -> None:
        self.slot_of: dict[Pair, int] = {}
        self._free: list[int] = []
        self._min_pair_count = min_pair_count
        self._left = np.zeros(1024, dtype=np.int64)
        self._right = np.zeros(1024, dtype=np.int64)
        self._count = np.zeros(1024, dtype=np.int64)
        self._first = np.zeros(1024, dtype=np.int64)
        """The first place, or one before it: `first_seen` corrects it where it matters."""
        self._places: list[list[int]] = []
        """Where the pair was born, ascending; at some of them it stands no more."""
        self._next: list[int] = []
        """How many of the places were found to be gone, from the first on."""
        self._symbol_count = np.zeros(most_tokens, dtype=np.int64)

    def symbol_count(self, token: int) -> int:
        return int(self._symbol_count[token])

    def add_symbols(self, token: int, change: int) -> None:
        self._symbol_count[token] += change

    def add(self, pair: Pair, count: int, places: list[int]) -> None:
        """Add a pair that is born now, with its places in ascending order."""
        slot = self._take()
        self.slot_of[pair] = slot
        self._left[slot], self._right[slot] = pair
        self._count[slot] = count
        self._first[slot] = places[0]
        self._places[slot] = places
        self._next[slot] = 0

    def lower(self, pair: Pair, by: int) -> None:
        """Lower the count of a pair; at 0 it is forgotten."""
        slot = self.slot_of[pair]
        self._count[slot] -= by
        if self._count[slot] == 0:
            self.remove(pair)

    def remove(self, pair: Pair) -> tuple[int, list[int]]:
        """Forget a pair; return its count and its places."""
        slot = self.slot_of.pop(pair)
        count, places = int(self._count[slot]), self._places[slot]
        self._count[slot] = 0
        self._places[slot] = []
        self._free.append(slot)
        return count, places

    def _take(self) -> int:
        """Return a free slot."""
        if self._free:
            return self._free.pop()
        slot = len(self._places)
        self._places.append([])
        self._next.append(0)
        if slot == len(self._count):
            columns = (self._left, self._right, self._count, self._first)
            grown = (np.concatenate((column, np.zeros_like(column))) for column in columns)
            self._left, self._right, self._count, self._first = grown
        return slot

    def leaders(self) -> NDArray[np.int64]:
        """Return the slots of all pairs with the highest score, exactly.

        Floats only choose whom to look at: a score has four roundings, far below the margin left here. Then
        whole numbers decide.
        """
        used = len(self._places)
        count = self._count[:used]
        left_count = self._symbol_count[self._left[:used]]
        right_count = self._symbol_count[self._right[:used]]
        living = count >= self._min_pair_count
        scores = np.zeros(used)
        np.divide(count, left_count.astype(np.float64) * right_count, out=scores, where=living)
        highest = scores.max(initial=0.0)
        if not highest:
            return np.zeros(0, dtype=np.int64)
        close = np.flatnonzero(scores >= highest * (1 - 1e-12))
        if len(close) == 1:
            return close
        terms = zip(
            close.tolist(),
            count[close].tolist(),
            left_count[close].tolist(),
            right_count[close].tolist(),
            strict=True,
        )
        best: list[int] = []
        best_count, best_product = 0, 1
        for slot, pair_count, a, b in terms:  # whole numbers of any size: a/b > c/d where a d > c b
            lead = pair_count * best_product - best_count * a * b
            if lead > 0:
                best = [slot]
                best_count, best_product = pair_count, a * b
            elif lead == 0:
                best.append(slot)
        return np.array(best, dtype=np.int64)

    def pairs(self, slots: NDArray[np.int64]) -> list[Pair]:
        return list(zip(self._left[slots].tolist(), self._right[slots].tolist(), strict=True))

    def first_seen(self, slots: NDArray[np.int64], stands_at: Callable[[Pair, int], bool]) -> Pair:
        """Return the pair that stands first in the corpus.

        `_first` promises too early a place, never too late a one: the earliest is corrected until it is true.
        """
        while True:
            slot = int(slots[np.argmin(self._first[slots])])
            pair = int(self._left[slot]), int(self._right[slot])
            places = self._places[slot]
            at = self._next[slot]
            while not stands_at(pair, places[at]):
                at += 1
            self._next[slot] = at
            if places[at] == self._first[slot]:
                return pair
            self._first[slot] = places[at]
