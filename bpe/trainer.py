"""Training: from pre-token counts to an ordered list of merges, with the history of every boundary.

`train_reference` is the textbook loop (Gage 1994; Sennrich et al. 2016, arXiv 1508.07909, algorithm 1):
count every pair, merge the most frequent one, repeat. Each round looks at the whole corpus.

`train` gives the same result and touches only what changes. Two facts make that exact:
1. All occurrences of a pair are born in the one step that makes its newer symbol. From then on its count only
   falls and its first position only moves right. So a heap whose entries are checked when they come to the
   top (a lazy heap) finds the true maximum, under the first-seen rule too.
2. Distinct pre-tokens in order of first occurrence, with counts, give the same merges as the running text.

The compiled engine (kernels/training.py) gives it again, some fifty times faster.

Departures from the paper: several tie rules, byte or character base, three ways to mark the end of a word,
and a stop that comes early is a result, not an error. Left out: reading and counting (counting.py).
Read encoder.py for how the merges are applied again, and lifetimes.py for what `lifetimes` means.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.counting import PreTokenCounts, count_text
from bpe.counting_files import CountingCancelled, count_files
from bpe.encoder import merge_pair
from bpe.errors import CorpusError, SettingsError, UnavailableError
from bpe.file_parts import ByteErrors, num_bytes_of
from bpe.kernels.counting import SCANNED_SPLITS
from bpe.kernels.loader import Group, is_quick, is_ready, load, start_loading
from bpe.kernels.training import MOST_OCCURRENCES, MOST_SYMBOLS, train_compiled
from bpe.lifetimes import NEVER
from bpe.normalizing import whole_characters
from bpe.pretokenize import check_counts
from bpe.settings import Descending, TieBreak, TrainSettings
from bpe.tokenizer import END_OF_WORD, MergeRows, Tokenizer, words_of_pre_tokens
from bpe.training import Stopped, Training

__all__ = ["Engine", "Progress", "train", "train_counts", "train_files", "train_reference", "uses_compiled"]

Engine = Literal["auto", "compiled", "python", "reference"]
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
    if isinstance(source, str):
        compiled = _counts_compiled(settings.split, engine, len(source))
        counts = count_text(whole_characters(source), settings.split, compiled=compiled)
    else:
        counts = PreTokenCounts.from_mapping(check_counts(source))
    is_text = isinstance(source, str)
    return train_counts(counts, settings, is_split=not is_text, engine=engine, progress=progress)


def train_counts(
    counts: PreTokenCounts,
    settings: TrainSettings,
    *,
    is_split: bool = False,
    engine: Engine = "auto",
    progress: Progress | None = None,
) -> Training:
    """Learn merges from pre-token counts.

    is_split   the pre-tokens are the words as they stand. Otherwise, with an end-of-word mark, the white space
               around them is taken off first, because it only separates words.
    """
    if settings.end_of_word != "none" and not is_split:
        counts = PreTokenCounts.from_mapping(words_of_pre_tokens(counts))
    corpus = _prepare(counts, settings)
    report = progress or (lambda done, asked: True)
    if engine == "reference":
        steps = _reference(corpus, settings, report)
    elif _fits_compiled(corpus, engine) and uses_compiled("train", engine, len(corpus.symbols)):
        steps = _compiled(corpus, settings, report)
    else:
        steps = _incremental(corpus, settings, report)
    return _finish(corpus, settings, steps)


def train_files(
    paths: Sequence[str | os.PathLike[str]],
    settings: TrainSettings,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    errors: ByteErrors = "strict",
    engine: Engine = "auto",
    progress: Progress | None = None,
    count_progress: Progress | None = None,
) -> Training:
    """Learn merges from files in UTF-8 of any size, as one corpus in their order; no pre-token crosses files.

    The files are read in blocks and counted on all cores, on `workers` processes, or by the workers of the Dask
    cluster at `scheduler`; the merges are the same (counting_files.py). A split pattern of the reader's own, or
    `none`, cannot be cut: then each file is read whole.

    errors          what to do about bytes that are not UTF-8: `strict`, refuse the file; `replace` them by U+FFFD
    progress        as for `train`
    count_progress  the same while counting: called with (bytes counted, bytes in all)

    Raises:
        SettingsError, CorpusError: as for `train`; no file; one is empty, not UTF-8, or changes while it is read.
        UnavailableError: the scheduler does not answer, workers die again and again, a package is missing.
        OSError: a file cannot be opened.
    """
    files = [os.fspath(path) for path in paths]
    if workers < 1:
        raise SettingsError(f"workers must be at least 1, but is {workers}")
    if errors not in get_args(ByteErrors):
        raise SettingsError(f"errors must be one of {', '.join(get_args(ByteErrors))}, but is {errors!r}")
    compiled = _counts_compiled(settings.split, engine, sum(map(num_bytes_of, files)))
    try:
        counts = count_files(
            files,
            settings.split,
            compiled=compiled,
            workers=workers,
            scheduler=scheduler,
            errors=errors,
            progress=count_progress,
        )
    except CountingCancelled:
        nothing = PreTokenCounts.from_mapping({})
        return train_counts(nothing, settings, engine="python", progress=lambda done, asked: False)
    return train_counts(counts, settings, engine=engine, progress=progress)


# The kernels load in about a second; by then the Python engine is through with so much text (200 kB).
_WORTH_A_WAIT = 50_000


def uses_compiled(group: Group, engine: Engine, num_symbols: int) -> bool:
    """Tell whether a piece of work goes to the compiled kernels, and load them if it should.

    `auto`: if they are ready; if they are not, only where work in Python would take longer than loading them,
    and loading needs no compiler. Otherwise loading starts in the background, for the next time.

    Raises:
        SettingsError: there is no such engine.
        UnavailableError: `compiled` was asked for, but cannot be had.
    """
    if engine not in get_args(Engine):
        raise SettingsError(f"engine must be one of {', '.join(get_args(Engine))}, but is {engine!r}")
    if engine in ("python", "reference"):
        return False
    if engine == "compiled" or (num_symbols >= _WORTH_A_WAIT and is_quick()):
        try:
            load(group)
        except UnavailableError:
            if engine == "compiled":
                raise
    elif not is_ready(group):
        start_loading(group)
    return is_ready(group)


def _counts_compiled(split: str, engine: Engine, num_bytes: int) -> bool:
    """Tell whether counting goes to the compiled kernels. Where the pattern has no scanner they are not even loaded."""
    return split in SCANNED_SPLITS and uses_compiled("count", engine, num_bytes)


def _fits_compiled(corpus: _Corpus, engine: Engine) -> bool:
    """Tell whether the compiled kernels can count so far: not with 2^62 occurrences or 2^30 distinct symbols."""
    occurrences = float(int(corpus.counts.max(initial=0)) * len(corpus.symbols))
    if occurrences >= MOST_OCCURRENCES:  # a bound, and rarely more: then look
        occurrences = float(np.dot(corpus.counts.astype(np.float64), np.diff(corpus.starts)))
    fits = len(corpus.symbols) + len(corpus.counts) < MOST_SYMBOLS and occurrences < MOST_OCCURRENCES
    if not fits and engine == "compiled":
        raise CorpusError(
            f"the compiled engine takes at most {MOST_SYMBOLS:,} symbols of distinct pre-tokens that occur fewer than "
            f"2^62 times, but the corpus has {len(corpus.symbols):,} that occur {occurrences:.3g} times: "
            "split it into shorter pre-tokens, or use engine='python'"
        )
    return fits


def train_reference(source: str | Mapping[str, int], settings: TrainSettings) -> Training:
    """Learn merges by the textbook loop, which recounts at every step. The readable twin of `train`.

    >>> train_reference("aaabdaaabac", TrainSettings(split="none", num_merges=3)).num_tokens.tolist()
    [11, 9, 7, 5]
    """
    return train(source, settings, engine="reference")


@dataclass(frozen=True, eq=False)
class _Corpus:
    """The distinct pre-tokens as base symbols, one after the other."""

    base: Tokenizer
    """A tokenizer with the base symbols and no merges."""
    pre_tokens: PreTokenCounts
    symbols: NDArray[np.uint8] | NDArray[np.int32]
    """Base ids of all distinct pre-tokens; their bytes as they are where bytes are the base."""
    starts: NDArray[np.int64]
    """Where each starts in `symbols`, and the end."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each occurs."""
        return self.pre_tokens.counts

    @cached_property
    def words(self) -> list[list[int]]:
        """Base ids of each distinct pre-token, as the Python engines take them."""
        symbols = self.symbols.tolist()
        at = self.starts.tolist()
        return [symbols[start:end] for start, end in pairwise(at)]

    @cached_property
    def weights(self) -> list[int]:
        """The counts as Python numbers."""
        weights: list[int] = self.counts.tolist()
        return weights


