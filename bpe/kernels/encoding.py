"""Driver of the encoding kernels: text in, token ids out, with the lifetimes of all boundaries where asked for.

The twins are `encode` and `rank_lifetimes` in bpe/encoder.py, together with `split`. Read source/encode.py for how.
`CompiledEncoder` takes a whole text and serves byte tokenizers whose split pattern has a scanner; `CompiledMerges`
takes pre-tokens as symbols and serves all others.

Both may be used by several threads at once: they take turns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.errors import CorpusError
from bpe.kernels.classes import ClassSource, class_table
from bpe.kernels.counting import CHUNK_BYTES, PADDING, SCANNED_SPLITS, grown, padded
from bpe.kernels.loader import cache_line_zeros, load
from bpe.lifetimes import WALL

__all__ = ["CompiledEncoder", "CompiledMerges", "RecordedText"]

# Places in the state array, as in source/encode.py.
_AT, _END, _PATTERN, _NUM_ROWS, _NUM_STORED, _NUM_LISTED, _NUM_OUT, _NUM_PIECES, _NUM_EXTRA = range(9)
_IS_RECORDING, _KEEPS_YOUNGEST, _LONGEST_TOKEN, _ROOM_FOR = range(9, 13)
_DONE, _NEEDS_WORK, _NEEDS_EXTRA = range(3)

_ROW = 4
_BATCH = 32
_SHORT = 64
_WORK_PER_SYMBOL = 14

# Python keeps small integers; for others a list of ids costs an allocation each. One object per id halves the
# time of making a list, and is worth its memory for vocabularies up to this size.
_MOST_SHARED_INTS = 1 << 20

_MOST_BYTES = 2**31

_NOTHING: NDArray[np.int32] = np.empty(0, dtype=np.int32)


class _Pairs:
    """The table of pairs: (left id, right id) -> id of the token that they make."""

    def __init__(
        self, left: NDArray[np.int32], right: NDArray[np.int32], token: NDArray[np.int32], is_base: NDArray[np.bool_]
    ) -> None:
        """Enter the pairs; of equal ones the last counts. is_base: bool[num_ids], tokens that no merge makes."""
        rows = 1 << 10
        while rows < 2 * len(token):
            rows *= 2
        self.table: NDArray[np.uint64] = cache_line_zeros(2 * rows + rows // 16, np.uint64)  # with the filter
        load("encode")["enter_pairs"](left, right, token, self.table)
        # A token that is made after one with a higher id: then lifetimes need a look at both sides.
        late = ((left > token) & ~is_base[left]) | ((right > token) & ~is_base[right])
        self.keeps_youngest = bool(late.any())
        self.heads = np.full(len(is_base), -1, dtype=np.int32)


class CompiledMerges:
    """Replays merges over pre-tokens that are given as base ids.

    merges      pairs of ids; the merge of rank r makes the token num_base + r
    """

    def __init__(self, merges: Sequence[tuple[int, int]], num_base: int) -> None:
        self._kernel = load("encode")["replay"]
        self._num_base = num_base
        self._lock = threading.Lock()
        self._pairs = _merge_list_pairs(merges, num_base)

    def replay(
        self, symbols: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """Return (ids, where those of each pre-token end, lifetimes).

        symbols    int32: the base ids of all pre-tokens, one after the other; negative for unknown ones
        starts     int64[num_pre_tokens + 1]: where each starts, and the end
        lifetimes  int32[num_symbols]: merge rank of the boundary after each symbol; NEVER at a pre-token's end
        """
        longest = int(np.diff(starts).max(initial=_SHORT))
        out = np.empty(len(symbols), dtype=np.int32)
        ends = np.empty(len(starts) - 1, dtype=np.int64)
        lifetimes = np.empty(len(symbols), dtype=np.int32)
        state = np.zeros(13, dtype=np.int64)
        state[_KEEPS_YOUNGEST] = self._pairs.keeps_youngest
        with self._lock:  # the heads are scratch, too
            self._kernel(
                symbols,
                starts,
                self._pairs.table,
                np.empty(_SHORT, dtype=np.int32),
                np.empty(_SHORT, dtype=np.int32),
                np.empty(_SHORT, dtype=np.int32),
                np.empty(_WORK_PER_SYMBOL * longest, dtype=np.int32),
                self._pairs.heads,
                np.empty(3 * longest, dtype=np.int32),
                out,
                ends,
                lifetimes,
                state,
            )
        return out[: state[_NUM_OUT]], ends, _ranks_of_ids(lifetimes, self._num_base)

    def replay_lists(self, pre_tokens: Sequence[Sequence[int]]) -> list[tuple[list[int], list[int]]]:
        """Return (ids, lifetimes of the boundaries) of each pre-token, as `bpe.encoder.encode` does."""
        starts = np.concatenate(
            (np.zeros(1, np.int64), np.cumsum([len(piece) for piece in pre_tokens], dtype=np.int64))
        )
        symbols = np.array([symbol for piece in pre_tokens for symbol in piece], dtype=np.int32)
        ids, ends, lifetimes = self.replay(symbols, starts)
        listed_ids, listed_lifetimes = ids.tolist(), lifetimes.tolist()
        at, id_at = starts.tolist(), [0, *ends.tolist()]
        return [
            (listed_ids[id_at[i] : id_at[i + 1]], listed_lifetimes[at[i] : max(at[i + 1] - 1, at[i])])
            for i in range(len(pre_tokens))
        ]


def _merge_list_pairs(merges: Sequence[tuple[int, int]], num_base: int) -> _Pairs:
    pairs = np.array(merges, dtype=np.int32).reshape(-1, 2)
    token = np.arange(num_base, num_base + len(pairs), dtype=np.int32)
    is_base = np.arange(num_base + len(pairs)) < num_base
    return _Pairs(pairs[:, 0].copy(), pairs[:, 1].copy(), token, is_base)


def _ranks_of_ids(lifetimes: NDArray[np.int32], num_base: int) -> NDArray[np.int32]:
    """Turn lifetimes from ids of tokens to ranks of merges, in place."""
    lifetimes[lifetimes < WALL] -= num_base  # WALL and NEVER are no ids
    return lifetimes


@dataclass(frozen=True, eq=False)
class RecordedText:
    """A text that was encoded while lifetimes were recorded; they are copied out where somebody looks.

    ids         int32[num_tokens]
    piece_ends  int32[num_pre_tokens]: the byte where each pre-token ends
    """

    ids: NDArray[np.int32]
    piece_ends: NDArray[np.int32]
    _piece_lines: NDArray[np.int32] = field(repr=False)
    _lines: NDArray[np.int32] = field(repr=False)
    _extra: NDArray[np.int32] = field(repr=False)

    def lifetimes(self, first: int = 0, last: int | None = None) -> NDArray[np.int32]:
        """Return what becomes of the boundary after each byte, for pre-tokens first to last (not included).

        int32[num_bytes]: the id of the token whose making removes it; NEVER where none does; WALL at the end of
        a pre-token.
        """
        ends = self.piece_ends[first:last]
        start = int(self.piece_ends[first - 1]) if first else 0
        out = np.empty(int(ends[-1]) - start if len(ends) else 0, dtype=np.int32)
        state = np.zeros(13, dtype=np.int64)
        state[_AT] = start
        load("encode")["expand"](ends, self._piece_lines[first:last], self._lines, self._extra, out, state)
        return out


class CompiledEncoder:
    """Encodes texts with a byte tokenizer whose split pattern has a scanner (SCANNED_SPLITS).

    Make one with `from_merges` or `from_ranks`. The piece cache has a fixed number of rows and is never larger.
    """

    def __init__(
        self,
        pairs: _Pairs,
        base_ids: NDArray[np.int32],
        split: str,
        classes: ClassSource,
        cache_rows: int,
    ) -> None:
        self._kernels = load("encode")
        self._lock = threading.Lock()
        self._base_ids = base_ids
        self._classes = class_table(classes, split == "o200k")
        self._table: NDArray[np.uint64] = cache_line_zeros(_ROW * cache_rows, np.uint64)
        self._store = np.empty(8 * cache_rows, dtype=np.uint8)
        self._lines = np.empty(8 * cache_rows + _SHORT, dtype=np.int32)
        self._listed = np.empty(4 * cache_rows, dtype=np.int32)
        self._state = np.zeros(13, dtype=np.int64)
        self._state[_PATTERN] = SCANNED_SPLITS[split]
        self._set_pairs(pairs)
        self._buffer = np.zeros(4096 + PADDING, dtype=np.uint8)
        self._out = np.empty(4096 + 3, dtype=np.int32)
        self._pieces = np.empty((2, 0), dtype=np.int32)  # where pre-tokens end, and where their lines are
        self._extra = np.empty(1 << 14, dtype=np.int32)
        self._work = np.empty(_WORK_PER_SYMBOL * 256, dtype=np.int32)
        self._heap = np.empty(3 * 256, dtype=np.int32)
        self._scratch: tuple[NDArray[Any], ...] = (
            np.empty(_BATCH + 1, dtype=np.int64),
            np.empty(3 * _BATCH, dtype=np.uint64),
            *(np.empty(_SHORT, dtype=np.int32) for _ in range(3)),
        )
        self._words = np.zeros(CHUNK_BYTES // 64 + 2, dtype=np.uint64)
        self._scanned = np.empty(CHUNK_BYTES + 2, dtype=np.int32)
        self._bound: Callable[[], int] | None = None
        num_ids = len(pairs.heads)
        self._ints = np.array(range(num_ids), dtype=object) if num_ids <= _MOST_SHARED_INTS else None

    def _set_pairs(self, pairs: _Pairs) -> None:
        self._pairs = pairs
        self._state[_KEEPS_YOUNGEST] = pairs.keeps_youngest
        self._byte_pairs = np.empty(1 << 16, dtype=np.int32)
        self._kernels["list_byte_pairs"](self._base_ids, pairs.table, self._byte_pairs)

    @classmethod
    def from_merges(
        cls, merges: Sequence[tuple[int, int]], split: str, *, classes: ClassSource = "regex", cache_rows: int = 1 << 17
    ) -> CompiledEncoder:
        """Return the encoder of a merge list over the 256 bytes: the merge of rank r makes the token 256 + r."""
        return cls(_merge_list_pairs(merges, 256), np.arange(256, dtype=np.int32), split, classes, cache_rows)

    @classmethod
    def from_ranks(
        cls, ranks: Mapping[bytes, int], split: str, *, classes: ClassSource = "tiktoken", cache_rows: int = 1 << 19
    ) -> CompiledEncoder:
        """Return the encoder of a rank table that holds all single bytes, as tiktoken encodes with it.

        classes   tiktoken, to split as tiktoken does; regex, as `split` does
        """
        data, offsets, ids = _flat_tokens(ranks)
        while cache_rows < 4 * len(ids):
            cache_rows *= 2
        num_ids = int(ids.max()) + 1
        base_ids = np.array([ranks[bytes([byte])] for byte in range(256)], dtype=np.int32)
        is_base = np.zeros(num_ids, dtype=np.bool_)
        is_base[base_ids] = True

        # The piece cache, filled with the tokens, also tells which of them are made of two others.
        nothing = np.zeros(0, dtype=np.int32)
        encoder = cls(_Pairs(nothing, nothing, nothing, is_base), base_ids, split, classes, cache_rows)
        room = len(data)
        if len(encoder._store) < 2 * room:
            encoder._store = np.empty(2 * room, dtype=np.uint8)
            encoder._lines = np.empty(2 * room + _SHORT, dtype=np.int32)
        encoder._kernels["enter_tokens"](data, offsets, ids, encoder._table, encoder._store, encoder._state)
        encoder._state[_LONGEST_TOKEN] = int(np.diff(offsets).max())
        left, right, token = (np.empty(room, dtype=np.int32) for _ in range(3))
        found = encoder._kernels["find_pairs"](data, offsets, ids, encoder._table, encoder._store, left, right, token)
        encoder._set_pairs(_Pairs(left[:found].copy(), right[:found].copy(), token[:found].copy(), is_base))
        return encoder

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text as a list."""
        ids = self.encode_array(text.encode())
        return self._as_list(ids)

    def _as_list(self, ids: NDArray[np.int32]) -> list[int]:
        listed: list[int] = ids.tolist() if self._ints is None else self._ints[ids.astype(np.intp)].tolist()
        return listed

    def encode_array(self, data: bytes) -> NDArray[np.int32]:
        """Return the token ids of a text, given in valid UTF-8, as int32[num_tokens]."""
        with self._lock:
            self._run(data, is_recording=False)
            return self._out[: self._state[_NUM_OUT]].copy()

    def record(self, data: bytes) -> RecordedText:
        """Return the token ids of a text, and where its lifetimes are.

        Raises:
            CorpusError: the text has 2^31 bytes or more.
        """
        if len(data) >= _MOST_BYTES:
            raise CorpusError(
                f"a text must have fewer than {_MOST_BYTES:,} bytes, but has {len(data):,}: encode it in parts"
            )
        with self._lock:
            if self._pieces.shape[1] < len(data) + 3:
                self._pieces = np.empty((2, len(data) + len(data) // 4 + 3), dtype=np.int32)
                self._bound = None
            self._run(data, is_recording=True)
            piece_ends, piece_lines = self._pieces[:, : self._state[_NUM_PIECES]].copy()
            num_extra = int(self._state[_NUM_EXTRA])
            return RecordedText(
                ids=self._out[: self._state[_NUM_OUT]].copy(),
                piece_ends=piece_ends,
                _piece_lines=piece_lines,
                _lines=self._lines,  # grows at its end only, so what is there stays
                _extra=self._extra[:num_extra].copy() if num_extra else _NOTHING,
            )

    def record_list(self, text: str) -> tuple[list[int], RecordedText]:
        """Return the token ids of a text as a list, and the recording."""
        recorded = self.record(text.encode())
        return self._as_list(recorded.ids), recorded

    def _run(self, data: bytes, *, is_recording: bool) -> None:
        size = len(data)
        if size + PADDING > len(self._buffer):
            self._buffer = np.zeros(size + size // 4 + PADDING, dtype=np.uint8)
            self._out = np.empty(len(self._buffer), dtype=np.int32)
            self._bound = None
        self._buffer[:size] = np.frombuffer(data, dtype=np.uint8)
        self._buffer[size : size + PADDING] = 0
        state = self._state
        state[_AT] = 0
        state[_END] = size
        state[_NUM_OUT] = state[_NUM_PIECES] = state[_NUM_EXTRA] = 0
        state[_IS_RECORDING] = is_recording
        while True:
            if self._bound is None:
                self._bound = self._bind()
            outcome = self._bound()
            if outcome == _DONE:
                return
            room_for = int(state[_ROOM_FOR])
            if outcome == _NEEDS_WORK:
                self._work = np.empty(_WORK_PER_SYMBOL * room_for, dtype=np.int32)
                self._heap = np.empty(3 * room_for, dtype=np.int32)
            else:
                self._extra = grown(self._extra, int(state[_NUM_EXTRA]) + room_for + len(self._extra) // 2)
            self._bound = None

    def _bind(self) -> Callable[[], int]:
        return self._kernels["encode"].bind(
            self._buffer,
            self._classes,
            self._base_ids,
            self._byte_pairs,
            self._pairs.table,
            self._table,
            self._store,
            self._lines,
            self._listed,
            *self._scratch,
            self._work,
            self._pairs.heads,
            self._heap,
            self._out,
            *self._pieces,
            self._extra,
            self._words,
            self._scanned,
            self._state,
        )

    @property
    def num_cached(self) -> int:
        """Pre-tokens in the cache, a rank table's own tokens included."""
        return int(self._state[_NUM_ROWS])


def _flat_tokens(ranks: Mapping[bytes, int]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
    """Return (padded bytes of all tokens, where each starts and the end, ids)."""
    data = padded(b"".join(ranks))
    lengths = np.fromiter(map(len, ranks), dtype=np.int64, count=len(ranks))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return data, offsets, np.fromiter(ranks.values(), dtype=np.int32, count=len(ranks))
