"""Counting: scan a buffer and count its distinct pre-tokens in a hash table.

The twin is `bpe.pretokenize.count_pre_tokens`. A row of the table is 32 bytes: key, key, count, number of the
pre-token. A pre-token of at most 15 bytes is its own key; a longer one has its hash and length there, and is
compared with the stored text. Pre-tokens are looked up 64 at a time, so that their rows are on the way from
memory while the others are hashed. Rows lie on cache lines when the table does.

Pre-tokens are numbered in the order of their first occurrence; `store` holds their bytes one after the other and
`offsets` where each starts.
"""

from __future__ import annotations

import numpy as np

from bpe.kernels.source.declare import Bytes, Int32s, Int64s, UInt, UInt64s, helper, kernel
from bpe.kernels.source.intrinsics import load_bytes, prefetch
from bpe.kernels.source.masks import CHUNK_BYTES, scan_chunk

__all__ = ["LONG_KEY", "count", "long_hash", "mix", "read_counts", "rehash", "take_over", "valid_until"]

# The state of a count.
AT = 0
END = 1
PATTERN = 2
NUM_WORDS = 3
NUM_BYTES = 4

BATCH = 64
ROW = 4
KEY = 0
KEY2 = 1
COUNT = 2
WORD = 3

_U = np.uint64
_ALL = _U(0xFFFFFFFFFFFFFFFF)
_MULTIPLIER = _U(0x9E3779B97F4A7C15)
_MULTIPLIER2 = _U(0xC2B2AE3D27D4EB4F)
LONG_KEY = _U(0xFF)
"""In the top byte of the second key: the keys are hash and length. Otherwise the length stands there."""


@helper
def mix(key: UInt, key2: UInt) -> UInt:
    """Return 32 well mixed bits of a key."""
    bits = (key * _MULTIPLIER) ^ (key2 * _MULTIPLIER2)
    bits ^= bits >> _U(32)
    return (bits * _MULTIPLIER) >> _U(32)


@helper
def long_hash(buf: Bytes, at: int, end: int) -> UInt:
    """Return a hash of 16 bytes or more."""
    hashed = load_bytes(buf, at)
    here = at + 8
    while here + 8 <= end:
        hashed = (hashed ^ (hashed >> _U(29))) * _MULTIPLIER + load_bytes(buf, here)
        here += 8
    if here < end:
        rest = load_bytes(buf, here) & (_ALL >> _U(64 - 8 * (end - here)))
        hashed = (hashed ^ (hashed >> _U(29))) * _MULTIPLIER + rest
    return hashed


@helper
def same_bytes(store: Bytes, at: int, buf: Bytes, start: int, length: int) -> bool:
    """Tell whether a stored pre-token is the one in the buffer."""
    for q in range(length):
        if store[at + q] != buf[start + q]:
            return False
    return True