class _Steps(NamedTuple):
    """What an engine returns: columns over the merges, and lifetimes of the flat corpus."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    pair_count: NDArray[np.int64]
    num_tied: NDArray[np.int64]
    num_replaced: NDArray[np.int64]
    lifetimes: NDArray[np.int32]
    stopped: Stopped


_Row = tuple[int, int, int, int, int]
"""What the Python engines note of a merge: left, right, pair count, number tied, number replaced."""


def _steps(rows: Sequence[_Row], lifetimes: Sequence[int], stopped: Stopped) -> _Steps:
    left, right, pair_count, num_tied, num_replaced = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return _Steps(left, right, pair_count, num_tied, num_replaced, np.array(lifetimes, dtype=np.int32), stopped)


def _prepare(counts: PreTokenCounts, settings: TrainSettings) -> _Corpus:
    """Find the base symbols, and write the distinct pre-tokens in them."""
    if settings.base == "bytes":
        base = Tokenizer(split=settings.split)
        return _Corpus(base, counts, counts.store, counts.offsets)
    codes = np.frombuffer(counts.store.tobytes().decode().encode("utf-32-le"), dtype=np.uint32)
    chars_before = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts.store & 0xC0 != 0x80)))
    starts = chars_before[counts.offsets]
    ends = starts[1:]
    if settings.end_of_word == "attached":
        is_final = np.zeros(len(codes), dtype=np.bool_)
        is_final[ends - 1] = True
        inner, final = np.unique(codes[~is_final]), np.unique(codes[is_final])
        ids = np.where(is_final, len(inner) + np.searchsorted(final, codes), np.searchsorted(inner, codes))
        names = [chr(code) for code in inner.tolist()] + [chr(code) + END_OF_WORD for code in final.tolist()]
    else:
        distinct = np.unique(codes)
        ids = np.searchsorted(distinct, codes)
        names = [chr(code) for code in distinct.tolist()]
        if settings.end_of_word == "separate" and len(counts):
            ids = np.insert(ids, ends, len(names))
            starts = starts + np.arange(len(starts))
            names.append(END_OF_WORD)
    encoded = tuple(name.encode() for name in names)
    base = Tokenizer(settings.base, settings.end_of_word, settings.split, encoded)
    return _Corpus(base, counts, ids.astype(np.int32), starts)


def _finish(corpus: _Corpus, settings: TrainSettings, steps: _Steps) -> Training:
    num_base = len(corpus.base.base_symbols)
    num_merges = len(steps.left)
    num_symbols = int(np.dot(np.diff(corpus.starts), corpus.counts))
    num_tokens = num_symbols - np.concatenate((np.zeros(1, np.int64), np.cumsum(steps.num_replaced)))
    rows = MergeRows(
        rank=np.arange(num_merges, dtype=np.int64),
        left=steps.left,
        right=steps.right,
        token=np.arange(num_base, num_base + num_merges, dtype=np.int64),
        count=steps.pair_count,
        num_tied=steps.num_tied,
        num_replaced=steps.num_replaced,
        num_tokens_after=num_tokens[1:],
    )
    return Training(
        settings=settings,
        stopped=steps.stopped,
        rows=rows,
        num_tokens=num_tokens,
        tokenizer=corpus.base.with_merges(_as_pairs(steps.left, steps.right)),
        pre_tokens=corpus.pre_tokens,
        symbols=corpus.symbols,
        starts=corpus.starts,
        lifetimes=steps.lifetimes,
    )


def _as_pairs(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[Pair, ...]:
    """Return the pairs as Python's. Tuples of integers hold nothing to collect, so the collector pauses: 32,000 of
    them would wake it 45 times, to look at everything there is (20 ms of 300 at 10 MB)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return tuple(zip(left.tolist(), right.tolist(), strict=True))
    finally:
        if was_enabled:
            gc.enable()


