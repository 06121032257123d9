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

from bpe.kernels.source.declare import Byte, Bytes, Int32s, Int64s, UInt, UInt64s, UIntPair, helper, kernel
from bpe.kernels.source.intrinsics import load_bytes, prefetch, range_mask
from bpe.kernels.source.masks import CHUNK_BYTES, before, scan_chunk

__all__ = [
    "LONG_KEY",
    "count",
    "home_row",
    "keys_of",
    "likely_row",
    "long_hash",
    "read_counts",
    "rehash",
    "short_key",
    "short_key2",
    "take_over",
    "valid_until",
]

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
def home_row(key: UInt, key2: UInt, num_rows: int) -> int:
    """Return where the row of a key begins to be looked for: the first of the two rows of a cache line.

    Keys lie in the order of their bits, so a table that doubles is read and written from front to back.
    """
    return np.int64((mix(key, key2) * _U(num_rows >> 1)) >> _U(32)) * (2 * ROW)


@helper
def likely_row(table: UInt64s, row: int, key: UInt, key2: UInt) -> int:
    """Return the second row of the cache line where the key stands there, otherwise the first.

    A choice without a branch, which would go wrong one time in five. Long keys are hashes, so they are looked for row
    by row: two pre-tokens may have the same.
    """
    differs = (table[row + ROW + KEY] ^ key) | (table[row + ROW + KEY2] ^ key2)
    is_there = (differs == _U(0)) & ((key2 >> _U(56)) != LONG_KEY)
    return row + ROW * np.int64(is_there)


@helper
def short_key(buf: Bytes, at: int, length: int) -> UInt:
    """Return the first key of a pre-token of at most 15 bytes: its first 8."""
    return load_bytes(buf, at) & (_ALL >> _U(64 - 8 * min(length, 8)))


