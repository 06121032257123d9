"""Byte-pair encoding as it began: compressing bytes.

Philip Gage (1994), "A New Algorithm for Data Compression", The C Users Journal 12(2), pages 23-38. Replace
the most frequent pair of bytes by a byte value that does not occur, note the replacement in a table, repeat
until no byte value is free or no pair is frequent enough. Tokenizers kept the loop and dropped the limit:
their new symbols are numbers beyond the bytes (trainer.py).

Departures from the article: it compresses a file in blocks, each with its own table; here the data is one
block. A pair counts as often as it would be replaced (`aaa` holds one of `aa`), so the count is what a pass
saves; of equally frequent pairs the first in the data is taken. Free byte values are used from 255 down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bpe.errors import CorpusError, FormatError, SettingsError

__all__ = ["Compressed", "Pass", "compress_pairs", "expand_pairs"]

ENTRY_BYTES = 3
"""What a row of the table takes: the code, and the two bytes that it stands for."""

_MOST_EXPANDED = 2**30

Stopped = Literal["no_free_byte", "no_gain"]


class Pass(NamedTuple):
    """One replacement."""

    code: int
    """The byte value that was free, and now stands for the pair."""
    left: int
    right: int
    num_replaced: int
    """Pairs replaced: each makes the data one byte shorter."""
    num_bytes: int
    """Length of the data after this pass, without the table."""
    num_tied: int
    """Other pairs that would have been replaced as often."""

    @property
    def num_saved(self) -> int:
        """Bytes saved, the row in the table counted: negative where the row costs more than it saves."""
        return self.num_replaced - ENTRY_BYTES


@dataclass(frozen=True)
class Compressed:
    """Compressed data and the table to expand it, in the order in which the replacements were made.

    stopped   no_free_byte: every byte value is in use; no_gain: no pair is frequent enough
    """

    data: bytes
    table: tuple[tuple[int, int, int], ...]
    """(code, left, right) a row."""
    passes: tuple[Pass, ...]
    stopped: Stopped

    @property
    def num_bytes(self) -> int:
        """Bytes of data and table together."""
        return len(self.data) + ENTRY_BYTES * len(self.table)


def compress_pairs(data: bytes, *, min_replaced: int = 2) -> Compressed:
    """Compress a byte string by pairs. Cost: a look at all of the data a pass, at most 256 passes.

    min_replaced  a pass must replace so many pairs. 2: any pair that repeats, as textbooks do it;
                  4: only where the pair's row in the table pays for itself (it takes 3 bytes).

    Raises:
        CorpusError: the data is not a byte string.
        SettingsError: `min_replaced` is below 1.

    >>> compressed = compress_pairs(b"aaabdaaabac")
    >>> [(bytes([step.left, step.right]), step.num_replaced, step.num_bytes) for step in compressed.passes]
    [(b'aa', 2, 9), (b'\\xffa', 2, 7), (b'\\xfeb', 2, 5)]
    >>> compressed.data, compressed.num_bytes
    (b'\\xfdd\\xfdac', 14)
    """
    if not isinstance(data, bytes | bytearray):
        raise CorpusError(f"the data must be bytes, but is {type(data).__name__}; encode a text first")
    if min_replaced < 1:
        raise SettingsError(f"min_replaced must be at least 1, but is {min_replaced}")
    data = bytes(data)
    in_use = set(data)
    free = [code for code in range(256) if code not in in_use]
    passes: list[Pass] = []
    while free:
        found = _most_frequent(data)
        if found is None or found[1] < min_replaced:
            break
        pair, num_replaced, num_tied = found
        code = free.pop()
        data = data.replace(pair, bytes([code]))
        passes.append(Pass(code, pair[0], pair[1], num_replaced, len(data), num_tied))
    table = tuple((step.code, step.left, step.right) for step in passes)
    return Compressed(data, table, tuple(passes), "no_gain" if free else "no_free_byte")


def _most_frequent(data: bytes) -> tuple[bytes, int, int] | None:
    """Return (pair, times it would be replaced, other pairs with as many) of the best pair, or None.

    Two different bytes cannot overlap with themselves, so their adjacent pairs are all replaced. Only the pairs
    of a byte with itself, at most 256, have to be counted without overlaps.
    """
    if len(data) < 2:
        return None
    values = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    counts = np.bincount(values[:-1] * 256 + values[1:], minlength=65536)
    doubles = np.arange(256) * 257
    for pair in doubles[counts[doubles] > 0].tolist():
        counts[pair] = data.count(bytes(divmod(pair, 256)))
    most = int(counts.max())
    tied = [bytes(divmod(pair, 256)) for pair in np.flatnonzero(counts == most).tolist()]
    return min(tied, key=data.find), most, len(tied) - 1


def expand_pairs(data: bytes, table: tuple[tuple[int, int, int], ...]) -> bytes:
    """Return the data before compression: the replacements undone, last one first.

    Raises:
        FormatError: a row is not three byte values, two rows have one code, or the result would pass 1 GB.

    >>> expand_pairs(b"\\xfdd\\xfdac", ((255, 97, 97), (254, 255, 97), (253, 254, 98)))
    b'aaabdaaabac'
    """
    lengths = [1] * 256  # bytes that each byte value stands for
    for code, left, right in table:
        if not all(0 <= value <= 255 for value in (code, left, right)):
            raise FormatError(f"a row of the table must be three byte values, but is {(code, left, right)}")
        if lengths[code] != 1:
            raise FormatError(f"each code must stand once in the table, but {code} stands twice")
        lengths[code] = lengths[left] + lengths[right]
    present = np.bincount(np.frombuffer(data, dtype=np.uint8), minlength=256).tolist()
    num_bytes = sum(count * length for count, length in zip(present, lengths, strict=True))
    if num_bytes > _MOST_EXPANDED:
        raise FormatError(f"expanded data must be at most {_MOST_EXPANDED:,} bytes, but would be {num_bytes:,}")
    for code, left, right in reversed(table):
        data = data.replace(bytes([code]), bytes([left, right]))
    return data