def _stop_at_limit(settings: TrainSettings) -> Stopped:
    return "num_merges" if settings.num_merges is not None else "vocab_size"


def _reference(corpus: _Corpus, settings: TrainSettings, progress: Progress) -> _Steps:
    """Count all pairs, merge the best, repeat.

    Dicts keep insertion order, so scanning the corpus from the left makes the first-seen rule the order of
    the pairs in `pair_counts`.
    """
    num_base = len(corpus.base.base_symbols)
    asked = settings.most_merges(num_base)
    weights = corpus.weights
    words = [list(word) for word in corpus.words]
    texts = list(corpus.base.base_symbols)
    rows: list[_Row] = []
    num_base_in = [1] * num_base  # base symbols inside each token
    lifetimes = [[NEVER] * len(word) for word in words]

    for rank in range(asked):
        if progress(rank, asked) is False:
            return _steps(rows, _flat(lifetimes), "cancelled")
        pair_counts: dict[Pair, int] = defaultdict(int)
        for word, weight in zip(words, weights, strict=True):
            for pair in pairwise(word):
                pair_counts[pair] += weight
        if not pair_counts:
            return _steps(rows, _flat(lifetimes), "no_pairs")
        most = max(pair_counts.values())
        if most < settings.min_pair_count:
            return _steps(rows, _flat(lifetimes), "min_pair_count")
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
        rows.append((*best, most, len(tied) - 1, replaced))
    return _steps(rows, _flat(lifetimes), _stop_at_limit(settings))


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


