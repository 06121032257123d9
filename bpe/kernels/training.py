"""Driver of the training kernels: base symbols of distinct pre-tokens in, merges and lifetimes out.

The twin is `_incremental` in bpe/trainer.py. Read source/merge.py for how it works, and source/texts.py for the
greatest-pair rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bpe.kernels.counting import grown
from bpe.kernels.loader import load

__all__ = ["MOST_OCCURRENCES", "MOST_SYMBOLS", "CompiledSteps", "train_compiled"]

MOST_SYMBOLS = 2**30
"""Symbols of all distinct pre-tokens, and their number, that places of 32 bits can name with room for pairs."""

MOST_OCCURRENCES = 2**62
"""Symbols of the whole corpus that 64-bit counts can hold."""

# Places in the state array and in those of the regions, as in source/merge.py.
_NUM_PAIRS, _THRESHOLD, _NUM_LISTED, _HEAP_SIZE, _LEVEL, _NUM_AT_LEVEL = range(6)
_RANK, _STOP_AT, _NUM_BASE, _RULE, _ROOM_FOR = range(6, 11)
_AT_WORD, _END_WORD, _AT_SYMBOL, _BEGIN, _END, _IS_COMPACT = range(6)

_RULES = {"first-seen": 0, "lowest-ids": 1, "greatest-pair": 2}
_DONE, _QUEUE_EMPTY, _NEEDS_ROOM = range(3)
_FIELDS = 3
_NUM_BUCKETS = (1 << 14) + (50 << 10)

# From so many symbols on, a second thread for the walks over slots pays.
_WORTH_A_THREAD = 1 << 16

# The threshold begins at the highest count divided by 256 and is divided by 32 each time. From 1 to 100 MB, 4 to 5
# bits a step measure the same; beginning at a sixteenth costs one compaction more, for the first forty merges.
_FIRST_SHIFT = 8
_THRESHOLD_SHIFT = 5

Symbols = NDArray[np.uint8] | NDArray[np.int32]
Stopped = Literal["asked", "min_pair_count", "no_pairs", "cancelled"]


@dataclass(frozen=True, eq=False)
class CompiledSteps:
    """Merges as columns, one entry a merge; and int32[num_symbols]: lifetimes of the boundary before each symbol."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    pair_count: NDArray[np.int64]
    num_tied: NDArray[np.int64]
    num_replaced: NDArray[np.int64]
    lifetimes: NDArray[np.int32]
    stopped: Stopped


