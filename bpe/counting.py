"""Pre-token counts of texts and files: what training starts from.

`PreTokenCounts` keeps distinct pre-tokens as flat arrays: a dict of strings would take ten times the memory, and
training does not need one. Texts can be cut into blocks where no pre-token of the split pattern can cross: counting
the blocks and adding up gives the same counts.

It leaves out the reading of files, and what spreads it over processes and machines: read file_parts.py next, then
counting_files.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.kernels.counting import PADDING, SCANNED_SPLITS, CompiledCounter
from bpe.kernels.loader import is_ready
from bpe.pretokenize import count_pre_tokens

__all__ = ["BLOCK_BYTES", "PreTokenCounts", "Tally", "can_cut", "count_text", "last_cut"]

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, eq=False)
class PreTokenCounts(Mapping[str, int]):
    """Distinct pre-tokens in order of first occurrence, with counts. Reads like a dict of str -> int.

    store    uint8[num_bytes]: their UTF-8, one after the other
    offsets  int64[num_pre_tokens + 1]: where each starts in `store`, and the end
    counts   int64[num_pre_tokens]

    >>> counts = PreTokenCounts.from_mapping({"low": 2, "né": 1})
    >>> counts.offsets.tolist(), dict(counts)
    ([0, 3, 6], {'low': 2, 'né': 1})
    """

    store: NDArray[np.uint8] = field(repr=False)
    offsets: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)

    @classmethod
    def from_mapping(cls, counts: Mapping[str, int]) -> PreTokenCounts:
        """Return the same counts as arrays."""
        text = "".join(counts)
        data = text.encode()
        if len(data) == len(text):
            lengths = np.fromiter(map(len, counts), dtype=np.int64, count=len(counts))
        else:
            lengths = np.fromiter((len(word.encode()) for word in counts), dtype=np.int64, count=len(counts))
        return cls(
            np.frombuffer(data, dtype=np.uint8),
            np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
            np.fromiter(counts.values(), dtype=np.int64, count=len(counts)),
        )

    @cached_property
    def _as_dict(self) -> dict[str, int]:
        return dict(zip(self, self.counts.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[str]:
        data = self.store.tobytes()
        at = self.offsets.tolist()
        return (data[start:end].decode() for start, end in pairwise(at))

    def __getitem__(self, pre_token: str) -> int:
        return self._as_dict[pre_token]


class Tally:
    """Adds up counts in order: the first occurrence of a pre-token gives it its place.

    >>> tally = Tally()
    >>> tally.add(PreTokenCounts.from_mapping({"b": 1, "a": 1}))
    >>> tally.add(PreTokenCounts.from_mapping({"c": 1, "a": 5}))
    >>> dict(tally.result())
    {'b': 1, 'a': 6, 'c': 1}
    """

    def __init__(self) -> None:
        self._only: PreTokenCounts | None = None
        self._counter = CompiledCounter("none") if is_ready("count") else None
        self._sums: dict[str, int] = {}
        self._num_added = 0

    def add(self, counts: PreTokenCounts) -> None:
        """Add the counts of the part that follows what was added before."""
        self._num_added += 1
        if self._num_added == 1:  # a single part is the result as it stands
            self._only = counts
            return
        if self._only is not None:
            self._add(self._only)
            self._only = None
        self._add(counts)

    def _add(self, counts: PreTokenCounts) -> None:
        if self._counter is not None:
            self._counter.take_over(counts.store, counts.offsets, counts.counts)
            return
        sums = self._sums
        for pre_token, count in zip(counts, counts.counts.tolist(), strict=True):
            sums[pre_token] = sums.get(pre_token, 0) + count

    def result(self) -> PreTokenCounts:
        """Return the sums."""
        if self._only is not None:
            return self._only
        if self._counter is not None:
            return PreTokenCounts(*self._counter.result())
        return PreTokenCounts.from_mapping(self._sums)


def count_text(text: str, split: str, *, compiled: bool) -> PreTokenCounts:
    """Return the pre-token counts of a text.

    compiled   use the compiled scanner where the pattern has one; the counts are the same

    >>> dict(count_text("low low lower", "gpt2", compiled=False))
    {'low': 1, ' low': 1, ' lower': 1}
    """
    if not compiled or split not in SCANNED_SPLITS:
        return PreTokenCounts.from_mapping(count_pre_tokens(text, split))
    data = text.encode()
    counter = CompiledCounter(split, len(data))
    buffer = np.zeros(BLOCK_BYTES + PADDING, dtype=np.uint8)
    start = 0
    while start < len(data):
        size = min(BLOCK_BYTES, len(data) - start)
        if start + size < len(data):
            size = last_cut(memoryview(data)[start : start + size], split)
        if size == 0:  # no place to cut: take all that is left
            size = len(data) - start
            buffer = np.zeros(size + PADDING, dtype=np.uint8)
        buffer[:size] = np.frombuffer(data, dtype=np.uint8, count=size, offset=start)
        buffer[size : size + PADDING] = 0
        counter.add(buffer, 0, size)
        start += size
    return PreTokenCounts(*counter.result())


# ---------------------------------------------------------------------------------------------- cutting


@lru_cache(maxsize=1)
def _cuts() -> dict[str, regex.Pattern[str]]:
    """Split pattern -> where its pre-tokens surely end, whatever stands around; searched from the right.

    No pre-token of the patterns of GPT-2 and its successors holds a space after anything but a space. And
    after a letter they go on with letters, marks (o200k) and contractions only.
    """
    of_models = regex.compile(r"(?r)(?<=\S) |(?<=\p{L})[^\p{L}\p{M}']")
    of_space = regex.compile(r"(?r)(?<=\S)\s|(?<=\s)\S")
    return {**dict.fromkeys(("gpt2", "cl100k", "llama3", "o200k", "digits"), of_models), "whitespace": of_space}


def can_cut(split: str) -> bool:
    """Tell whether texts can be cut for this pattern. A reader's own pattern may look anywhere, so it needs all."""
    return split in _cuts()


def last_cut(data: memoryview | bytes, split: str) -> int:
    """Return the last place in the bytes where surely no pre-token crosses; 0 where there is none.

    The bytes are valid UTF-8, but may end inside a character. Bytes that are not count as characters of no class.

    >>> last_cut(b"one two three", "gpt2"), last_cut("東京、".encode() + b"......", "gpt2"), last_cut(b"111111", "gpt2")
    (7, 6, 0)
    """
    pattern = _cuts()[split]
    end = len(data) - 4  # what follows the cut must be whole
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    window = 1 << 10
    while end > 0:
        start = max(0, end - window)
        while start < end and data[start] & 0xC0 == 0x80:
            start += 1
        text = bytes(data[start:end]).decode("utf-8", "surrogateescape")
        found = pattern.search(text)
        if found:
            return start + len(text[: found.start()].encode("utf-8", "surrogateescape"))
        if window >= end:
            break
        window *= 8
    return 0