def _flat(lifetimes: Sequence[Sequence[int]]) -> list[int]:
    return [lifetime for word in lifetimes for lifetime in word]


def _compiled(corpus: _Corpus, settings: TrainSettings, progress: Progress) -> _Steps:
    """Hand the corpus to the compiled kernels. The twin is `_incremental`, which it equals in all it returns."""
    learned = train_compiled(
        corpus.symbols,
        corpus.starts,
        corpus.counts,
        corpus.base.base_symbols,
        tie_break=settings.tie_break,
        asked=settings.most_merges(len(corpus.base.base_symbols)),
        min_pair_count=settings.min_pair_count,
        progress=progress,
    )
    return _Steps(
        learned.left.astype(np.int64),
        learned.right.astype(np.int64),
        learned.pair_count,
        learned.num_tied,
        learned.num_replaced,
        learned.lifetimes,
        _stop_at_limit(settings) if learned.stopped == "asked" else learned.stopped,
    )


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
    num_symbols = len(corpus.symbols)
    # No run can learn more merges than there are boundaries: keeps keys small whatever was asked for.
    width = num_base + min(asked, num_symbols) + 1

    symbol: list[int] = corpus.symbols.tolist()
    after: list[int] = []
    before: list[int] = []
    weight: list[int] = []
    for word, count in zip(corpus.words, corpus.weights, strict=True):
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
    rows: list[_Row] = []
    report_every = max(1, asked // 400)

    for rank in range(asked):
        if rank % report_every == 0 and progress(rank, asked) is False:
            return _steps(rows, lifetimes, "cancelled")
        best = queue.pop()
        if best is None:
            return _steps(rows, lifetimes, "no_pairs")
        pair_count = counts[best]
        if pair_count < settings.min_pair_count:
            return _steps(rows, lifetimes, "min_pair_count")
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
        rows.append((left, right, pair_count, num_tied, replaced))
    return _steps(rows, lifetimes, _stop_at_limit(settings))


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
