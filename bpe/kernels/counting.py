"""Driver of the counting kernels: bytes in, distinct pre-tokens with counts out.

The twin is `count_pre_tokens`. Patterns that have a scanner are those of `SCANNED_SPLITS`; for any other one the
`regex` module splits, and only the adding up of counts is done here. Read source/count.py for how.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe.kernels.classes import class_table
from bpe.kernels.loader import cache_line_zeros, load

__all__ = ["CHUNK_BYTES", "PADDING", "SCANNED_SPLITS", "CompiledCounter", "first_bad_byte", "grown", "padded"]

SCANNED_SPLITS: Final = {"gpt2": 0, "cl100k": 1, "llama3": 2, "o200k": 3}
"""Split patterns that have a scanner, with the scanner's number (source/scan.py)."""

PADDING = 80
"""How many zero bytes the kernels need behind a text."""

CHUNK_BYTES = 4096
_BATCH = 64
_ROW = 4
_FEWEST_ROWS = 1 << 14
_BYTES_PER_ROW = 20  # 5 MB of mixed text hold 110,000 distinct pre-tokens, and want 150,000 rows
_MOST_ROWS_AHEAD = 1 << 18

# How full the table may be; fuller where counts are only taken over, once, before it goes.
_FULLEST = 3 / 4
_FULLEST_AT_LAST = 7 / 8
_TAKEN_AT_ONCE = 1 << 15

# Places in the state array, as in source/count.py.
_AT, _END, _PATTERN, _NUM_WORDS, _NUM_BYTES = range(5)


def padded(data: bytes | NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the bytes as an array, with the zeros behind them that the kernels need."""
    buffer = np.zeros(len(data) + PADDING, dtype=np.uint8)
    buffer[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def first_bad_byte(buffer: NDArray[np.uint8], start: int, end: int) -> int:
    """Return where the first byte of buffer[start:end] is that cannot be UTF-8; `end` where there is none.

    >>> first_bad_byte(padded(b"caf\\xe9 noir"), 0, 9)
    3
    """
    state = np.array([start, end], dtype=np.int64)
    return load("count")["valid_until"](buffer, state)


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a longer copy; what is new is not initialized."""
    larger = np.empty(size, dtype=array.dtype)
    larger[: len(array)] = array
    return larger


class CompiledCounter:
    """Counts pre-tokens of many buffers into one table. One thread at a time may use it.

    First `add` buffers, then `take_over` or `absorb` other counts, then ask for the `result`: once counts have been
    read out of the table they are kept beside it.

    split          a name of SCANNED_SPLITS; any other, for a counter that only takes over other counts
    num_expected   how many bytes come, so that the table need not grow from the smallest size
    """

    def __init__(self, split: str, num_expected: int = 0) -> None:
        self._kernels = load("count")
        self._classes = class_table("regex", split == "o200k")
        rows = _FEWEST_ROWS
        while rows < min(num_expected // _BYTES_PER_ROW, _MOST_ROWS_AHEAD):
            rows *= 2
        self._table: NDArray[np.uint64] = cache_line_zeros(_ROW * rows, np.uint64)
        self._store = np.empty(1 << 18, dtype=np.uint8)
        self._offsets = np.zeros(1 << 15, dtype=np.int64)
        self._keys = np.empty(3 * _BATCH, dtype=np.uint64)
        self._words = np.zeros(CHUNK_BYTES // 64 + 2, dtype=np.uint64)
        self._starts = np.empty(CHUNK_BYTES + 2, dtype=np.int32)
        self._state = np.zeros(5, dtype=np.int64)
        self._state[_PATTERN] = SCANNED_SPLITS.get(split, 0)
        self._counts: NDArray[np.int64] | None = None

    def add(self, buffer: NDArray[np.uint8], start: int, end: int) -> None:
        """Count the text buffer[start:end], valid UTF-8 that begins and ends between two pre-tokens.

        The buffer ends in PADDING zero bytes, and end - start is below 2^31.
        """
        assert self._counts is None, "counts have been read out already"
        state = self._state
        state[_AT] = start
        state[_END] = end
        self._make_room(CHUNK_BYTES, 0)
        while True:
            self._kernels["count"](
                buffer,
                self._classes,
                self._table,
                self._store[:-PADDING],  # `absorb` reads that far behind
                self._offsets,
                self._keys,
                self._words,
                self._starts,
                state,
            )
            if state[_AT] == end:
                return
            if not self._make_room(CHUNK_BYTES, 0):
                self._store = grown(self._store, 2 * len(self._store))

    def read_out(self) -> NDArray[np.int64]:
        """Read the counts out of the table: the last thing that can be done beside other threads. Returns them."""
        num_words = int(self._state[_NUM_WORDS])
        if self._counts is None:
            self._counts = np.empty(num_words, dtype=np.int64)
            self._kernels["read_counts"](self._table, self._counts)
        return self._counts[:num_words]

    def take_over(self, store: NDArray[np.uint8], offsets: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Add other counts: pre-tokens seen before get theirs added, new ones follow in their order."""
        self._take_over(padded(store), offsets, counts)

    def absorb(self, other: CompiledCounter) -> None:
        """Do the same with another counter's, without a copy."""
        counts = other.read_out()
        self._take_over(other._store, other._offsets[: len(counts) + 1], counts)

    def _take_over(self, store: NDArray[np.uint8], offsets: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Add counts; `store` has PADDING bytes behind the last one."""
        own = self.read_out()
        if self._counts is None or len(own) + len(counts) > len(self._counts):
            self._counts = grown(own, 2 * (len(own) + len(counts)))
        for begin in range(0, len(counts), _TAKEN_AT_ONCE):  # most of them are known: no room for all is needed
            end = min(begin + _TAKEN_AT_ONCE, len(counts))
            self._make_room(end - begin, int(offsets[end] - offsets[begin]), _FULLEST_AT_LAST)
            self._kernels["take_over"](
                self._table,
                self._store,
                self._offsets,
                self._counts,
                store,
                offsets[begin : end + 1],
                counts[begin:end],
                self._keys,
                self._state,
            )

    def result(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """Return (bytes of the distinct pre-tokens, where each starts and the end, counts), in order of first
        occurrence. They are the counter's own arrays: nothing can be added any more."""
        counts = self.read_out()
        return self._store[: self._state[_NUM_BYTES]], self._offsets[: len(counts) + 1], counts

    def _make_room(self, num_words: int, num_bytes: int, fullest: float = _FULLEST) -> bool:
        """Make room for more pre-tokens and bytes; tell whether anything had to grow."""
        words = int(self._state[_NUM_WORDS]) + num_words
        size = int(self._state[_NUM_BYTES]) + num_bytes + PADDING
        has_grown = False
        rows = len(self._table) // _ROW
        if words > fullest * rows:
            while words > fullest * rows:
                rows *= 2
            larger = cache_line_zeros(_ROW * rows, np.uint64)
            self._kernels["rehash"](self._table, larger)
            self._table = larger
            has_grown = True
        if words + 1 > len(self._offsets):
            self._offsets = grown(self._offsets, 2 * words)
            has_grown = True
        if size > len(self._store):
            self._store = grown(self._store, max(size, 2 * len(self._store)))
            has_grown = True
        return has_grown
