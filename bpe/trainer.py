"""Training: from pre-token counts to an ordered list of merges, with the history of every boundary.

`train_reference` is the textbook loop (Gage 1994; Sennrich et al. 2016, arXiv 1508.07909, algorithm 1):
count every pair, merge the most frequent one, repeat. Each round looks at the whole corpus.

`train` gives the same result and touches only what changes. Two facts make that exact:
1. All occurrences of a pair are born in the one step that makes its newer symbol. From then on its count only
   falls and its first position only moves right. So a heap whose entries are checked when they come to the
   top (a lazy heap) finds the true maximum, under the first-seen rule too.
2. Distinct pre-tokens in order of first occurrence, with counts, give the same merges as the running text.

Departures from the paper: several tie rules, byte or character base, three ways to mark the end of a word,
and a stop that comes early is a result, not an error. Left out: counting on several cores, compiled loops.
Read encoder.py for how the merges are applied again, and lifetimes.py for what `lifetimes` means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from bpe.encoder import merge_pair
from bpe.errors import SettingsError
from bpe.lifetimes import NEVER
from bpe.normalizing import whole_characters
from bpe.pretokenize import check_counts
from bpe.settings import Descending, TieBreak, TrainSettings
from bpe.tokenizer import MergeRows, Tokenizer, count_words
from bpe.training import Stopped, Training

__all__ = ["Progress", "train", "train_reference"]

Engine = Literal["auto", "python", "reference"]
Progress = Callable[[int, int], bool | None]
Pair = tuple[int, int]


def train(
    source: str | Mapping[str, int],
    settings: TrainSettings,
    *,
    engine: Engine = "auto",
    progress: Progress | None = None,
) -> Training:
    """Learn merges from a text, or from a table of words and their counts.

    The words of a table are pre-tokens as they stand: they are not split again. Corpus order is the order of
    the text or of the table.

    `progress(num_done, num_asked)` is called a few hundred times; when it returns False, training stops and
    the merges learned so far are the result (`stopped == "cancelled"`).

    Raises:
        SettingsError: the settings do not fit the corpus.
        CorpusError: an empty word, or a count that is not a positive integer.

    >>> training = train("aaabdaaabac", TrainSettings(split="none", num_merges=3))
    >>> [(merge.left, merge.right, merge.pair_count) for merge in training.merges]
    [(97, 97, 4), (256, 97, 2), (257, 98, 2)]
    >>> training.tokenizer.encode("aaabdaaabac")
    [258, 100, 258, 97, 99]
    """
    if engine not in get_args(Engine):
        raise SettingsError(f"engine must be one of {', '.join(get_args(Engine))}, but is {engine!r}")
    run = _reference if engine == "reference" else _incremental
    corpus = _prepare(source, settings)
    return _finish(corpus, settings, run(corpus, settings, progress or (lambda done, asked: True)))


def train_reference(source: str | Mapping[str, int], settings: TrainSettings) -> Training:
    """Learn merges by the textbook loop, which recounts at every step. The readable twin of `train`.

    >>> train_reference("aaabdaaabac", TrainSettings(split="none", num_merges=3)).num_tokens.tolist()
    [11, 9, 7, 5]
    """
    return train(source, settings, engine="reference")


class _Corpus(NamedTuple):
    base: Tokenizer
    """A tokenizer with the base symbols and no merges."""
    pre_tokens: dict[str, int]
    words: list[list[int]]
    """Base ids of each distinct pre-token."""


class _Steps(NamedTuple):
    """What an engine returns: columns over the merges, and lifetimes of the flat corpus."""

    left: list[int]
    right: list[int]
    pair_count: list[int]
    num_tied: list[int]
    num_replaced: list[int]
    lifetimes: list[int]
    stopped: Stopped


def _prepare(source: str | Mapping[str, int], settings: TrainSettings) -> _Corpus:
    if isinstance(source, str):
        pre_tokens = count_words(whole_characters(source), settings.split, settings.end_of_word)
    else:
        pre_tokens = check_counts(source)
    base = Tokenizer.base_of(pre_tokens, base=settings.base, end_of_word=settings.end_of_word, split=settings.split)
    return _Corpus(base, pre_tokens, [base.symbols(word) for word in pre_tokens])


def _finish(corpus: _Corpus, settings: TrainSettings, steps: _Steps) -> Training:
    num_base = len(corpus.base.base_symbols)
    num_merges = len(steps.left)
    replaced = np.array(steps.num_replaced, dtype=np.int64)
    num_symbols = sum(len(word) * count for word, count in zip(corpus.words, corpus.pre_tokens.values(), strict=True))
    num_tokens = num_symbols - np.concatenate((np.zeros(1, np.int64), np.cumsum(replaced)))
    rows = MergeRows(
        rank=np.arange(num_merges, dtype=np.int64),
        left=np.array(steps.left, dtype=np.int64),
        right=np.array(steps.right, dtype=np.int64),
        token=np.arange(num_base, num_base + num_merges, dtype=np.int64),
        count=np.array(steps.pair_count, dtype=np.int64),
        num_tied=np.array(steps.num_tied, dtype=np.int64),
        num_replaced=replaced,
        num_tokens_after=num_tokens[1:],
    )
    lengths = np.array([len(word) for word in corpus.words], dtype=np.int64)
    return Training(
        settings=settings,
        stopped=steps.stopped,
        rows=rows,
        num_tokens=num_tokens,
        tokenizer=corpus.base.with_merges(tuple(zip(steps.left, steps.right, strict=True))),
        pre_tokens=corpus.pre_tokens,
        symbols=np.array([symbol for word in corpus.words for symbol in word], dtype=np.int64),
        starts=np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        lifetimes=np.array(steps.lifetimes, dtype=np.int32),
    )


def _stop_at_limit(settings: TrainSettings) -> Stopped:
    return "num_merges" if settings.num_merges is not None else "vocab_size"


def _reference(corpus: _Corpus, settings: TrainSettings, progress: Progress) -> _Steps:
    """Count all pairs, merge the best, repeat.

    Dicts keep insertion order, so scanning the corpus from the left makes the first-seen rule the order of
    the pairs in `pair_counts`.
    """
    num_base = len(corpus.base.base_symbols)
    asked = settings.most_merges(num_base)
    weights = list(corpus.pre_tokens.values())
    words = [list(word) for word in corpus.words]
    texts = list(corpus.base.base_symbols)
    steps = _Steps([], [], [], [], [], [], _stop_at_limit(settings))
    num_base_in = [1] * num_base  # base symbols inside each token
    lifetimes = [[NEVER] * len(word) for word in words]

    for rank in range(asked):
        if progress(rank, asked) is False:
            return _with_lifetimes(steps, lifetimes, "cancelled")
        pair_counts: dict[Pair, int] = defaultdict(int)
        for word, weight in zip(words, weights, strict=True):
            for pair in pairwise(word):
                pair_counts[pair] += weight
        if not pair_counts:
            return _with_lifetimes(steps, lifetimes, "no_pairs")
        most = max(pair_counts.values())
        if most < settings.min_pair_count:
            return _with_lifetimes(steps, lifetimes, "min_pair_count")
        tied = [pair for pair, count in pair_counts.items() if count == most]
        best = _break_tie(tied, settings.tie_break, texts)

        token = num_base + rank
        num_base_in.append(num_base_in[best[0]] + num_base_in[best[1]])
        replaced = 0
        for i, (word, weight) in enumerate(zip(words, weights, strict=True)):
            merged = merge_pair(word, best, token)
            if len(merged) == len(word):
                continue
            replaced += (len(word) - len(merged)) * weight
            for gone in _starts(word, num_base_in) - _starts(merged, num_base_in):
                lifetimes[i][gone] = rank
            words[i] = merged
        texts.append(texts[best[0]] + texts[best[1]])
        steps.left.append(best[0])
        steps.right.append(best[1])
        steps.pair_count.append(most)
        steps.num_tied.append(len(tied) - 1)
        steps.num_replaced.append(replaced)
    return _with_lifetimes(steps, lifetimes, steps.stopped)


def _starts(word: Sequence[int], num_base_in: Sequence[int]) -> set[int]:
    """Return where the symbols of a word start, in base symbols."""
    return set(accumulate((num_base_in[symbol] for symbol in word[:-1]), initial=0))


def _break_tie(tied: Sequence[Pair], rule: TieBreak, texts: Sequence[bytes]) -> Pair:
    if rule == "first-seen":
        return tied[0]
    if rule == "lowest-ids":
        return min(tied)
    greatest = max((texts[left], texts[right]) for left, right in tied)
    return min(pair for pair in tied if (texts[pair[0]], texts[pair[1]]) == greatest)


def _with_lifetimes(steps: _Steps, lifetimes: list[list[int]], stopped: Stopped) -> _Steps:
    return steps._replace(lifetimes=[lifetime for word in lifetimes for lifetime in word], stopped=stopped)


def _incremental(corpus: _Corpus, settings: TrainSettings, progress: Progress) -> _Steps:
    """Merge the best pair and update only the counts around it.

    The distinct pre-tokens lie one after the other in flat lists; a symbol is named by the place where it
    starts, `after` and `before` link the living symbols of a pre-token, and `places[pair]` lists where the
    pair was born, in ascending order. A merge of A B in  X A B Y  takes one from (X, A) and (B, Y) and gives
    one to (X, AB) and (AB, Y); in  A B A B  the second merge finds AB as its X and undoes what the first one
    gave to (AB, A), so nothing special is needed.

    Pairs are keyed by one integer, left * width + right: half the time of tuple keys in the inner loop.
    """
    num_base = len(corpus.base.base_symbols)
    asked = settings.most_merges(num_base)
    num_symbols = sum(map(len, corpus.words))
    # No run can learn more merges than there are boundaries: keeps keys small whatever was asked for.
    width = num_base + min(asked, num_symbols) + 1

    symbol: list[int] = [s for word in corpus.words for s in word]
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
    counts: dict[int, int] = defaultdict(int)
    places: dict[int, list[int]] = defaultdict(list)
    for i, j in enumerate(after):
        if j >= 0:
            key = symbol[i] * width + symbol[j]
            counts[key] += weight[i]
            places[key].append(i)
    pairs_with: dict[int, int] = defaultdict(int)  # count -> number of pairs that have it, for the ties
    for count in counts.values():
        pairs_with[count] += 1

    texts = list(corpus.base.base_symbols)
    first_living: dict[int, int] = defaultdict(int)  # pair -> index into its places

    def order(key: int) -> object:
        """What decides among pairs of equal count, smallest first; the key itself is last: lowest ids."""
        if settings.tie_break == "lowest-ids":
            return 0
        left, right = divmod(key, width)
        if settings.tie_break == "greatest-pair":
            return Descending((texts[left], texts[right]))
        listed = places[key]
        at = first_living[key]
        while not (symbol[listed[at]] == left and (j := after[listed[at]]) >= 0 and symbol[j] == right):
            at += 1
        first_living[key] = at
        return listed[at]

    queue = _LazyHeap(counts, order)
    queue.add(counts)
    steps = _Steps([], [], [], [], [], lifetimes, _stop_at_limit(settings))
    report_every = max(1, asked // 400)

    for rank in range(asked):
        if rank % report_every == 0 and progress(rank, asked) is False:
            return steps._replace(stopped="cancelled")
        best = queue.pop()
        if best is None:
            return steps._replace(stopped="no_pairs")
        pair_count = counts[best]
        if pair_count < settings.min_pair_count:
            return steps._replace(stopped="min_pair_count")
        left, right = divmod(best, width)
        token = num_base + rank
        num_tied = pairs_with[pair_count] - 1

        changes: dict[int, int] = defaultdict(int)
        born: dict[int, list[int]] = defaultdict(list)
        replaced = 0
        for i in places.pop(best):
            j = after[i]
            if symbol[i] != left or j < 0 or symbol[j] != right:
                continue  # merged away since it was listed, or an overlap as in aaa
            count = weight[i]
            replaced += count
            h = before[i]
            k = after[j]
            if h >= 0:
                x = symbol[h]
                changes[x * width + left] -= count
                key = x * width + token
                changes[key] += count
                born[key].append(h)
            if k >= 0:
                y = symbol[k]
                changes[right * width + y] -= count
                key = token * width + y
                changes[key] += count
                born[key].append(i)
                before[k] = i
            symbol[i] = token
            symbol[j] = -1
            after[i] = k
            lifetimes[j] = rank

        # The merged pair itself changes too when it overlaps (aaa); whatever is left of it is gone now.
        changes.pop(best, None)
        pairs_with[pair_count] -= 1
        del counts[best]
        new_keys = []
        for key, change in changes.items():
            if not change:
                continue
            old = counts.get(key, 0)
            new = old + change
            if old:
                pairs_with[old] -= 1
            if new:
                pairs_with[new] += 1
                counts[key] = new
                if key in born:
                    places[key] = born[key]
                    new_keys.append(key)
            else:
                del counts[key]
                del places[key]
        texts.append(texts[left] + texts[right])
        queue.add(new_keys)
        steps.left.append(left)
        steps.right.append(right)
        steps.pair_count.append(pair_count)
        steps.num_tied.append(num_tied)
        steps.num_replaced.append(replaced)
    return steps


class _LazyHeap:
    """The pairs, most frequent first, then by `order`, then by key.

    An entry is what it promised when it was pushed. Counts only fall and first places only move right, so an
    entry can promise too much, never too little: `pop` corrects the top one until it tells the truth.
    """

    def __init__(self, counts: Mapping[int, int], order: Callable[[int], object]) -> None:
        self._counts = counts
        self._order = order
        self._heap: list[tuple[int, Any, int]] = []

    def add(self, keys: Collection[int]) -> None:
        entries = ((-self._counts[key], self._order(key), key) for key in keys)
        if len(keys) > len(self._heap):
            self._heap.extend(entries)
            heapify(self._heap)
        else:
            for entry in entries:
                heappush(self._heap, entry)

    def pop(self) -> int | None:
        """Remove and return the key of the best pair, or None when no pair is left."""
        heap = self._heap
        while heap:
            promised, order, key = heap[0]
            count = self._counts.get(key, 0)
            if not count:
                heappop(heap)
                continue
            if count == -promised:
                now = self._order(key)
                if now == order:
                    heappop(heap)
                    return key
                order = now
            heapreplace(heap, (-count, order, key))
        return None