@kernel
def count(
    buf: Bytes,
    classes: Bytes,
    table: UInt64s,
    store: Bytes,
    offsets: Int64s,
    keys: UInt64s,
    words: UInt64s,
    starts: Int32s,
    state: Int64s,
) -> int:
    """Count the pre-tokens of buf[AT:END]. Stops before END when it needs room; then AT says where.

    Room is needed when the table is more than half full after one more chunk, or `offsets` or `store` is.
    keys     uint64[3 * BATCH], scratch;  words, starts   see `scan_chunk`
    """
    at = state[AT]
    end = state[END]
    pattern = state[PATTERN]
    num_words = state[NUM_WORDS]
    num_bytes = state[NUM_BYTES]
    mask = _U(table.shape[0] // ROW - 1)
    last_row = np.int64((mask << _U(2)) | _U(ROW - 1))
    while at < end:
        if (num_words + CHUNK_BYTES) * 2 * ROW > table.shape[0] or num_words + CHUNK_BYTES + 1 > offsets.shape[0]:
            break
        found = scan_chunk(buf, at, end, classes, pattern, words, starts)
        chunk_bytes = np.int64(starts[found])
        if num_bytes + chunk_bytes > store.shape[0]:
            break
        for batch in range(0, found, BATCH):
            size = min(BATCH, found - batch)
            for i in range(size):
                start = at + starts[batch + i]
                length = np.int64(starts[batch + i + 1] - starts[batch + i])
                key = load_bytes(buf, start)
                key2 = _U(0)
                if length <= 8:
                    key &= _ALL >> _U(64 - 8 * length)
                    key2 = _U(length) << _U(56)
                elif length <= 15:
                    key2 = (load_bytes(buf, start + 8) & (_ALL >> _U(128 - 8 * length))) | (_U(length) << _U(56))
                else:
                    key = long_hash(buf, start, start + length)
                    key2 = (LONG_KEY << _U(56)) | _U(length)
                row = np.int64(mix(key, key2) & mask) << 2
                prefetch(table, row)
                keys[3 * i] = key
                keys[3 * i + 1] = key2
                keys[3 * i + 2] = _U(row)
            for i in range(size):
                key = keys[3 * i]
                key2 = keys[3 * i + 1]
                row = np.int64(keys[3 * i + 2])
                start = at + starts[batch + i]
                length = np.int64(starts[batch + i + 1] - starts[batch + i])
                while True:
                    seen = table[row + COUNT]
                    if seen == _U(0):
                        for q in range(length):
                            store[num_bytes + q] = buf[start + q]
                        table[row + KEY] = key
                        table[row + KEY2] = key2
                        table[row + COUNT] = _U(1)
                        table[row + WORD] = _U(num_words)
                        num_bytes += length
                        num_words += 1
                        offsets[num_words] = num_bytes
                        break
                    if table[row + KEY] == key and table[row + KEY2] == key2:
                        is_same = True
                        if (key2 >> _U(56)) == LONG_KEY:
                            is_same = same_bytes(store, offsets[np.int64(table[row + WORD])], buf, start, length)
                        if is_same:
                            table[row + COUNT] = seen + _U(1)
                            break
                    row = (row + ROW) & last_row
        at += chunk_bytes
    state[AT] = at
    state[NUM_WORDS] = num_words
    state[NUM_BYTES] = num_bytes
    return 0


@kernel
def rehash(table: UInt64s, larger: UInt64s) -> int:
    """Move all rows to a larger table, which is empty."""
    mask = _U(larger.shape[0] // ROW - 1)
    last_row = np.int64((mask << _U(2)) | _U(ROW - 1))
    for old in range(0, table.shape[0], ROW):
        if table[old + COUNT] == _U(0):
            continue
        row = np.int64(mix(table[old + KEY], table[old + KEY2]) & mask) << 2
        while larger[row + COUNT] != _U(0):
            row = (row + ROW) & last_row
        for q in range(ROW):
            larger[row + q] = table[old + q]
    return 0


@kernel
def read_counts(table: UInt64s, counts: Int64s) -> int:
    """Write the count of each pre-token, by its number."""
    for row in range(0, table.shape[0], ROW):
        if table[row + COUNT] != _U(0):
            counts[np.int64(table[row + WORD])] = np.int64(table[row + COUNT])
    return 0


@kernel
def take_over(
    table: UInt64s,
    store: Bytes,
    offsets: Int64s,
    other_store: Bytes,
    other_offsets: Int64s,
    other_counts: Int64s,
    state: Int64s,
) -> int:
    """Add the pre-tokens of another count, in the order of their numbers. The arrays have room for all of them.

    `other_store` ends in at least 16 more bytes.
    """
    num_words = state[NUM_WORDS]
    num_bytes = state[NUM_BYTES]
    mask = _U(table.shape[0] // ROW - 1)
    last_row = np.int64((mask << _U(2)) | _U(ROW - 1))
    for other in range(other_counts.shape[0]):
        start = other_offsets[other]
        length = other_offsets[other + 1] - start
        key = load_bytes(other_store, start)
        key2 = _U(0)
        if length <= 8:
            key &= _ALL >> _U(64 - 8 * length)
            key2 = _U(length) << _U(56)
        elif length <= 15:
            key2 = (load_bytes(other_store, start + 8) & (_ALL >> _U(128 - 8 * length))) | (_U(length) << _U(56))
        else:
            key = long_hash(other_store, start, start + length)
            key2 = (LONG_KEY << _U(56)) | _U(length)
        row = np.int64(mix(key, key2) & mask) << 2
        while True:
            seen = table[row + COUNT]
            if seen == _U(0):
                for q in range(length):
                    store[num_bytes + q] = other_store[start + q]
                table[row + KEY] = key
                table[row + KEY2] = key2
                table[row + COUNT] = _U(other_counts[other])
                table[row + WORD] = _U(num_words)
                num_bytes += length
                num_words += 1
                offsets[num_words] = num_bytes
                break
            if table[row + KEY] == key and table[row + KEY2] == key2:
                is_same = True
                if (key2 >> _U(56)) == LONG_KEY:
                    is_same = same_bytes(store, offsets[np.int64(table[row + WORD])], other_store, start, length)
                if is_same:
                    table[row + COUNT] = seen + _U(other_counts[other])
                    break
            row = (row + ROW) & last_row
    state[NUM_WORDS] = num_words
    state[NUM_BYTES] = num_bytes
    return 0


@kernel
def valid_until(buf: Bytes, state: Int64s) -> int:
    """Return where in buf[AT:END] the first byte is that cannot be UTF-8; END where all of it is.

    The same place as `UnicodeDecodeError.start`: no overlong forms, no surrogates, nothing above U+10FFFF.
    """
    at = state[AT]
    end = state[END]
    while at < end:
        if at + 8 <= end and (load_bytes(buf, at) & _U(0x8080808080808080)) == _U(0):
            at += 8
            continue
        first = buf[at]
        if first < 0x80:
            at += 1
            continue
        length = np.int64(4)
        low = np.int64(0x80)
        high = np.int64(0xBF)
        if first < 0xC2 or first > 0xF4:
            return at
        if first < 0xE0:
            length = np.int64(2)
        elif first < 0xF0:
            length = np.int64(3)
            if first == 0xE0:
                low = np.int64(0xA0)
            elif first == 0xED:
                high = np.int64(0x9F)
        elif first == 0xF0:
            low = np.int64(0x90)
        elif first == 0xF4:
            high = np.int64(0x8F)
        if at + length > end or buf[at + 1] < low or buf[at + 1] > high:
            return at
        for q in range(2, length):
            if buf[at + q] < 0x80 or buf[at + q] > 0xBF:
                return at
        at += length
    return end