@helper
def short_key2(buf: Bytes, at: int, length: int) -> UInt:
    """Return the second key of a pre-token of at most 15 bytes: the rest of it, and its length in the top byte."""
    rest = load_bytes(buf, at + 8) & ((_U(1) << _U(8 * max(length - 8, 0))) - _U(1))
    return rest | (_U(length) << _U(56))


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
def keys_of(buf: Bytes, at: int, length: int) -> UIntPair:
    """Return the two keys of a pre-token: its bytes and their number, or of more than 15 bytes a hash."""
    if length > 15:
        return long_hash(buf, at, at + length), (LONG_KEY << _U(56)) | _U(length)
    return short_key(buf, at, length), short_key2(buf, at, length)


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

    Room is needed when the table is more than three quarters full after one more chunk, or `offsets` or `store` is
    full. `buf` ends in at least 80 more bytes.
    keys     uint64[3 * BATCH], scratch;  words, starts   see `scan_chunk`
    """
    at = state[AT]
    end = state[END]
    pattern = state[PATTERN]
    num_words = state[NUM_WORDS]
    num_bytes = state[NUM_BYTES]
    num_rows = table.shape[0] // ROW
    last_row = table.shape[0] - 1
    while at < end:
        if (num_words + CHUNK_BYTES) * 4 > 3 * num_rows or num_words + CHUNK_BYTES + 1 > offsets.shape[0]:
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
                key, key2 = keys_of(buf, start, length)
                row = home_row(key, key2, num_rows)
                prefetch(table, row)
                keys[3 * i] = key
                keys[3 * i + 1] = key2
                keys[3 * i + 2] = _U(row)
            for i in range(size):
                key = keys[3 * i]
                key2 = keys[3 * i + 1]
                row = likely_row(table, np.int64(keys[3 * i + 2]), key, key2)
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
    num_rows = larger.shape[0] // ROW
    last_row = larger.shape[0] - 1
    for old in range(0, table.shape[0], ROW):
        if table[old + COUNT] == _U(0):
            continue
        row = home_row(table[old + KEY], table[old + KEY2], num_rows)
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
    counts: Int64s,
    other_store: Bytes,
    other_offsets: Int64s,
    other_counts: Int64s,
    keys: UInt64s,
    state: Int64s,
) -> int:
    """Add the pre-tokens of another count, in the order of their numbers. The arrays have room for all of them.

    counts  by number; those in the table are not looked at.  `other_store` ends in at least 16 more bytes.
    """
    num_words = state[NUM_WORDS]
    num_bytes = state[NUM_BYTES]
    num_rows = table.shape[0] // ROW
    last_row = table.shape[0] - 1
    for batch in range(0, other_counts.shape[0], BATCH):
        size = min(BATCH, other_counts.shape[0] - batch)
        for i in range(size):
            start = other_offsets[batch + i]
            length = other_offsets[batch + i + 1] - start
            key, key2 = keys_of(other_store, start, length)
            row = home_row(key, key2, num_rows)
            prefetch(table, row)
            keys[3 * i] = key
            keys[3 * i + 1] = key2
            keys[3 * i + 2] = _U(row)
        for i in range(size):
            key = keys[3 * i]
            key2 = keys[3 * i + 1]
            row = np.int64(keys[3 * i + 2])
            start = other_offsets[batch + i]
            length = other_offsets[batch + i + 1] - start
            while True:
                if table[row + COUNT] == _U(0):
                    for q in range(length):
                        store[num_bytes + q] = other_store[start + q]
                    table[row + KEY] = key
                    table[row + KEY2] = key2
                    table[row + COUNT] = _U(1)
                    table[row + WORD] = _U(num_words)
                    counts[num_words] = other_counts[batch + i]
                    num_bytes += length
                    num_words += 1
                    offsets[num_words] = num_bytes
                    break
                if table[row + KEY] == key and table[row + KEY2] == key2:
                    word = np.int64(table[row + WORD])
                    is_same = True
                    if (key2 >> _U(56)) == LONG_KEY:
                        is_same = same_bytes(store, offsets[word], other_store, start, length)
                    if is_same:
                        counts[word] += other_counts[batch + i]
                        break
                row = (row + ROW) & last_row
    state[NUM_WORDS] = num_words
    state[NUM_BYTES] = num_bytes
    return 0


@helper
def valid_words(buf: Bytes, at: int, end: int) -> int:
    """Return a place that valid UTF-8 reaches to from `at`, maybe inside a character. It goes 64 bytes a step.

    At most 66 bytes before the first byte that cannot be UTF-8, or before the end.
    """
    carry = _U(0)  # which bytes of the next word must go on with a character
    e0_carry = _U(0)  # whether the byte before is one of those whose next byte has a narrower range
    ed_carry = _U(0)
    f0_carry = _U(0)
    f4_carry = _U(0)
    while at + 64 <= end:
        high = range_mask(buf, at, Byte(0), Byte(0x80), Byte(0x7F))
        if high == _U(0) and carry == _U(0):
            at += 64
            continue
        going_on = range_mask(buf, at, Byte(0), Byte(0x80), Byte(0x3F))
        lead_2 = range_mask(buf, at, Byte(0), Byte(0xC2), Byte(0x1D))
        lead_3 = range_mask(buf, at, Byte(0), Byte(0xE0), Byte(0x0F))
        lead_4 = range_mask(buf, at, Byte(0), Byte(0xF0), Byte(0x04))
        lead_34 = lead_3 | lead_4
        lead = lead_2 | lead_34
        expected = (lead << _U(1)) | (lead_34 << _U(2)) | (lead_4 << _U(3)) | carry
        e0 = range_mask(buf, at, Byte(0), Byte(0xE0), Byte(0))
        ed = range_mask(buf, at, Byte(0), Byte(0xED), Byte(0))
        f0 = range_mask(buf, at, Byte(0), Byte(0xF0), Byte(0))
        f4 = range_mask(buf, at, Byte(0), Byte(0xF4), Byte(0))
        wrong = (high & ~(going_on | lead)) | (going_on ^ expected)
        wrong |= before(e0, e0_carry) & range_mask(buf, at, Byte(0), Byte(0x80), Byte(0x1F))
        wrong |= before(ed, ed_carry) & range_mask(buf, at, Byte(0), Byte(0xA0), Byte(0x1F))
        wrong |= before(f0, f0_carry) & range_mask(buf, at, Byte(0), Byte(0x80), Byte(0x0F))
        wrong |= before(f4, f4_carry) & range_mask(buf, at, Byte(0), Byte(0x90), Byte(0x2F))
        if wrong != _U(0):
            return at
        carry = (lead >> _U(63)) | (lead_34 >> _U(62)) | (lead_4 >> _U(61))
        e0_carry = e0 >> _U(63)
        ed_carry = ed >> _U(63)
        f0_carry = f0 >> _U(63)
        f4_carry = f4 >> _U(63)
        at += 64
    return at


@kernel
def valid_until(buf: Bytes, state: Int64s) -> int:
    """Return where in buf[AT:END] the first byte is that cannot be UTF-8; END where all of it is.

    The same place as `UnicodeDecodeError.start`: no overlong forms, no surrogates, nothing above U+10FFFF.
    """
    begin = state[AT]
    end = state[END]
    at = valid_words(buf, begin, end)
    # From the start of the last character on, one by one.
    if at > begin:
        at -= 1
        while at > begin and buf[at] & Byte(0xC0) == Byte(0x80):
            at -= 1
    while at < end:
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