def train_compiled(
    symbols: Symbols,
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    base_texts: Sequence[bytes],
    *,
    tie_break: Literal["first-seen", "lowest-ids", "greatest-pair"],
    asked: int,
    min_pair_count: int,
    progress: Callable[[int, int], bool | None],
) -> CompiledSteps:
    """Learn merges. `progress(num_done, num_asked)` is called every 1/400 of the way; False stops.

    symbols      base ids of all distinct pre-tokens, one after the other, in corpus order. As uint8 they are bytes,
                 and so are the base tokens: laying those out takes a third of the time
    starts       where each starts, and the end
    counts       how often each occurs
    base_texts   the text of each base token
    """
    run = _Run(symbols, starts, counts, base_texts, tie_break, asked)
    report_every = max(1, asked // 400)
    stopped: Stopped = "asked"
    rank = 0
    while rank < asked:
        if progress(rank, asked) is False:
            stopped = "cancelled"
            break
        target = min(rank + report_every, asked)
        rank = run.merge_until(target, min_pair_count)
        if rank < target:
            stopped = "min_pair_count" if run.has_pairs() else "no_pairs"
            break
    return run.finish(stopped)


class _Run:
    """One training: the arrays of the kernels, and the loop that grows them.

    The slots are divided into two regions. Whatever walks over all of them, laying out, compacting, listing, does
    so in both at once; merging needs one thread.
    """

    def __init__(
        self,
        symbols: Symbols,
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        base_texts: Sequence[bytes],
        tie_break: str,
        asked: int,
    ) -> None:
        self._kernels = load("train")
        self._counts = counts
        num_symbols = len(symbols)
        num_slots = num_symbols + len(counts) + 1
        # Every merge removes a boundary, so there cannot be more merges than boundaries.
        most_merges = min(asked, max(num_symbols - len(counts), 0))
        self._num_base = len(base_texts)
        num_tokens = self._num_base + most_merges

        self._state = np.zeros(11, dtype=np.int64)
        self._state[_NUM_BASE] = self._num_base
        self._state[_RULE] = _RULES[tie_break]
        self._slots = np.empty(_FIELDS * num_slots, dtype=np.int32)
        self._slots[:_FIELDS] = -1  # the wall before the first pre-token
        self._lifetimes = np.empty(num_symbols, dtype=np.int32)
        self._regions = _two_regions(starts)
        self._pool = ThreadPoolExecutor(1) if num_symbols >= _WORTH_A_THREAD else None
        if symbols.dtype == np.uint8:
            # numba, where it stands in for the bitcode, takes no array that is read-only.
            self._lay_out_bytes(symbols if symbols.flags.writeable else symbols.copy(), starts)
        else:
            self._lay_out(symbols, starts)

        self._span = np.ones(num_tokens, dtype=np.int32)
        self._origin = np.empty(num_slots, dtype=np.int32)
        self._places = np.empty(0, dtype=np.int32)
        self._bucket = np.empty(_NUM_BUCKETS, dtype=np.int32)
        self._heap_count = np.empty(1 << 12, dtype=np.int64)
        self._heap_key = np.empty(1 << 12, dtype=np.uint64)
        self._heap_pair = np.empty(1 << 12, dtype=np.int32)
        self._number_left_of = np.full(num_tokens, -1, dtype=np.int32)
        self._number_right_of = np.full(num_tokens, -1, dtype=np.int32)
        self._born_pair = np.empty(1 << 12, dtype=np.int32)
        self._born_place = np.empty(1 << 12, dtype=np.int32)
        self._order_texts(base_texts, num_tokens if tie_break == "greatest-pair" else 0)
        self._left = np.empty(most_merges, dtype=np.int32)
        self._right = np.empty(most_merges, dtype=np.int32)
        self._pair_count_of = np.empty(most_merges, dtype=np.int64)
        self._num_tied = np.empty(most_merges, dtype=np.int64)
        self._num_replaced = np.empty(most_merges, dtype=np.int64)

        num_pairs = int(self._state[_NUM_PAIRS])
        self._most_frequent = int(self._pair_count[:num_pairs].max()) if num_pairs else 0
        self._is_started = False
        self._bound_merge: Callable[[], int] | None = None

    def _in_both_regions(self, *calls: Callable[[], int]) -> None:
        """Run one call for each region, at the same time where that pays."""
        if self._pool is None:
            for call in calls:
                call()
            return
        first, second = calls
        running = self._pool.submit(second)
        first()
        running.result()

    def _lay_out_bytes(self, symbols: Symbols, starts: NDArray[np.int64]) -> None:
        """Fill the slots; the pairs of bytes are numbered in their order."""
        num_pairs = 256 * 256
        self._set_pairs(num_pairs)
        self._state[_NUM_PAIRS] = num_pairs
        numbers = np.arange(num_pairs, dtype=np.int32)
        self._pair_left[:] = numbers >> 8
        self._pair_right[:] = numbers & 255
        self._num_places[:] = 0
        self._last[:] = 0
        counts = np.zeros((2, num_pairs), dtype=np.int64)
        calls = [
            self._kernels["lay_out_bytes"].bind(
                symbols, starts, self._counts, self._slots, self._lifetimes, counts[i], num_places, self._regions[i]
            )
            for i, num_places in enumerate((self._num_places, self._last))
        ]
        self._in_both_regions(*calls)
        self._pair_count[:] = counts[0] + counts[1]

    def _lay_out(self, symbols: Symbols, starts: NDArray[np.int64]) -> None:
        """Fill the slots and number the first pairs, with more room for pairs as often as needed."""
        rows = 1 << 16
        table = np.zeros(2 * rows, dtype=np.uint64)
        self._set_pairs(rows)
        first_region = self._regions[0]
        for region in self._regions:
            first_word = int(region[_AT_WORD])
            num_known = int(self._state[_NUM_PAIRS])
            self._last[:num_known] = 0
            while True:
                outcome = self._kernels["lay_out"](
                    symbols,
                    starts,
                    self._counts,
                    self._slots,
                    self._lifetimes,
                    table,
                    self._pair_left,
                    self._pair_right,
                    self._pair_count,
                    self._num_places if region is first_region else self._last,
                    region,
                    self._state,
                )
                if outcome == _DONE:
                    break
                rows *= 4
                larger = np.zeros(2 * rows, dtype=np.uint64)
                self._kernels["widen_pair_table"](table, larger)
                table = larger
                self._grow_pairs(rows)
            region[_AT_WORD] = first_word  # it tells slots from symbols from now on
        self._num_places[num_known : self._state[_NUM_PAIRS]] = 0  # pairs that the first region does not hold

    def _set_pairs(self, size: int) -> None:
        self._pair_left = np.empty(size, dtype=np.int32)
        self._pair_right = np.empty(size, dtype=np.int32)
        self._pair_count = np.empty(size, dtype=np.int64)
        self._num_places = np.empty(size, dtype=np.int32)
        self._first = np.empty(size, dtype=np.int32)
        self._last = np.empty(size, dtype=np.int32)
        self._following = np.empty(size, dtype=np.int32)

    def _grow_pairs(self, size: int) -> None:
        self._pair_left = grown(self._pair_left, size)
        self._pair_right = grown(self._pair_right, size)
        self._pair_count = grown(self._pair_count, size)
        self._num_places = grown(self._num_places, size)
        self._first = grown(self._first, size)
        self._last = grown(self._last, size)
        self._following = grown(self._following, size)

    def _order_texts(self, base_texts: Sequence[bytes], num_tokens: int) -> None:
        """Set up the order of texts; for other rules than greatest-pair `num_tokens` is 0 and nothing is used."""
        num_base = len(base_texts) if num_tokens else 0
        data = b"".join(base_texts) if num_tokens else b""
        self._texts = np.zeros(len(data) + 4096, dtype=np.uint8)
        self._texts[: len(data)] = np.frombuffer(data, dtype=np.uint8)
        self._text_at = np.zeros(num_tokens + 1, dtype=np.int64)
        self._labels = np.zeros(num_tokens, dtype=np.int64)
        self._tree = np.full(2 * num_tokens + 1, -1, dtype=np.int32)
        self._next_text = np.full(num_tokens + 1, -1, dtype=np.int32)
        self._same_as = np.arange(num_tokens, dtype=np.int32)
        self._spine = np.zeros(64, dtype=np.int64)
        if not num_base:
            return
        self._text_at[1 : num_base + 1] = np.cumsum([len(text) for text in base_texts])
        ordered = np.array(sorted(range(num_base), key=base_texts.__getitem__), dtype=np.int32)
        self._next_text[num_tokens] = ordered[0]
        self._next_text[ordered[:-1]] = ordered[1:]
        self._kernels["order_base_texts"](
            self._labels,
            self._tree,
            self._next_text,
            self._same_as,
            self._spine,
            np.array([num_base], dtype=np.int64),
        )

    def merge_until(self, stop_at: int, min_pair_count: int) -> int:
        """Merge until so many merges are done or no pair is frequent enough; return how many are done."""
        state = self._state
        state[_STOP_AT] = min(stop_at, len(self._left))
        if not self._is_started:
            self._is_started = True
            state[_THRESHOLD] = max(min_pair_count, self._most_frequent >> _FIRST_SHIFT)
            self._list_places()
        while True:
            outcome = self._merge()
            if outcome == _NEEDS_ROOM:
                self._make_room(int(state[_ROOM_FOR]))
                continue
            if outcome == _DONE or state[_THRESHOLD] <= min_pair_count:
                return int(state[_RANK])
            self._lower_threshold(max(min_pair_count, int(state[_THRESHOLD]) >> _THRESHOLD_SHIFT))

    def _merge(self) -> int:
        if self._bound_merge is None:
            self._bound_merge = self._bind_merge()
        return self._bound_merge()

    def _bind_merge(self) -> Callable[[], int]:
        """Fix the arrays of the call: naming 32 of them costs 0.15 ms, which 400 calls would feel."""
        return self._kernels["merge"].bind(
            self._slots,
            self._span,
            self._counts,
            self._pair_left,
            self._pair_right,
            self._pair_count,
            self._num_places,
            self._first,
            self._last,
            self._places,
            self._bucket,
            self._following,
            self._heap_count,
            self._heap_key,
            self._heap_pair,
            self._number_left_of,
            self._number_right_of,
            self._born_pair,
            self._born_place,
            self._texts,
            self._text_at,
            self._labels,
            self._tree,
            self._next_text,
            self._same_as,
            self._spine,
            self._left,
            self._right,
            self._pair_count_of,
            self._num_tied,
            self._num_replaced,
            self._state,
        )

    def _lower_threshold(self, threshold: int) -> None:
        """Compact the slots, and list the places of all pairs that occur so often."""
        self._state[_THRESHOLD] = threshold
        self._bound_merge = None
        self._places = np.empty(0, dtype=np.int32)  # after the slots the largest array: not twice at a time
        calls = [
            self._kernels["compact"].bind(
                self._slots,
                self._span,
                self._origin,
                self._lifetimes,
                self._pair_count,
                num_places,
                region,
                self._state,
            )
            for region, num_places in zip(self._regions, (self._num_places, self._last), strict=True)
        ]
        self._in_both_regions(*calls)
        self._span[:] = 1
        self._list_places()

    def _list_places(self) -> None:
        """Queue the pairs at or above the threshold and list their places, which both regions have counted."""
        self._kernels["queue_pairs"](
            self._pair_count,
            self._num_places,
            self._first,
            self._last,
            self._bucket,
            self._following,
            self._state,
        )
        num_listed = int(self._state[_NUM_LISTED])
        self._places = np.empty(num_listed + num_listed // 4 + 1024, dtype=np.int32)
        calls = [
            self._kernels["list_places"].bind(self._slots, self._first, free, self._places, region)
            for region, free in zip(self._regions, (self._num_places, self._last), strict=True)
        ]
        self._in_both_regions(*calls)

    def _make_room(self, room_for: int) -> None:
        """Make room for a pair with so many occurrences on both sides; and some more."""
        self._bound_merge = None
        state = self._state
        most_new = min(room_for, 2 * (self._num_base + int(state[_RANK]) + 1))
        pairs = int(state[_NUM_PAIRS]) + most_new
        if pairs > len(self._pair_count):
            self._grow_pairs(2 * pairs)
        places = int(state[_NUM_LISTED]) + room_for
        if places > len(self._places):
            self._places = grown(self._places, places + len(self._places) // 8)
        heap = int(state[_HEAP_SIZE]) + room_for
        if heap > len(self._heap_pair):
            size = heap + len(self._heap_pair) // 2
            self._heap_count = grown(self._heap_count, size)
            self._heap_key = grown(self._heap_key, size)
            self._heap_pair = grown(self._heap_pair, size)
        if room_for > len(self._born_pair):
            self._born_pair = np.empty(2 * room_for, dtype=np.int32)
            self._born_place = np.empty(2 * room_for, dtype=np.int32)
        if state[_RULE] == _RULES["greatest-pair"]:
            # A new text is at most twice the longest one before.
            at = self._text_at[: self._num_base + int(state[_RANK]) + 1]
            needed = int(at[-1]) + 2 * int(np.diff(at).max())
            if needed > len(self._texts):
                self._texts = grown(self._texts, needed + len(self._texts) // 2)

    def has_pairs(self) -> bool:
        """Tell whether any pair is left, however rare."""
        return bool((self._pair_count[: self._state[_NUM_PAIRS]] > 0).any())

    def finish(self, stopped: Stopped) -> CompiledSteps:
        """Return what was learned."""
        self._bound_merge = None
        calls = [
            self._kernels["read_lifetimes"].bind(self._slots, self._span, self._origin, self._lifetimes, region)
            for region in self._regions
        ]
        self._in_both_regions(*calls)
        if self._pool is not None:
            self._pool.shutdown()
        num_merges = int(self._state[_RANK])
        return CompiledSteps(
            left=self._left[:num_merges],
            right=self._right[:num_merges],
            pair_count=self._pair_count_of[:num_merges],
            num_tied=self._num_tied[:num_merges],
            num_replaced=self._num_replaced[:num_merges],
            lifetimes=self._lifetimes,
            stopped=stopped,
        )


def _two_regions(starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Divide the pre-tokens into two regions with about the same number of symbols."""
    num_words = len(starts) - 1
    middle = int(np.searchsorted(starts, starts[-1] // 2))
    regions = []
    for first_word, end_word in ((0, middle), (middle, num_words)):
        region = np.zeros(6, dtype=np.int64)
        region[_AT_WORD] = first_word
        region[_END_WORD] = end_word
        region[_AT_SYMBOL] = starts[first_word]
        region[_BEGIN] = region[_END] = starts[first_word] + first_word + 1
        regions.append(region)
    return regions[0], regions[1]
