"""Encoding: scan a text, look each pre-token up, replay the merges over those that are new; with lifetimes.

The twin is bpe/encoder.py. One table serves merge lists and rank tables: (left id, right id) -> id of the token
they make, and the pair with the lowest id is merged first. In a rank table that is the definition; in a merge
list ids rise with ranks. Lifetimes come out as the ids of the tokens whose making removed a boundary.

The piece cache holds, for each distinct pre-token of at most SHORT bytes seen so far, its ids, and at one place of
`store` and `lines` its bytes and its lifetimes. A rank table's own tokens are entered first, so a pre-token that
is a token as a whole is one, whether or not merges make it. When the cache is full nothing more is entered.

Recording lifetimes writes one number a pre-token, where they stand; `expand` copies what somebody looks at.
"""

from __future__ import annotations

import numpy as np

from bpe.kernels.source.count import LONG_KEY, home_row, keys_of, likely_row, long_hash, short_key, short_key2
from bpe.kernels.source.declare import Bytes, Int32s, Int64s, UInt, UInt64s, helper, kernel
from bpe.kernels.source.intrinsics import prefetch
from bpe.kernels.source.masks import scan_chunk

__all__ = ["encode", "enter_pairs", "enter_tokens", "expand", "find_pairs", "list_byte_pairs", "replay"]

# The state of an encoder.
AT = 0
END = 1
PATTERN = 2
NUM_ROWS = 3
NUM_STORED = 4  # bytes of `store`, entries of `lines`
NUM_LISTED = 5  # entries of `listed`
NUM_OUT = 6
NUM_PIECES = 7
NUM_EXTRA = 8
IS_RECORDING = 9
KEEPS_YOUNGEST = 10  # a token can be made after one with a higher id: lifetimes need the larger of both
LONGEST_TOKEN = 11
ROOM_FOR = 12

DONE = 0
NEEDS_WORK = 1  # a long pre-token: ROOM_FOR symbols
NEEDS_EXTRA = 2  # `extra` for ROOM_FOR more

ROW = 4
KEY = 0
KEY2 = 1
IDS = 2
PLACE = 3

SHORT = 64  # longest pre-token that is cached, and merged by scanning its pairs again and again
BATCH = 32
WORK_PER_SYMBOL = 14
GONE = -2  # a place that a merge to its left took; -1 is a symbol that the tokenizer does not know

NEVER = 0x7FFFFFFF
WALL = NEVER - 1
NO_TOKEN = NEVER

_U = np.uint64
_EMPTY = _U(0)
_LOW32 = _U(0xFFFFFFFF)
_ID_BITS = _U(0x7FFFFFFF)
_NO_LINE = _U(1) << _U(63)  # in PLACE: the lifetimes are still to be computed
_MULTIPLIER = _U(0x9E3779B97F4A7C15)


@helper
def num_pair_rows(pairs: UInt64s) -> int:
    """Return how many rows the table of pairs has: a power of two. Its first words, one to 16 rows, are the filter."""
    return pairs.shape[0] // 33 * 16


@helper
def pair_key(left: int, right: int) -> UInt:
    """Return the key of a pair; none is 0."""
    return ((_U(left) << _U(32)) | (_U(right) & _LOW32)) + _U(1)


@helper
def filter_bit(hashed: UInt, num_rows: int) -> int:
    """Return which bit of the filter belongs to a pair, of four to a row."""
    return np.int64(((hashed >> _U(32)) * _U(4 * num_rows)) >> _U(32))


@helper
def find_pair(pairs: UInt64s, left: int, right: int) -> int:
    """Return the token that a pair makes, NO_TOKEN where it makes none.

    Most pairs make none. The filter, half a megabyte for 250,000 pairs, knows nine in ten of those without a look at
    the table, which is too large for the cache.
    """
    key = pair_key(left, right)
    hashed = key * _MULTIPLIER
    num_rows = num_pair_rows(pairs)
    bit = filter_bit(hashed, num_rows)
    if (pairs[bit >> 6] >> _U(bit & 63)) & _U(1) == _U(0):
        return NO_TOKEN
    first = num_rows >> 4
    row = np.int64(hashed >> _U(30)) & (num_rows - 1)
    while True:
        stored = pairs[first + 2 * row]
        if stored == _EMPTY:
            return NO_TOKEN
        if stored == key:
            return np.int64(pairs[first + 2 * row + 1])
        row = (row + 1) & (num_rows - 1)


@kernel
def enter_pairs(left: Int32s, right: Int32s, token: Int32s, pairs: UInt64s) -> int:
    """Fill the table of pairs, zeros: num_rows / 16 words for the filter, then num_rows times key and token.

    Rows are a power of two, at least 1,024 and at least twice the pairs. A pair that comes twice makes the later token.
    """
    num_rows = num_pair_rows(pairs)
    first = num_rows >> 4
    for i in range(token.shape[0]):
        key = pair_key(np.int64(left[i]), np.int64(right[i]))
        hashed = key * _MULTIPLIER
        bit = filter_bit(hashed, num_rows)
        pairs[bit >> 6] |= _U(1) << _U(bit & 63)
        row = np.int64(hashed >> _U(30)) & (num_rows - 1)
        while pairs[first + 2 * row] != _EMPTY and pairs[first + 2 * row] != key:
            row = (row + 1) & (num_rows - 1)
        pairs[first + 2 * row] = key
        pairs[first + 2 * row + 1] = _U(token[i])
    return 0


@kernel
def list_byte_pairs(base_ids: Int32s, pairs: UInt64s, byte_pairs: Int32s) -> int:
    """Write the token that each pair of bytes makes, to int32[256 * 256].

    Each pre-token begins with these pairs: a table that stays in the cache makes a cold encoder a fifth faster.
    """
    for first in range(256):
        for second in range(256):
            byte_pairs[(first << 8) | second] = find_pair(pairs, np.int64(base_ids[first]), np.int64(base_ids[second]))
    return 0


@helper
def take_bytes(
    buf: Bytes, start: int, length: int, base_ids: Int32s, byte_pairs: Int32s, tokens: Int32s, joined: Int32s
) -> None:
    """Set up `merge_short` for the bytes of a pre-token."""
    previous = np.int64(buf[start])
    tokens[0] = base_ids[previous]
    for q in range(1, length):
        byte = np.int64(buf[start + q])
        tokens[q] = base_ids[byte]
        joined[q - 1] = byte_pairs[(previous << 8) | byte]
        previous = byte


@helper
def merge_short(
    tokens: Int32s,
    joined: Int32s,
    starts: Int32s,
    size: int,
    pairs: UInt64s,
    keeps_youngest: bool,
    out: Int32s,
    num_out: int,
    lines: Int32s,
    line: int,
) -> int:
    """Merge the symbols in tokens[:size], which is scratch. Writes ids to `out` and lifetimes to lines[line:].

    joined[q] is the token that the symbols q and q + 1 make. lines[line + q] becomes the lifetime of the boundary
    after symbol q; NEVER at the end. Returns the end in `out`.
    """
    length = size
    for q in range(size):
        starts[q] = q
        lines[line + q] = NEVER
    while size > 1:
        lowest = np.int64(NO_TOKEN)
        k = np.int64(0)
        for q in range(size - 1):
            if joined[q] < lowest:
                lowest = np.int64(joined[q])
                k = q
        if lowest == NO_TOKEN:
            break
        lifetime = lowest
        if keeps_youngest:
            end = length
            if k + 2 < size:
                end = np.int64(starts[k + 2])
            for q in range(starts[k], end - 1):
                inside = np.int64(lines[line + q])
                if inside != NEVER and inside > lifetime:
                    lifetime = inside
        lines[line + starts[k + 1] - 1] = lifetime
        tokens[k] = lowest
        for q in range(k + 1, size - 1):
            tokens[q] = tokens[q + 1]
            joined[q] = joined[q + 1]
            starts[q] = starts[q + 1]
        size -= 1
        if k < size - 1:
            joined[k] = find_pair(pairs, lowest, np.int64(tokens[k + 1]))
        if k > 0:
            joined[k - 1] = find_pair(pairs, np.int64(tokens[k - 1]), lowest)
    for q in range(size):
        out[num_out + q] = tokens[q]
    return num_out + size


@helper
def list_place(
    work: Int32s, length: int, node: int, heads: Int32s, heap: Int32s, size: int, token: int, at: int
) -> int:
    """Put a place on the list of the token that its pair makes; returns the size of the heap of tokens."""
    if heads[token] < 0:
        entry = size
        size += 1
        while entry > 0 and heap[(entry - 1) >> 1] > token:
            heap[entry] = heap[(entry - 1) >> 1]
            entry = (entry - 1) >> 1
        heap[entry] = token
    work[4 * length + node] = at
    work[7 * length + node] = heads[token]
    heads[token] = node
    return size


@helper
def heap_sort(values: Int32s, begin: int, size: int) -> None:
    """Sort values[begin:begin + size], ascending, in place."""
    build = size // 2
    end = size
    while end > 1:
        if build > 0:
            build -= 1
            value = values[begin + build]
        else:
            end -= 1
            value = values[begin + end]
            values[begin + end] = values[begin]
        at = build
        while True:
            child = 2 * at + 1
            if child >= end:
                break
            if child + 1 < end and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= value:
                break
            values[begin + at] = values[begin + child]
            at = child
        values[begin + at] = value


@helper
def merge_long(
    work: Int32s,
    heads: Int32s,
    heap: Int32s,
    size: int,
    pairs: UInt64s,
    keeps_youngest: bool,
    out: Int32s,
    num_out: int,
    lines: Int32s,
    line: int,
) -> int:
    """Merge the symbols in work[:size], as `merge_short` does, in time that grows like n log n.

    A level is one token: the places whose pairs make it lie on a list and are worked off from left to right, as
    the textbook does. A small heap holds the tokens that have a list. A million `a` needs some twenty levels.

    work    int32[WORK_PER_SYMBOL * size]: tokens, next, previous, made token; places and links of list nodes (three
            each, and nodes are used again); the level's places (three); youngest
    heads   int32[num_ids]: the first node of each token's list; all -1 before and after
    heap    int32[3 * size]
    """
    after = size
    before = 2 * size
    made = 3 * size
    place_of = 4 * size
    link = 7 * size
    level = 10 * size
    youngest = 13 * size
    heap_size = np.int64(0)
    num_nodes = np.int64(0)
    free = np.int64(-1)
    for q in range(size):
        work[after + q] = q + 1
        work[before + q] = q - 1
        work[youngest + q] = -1
        lines[line + q] = NEVER
    work[made + size - 1] = NO_TOKEN
    for q in range(size - 2, -1, -1):
        token = find_pair(pairs, np.int64(work[q]), np.int64(work[q + 1]))
        work[made + q] = token
        if token != NO_TOKEN:
            heap_size = list_place(work, size, num_nodes, heads, heap, heap_size, token, q)
            num_nodes += 1

    while heap_size > 0:
        lowest = np.int64(heap[0])
        heap_size -= 1
        if heap_size > 0:
            moved = heap[heap_size]
            at = np.int64(0)
            while True:
                child = 2 * at + 1
                if child >= heap_size:
                    break
                if child + 1 < heap_size and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= moved:
                    break
                heap[at] = heap[child]
                at = child
            heap[at] = moved

        # Take the level's places off their list. They mostly come in one order or the other.
        num_places = np.int64(0)
        node = np.int64(heads[lowest])
        heads[lowest] = -1
        is_rising = True
        is_falling = True
        last = np.int64(-1)
        while node >= 0:
            q = np.int64(work[place_of + node])
            if work[q] != GONE and work[made + q] == lowest:
                if last >= 0:
                    if q < last:
                        is_rising = False
                    else:
                        is_falling = False
                work[level + num_places] = q
                num_places += 1
                last = q
            following = np.int64(work[link + node])
            work[link + node] = free
            free = node
            node = following
        if not is_rising:
            if is_falling:
                for i in range(num_places // 2):
                    swapped = work[level + i]
                    work[level + i] = work[level + num_places - 1 - i]
                    work[level + num_places - 1 - i] = swapped
            else:
                heap_sort(work, level, num_places)

        i = np.int64(0)
        while i < num_places:
            q = np.int64(work[level + i])
            i += 1
            if work[q] == GONE or work[made + q] != lowest:
                continue
            right = np.int64(work[after + q])
            past = np.int64(work[after + right])
            lifetime = lowest
            if keeps_youngest:
                lifetime = max(lifetime, np.int64(work[youngest + q]), np.int64(work[youngest + right]))
            lines[line + right - 1] = lifetime
            work[youngest + q] = lifetime
            work[q] = lowest
            work[right] = GONE
            work[after + q] = past
            if past < size:
                work[before + past] = q
            comes_lower = False
            for side in range(2):
                left = q
                if side == 0:
                    work[made + q] = NO_TOKEN
                    if past >= size:
                        continue
                else:
                    left = np.int64(work[before + q])
                    if left < 0:
                        continue
                token = find_pair(pairs, np.int64(work[left]), np.int64(work[work[after + left]]))
                work[made + left] = token
                if token == NO_TOKEN:
                    continue
                if token < lowest:
                    comes_lower = True
                node = num_nodes
                if free >= 0:
                    node = free
                    free = np.int64(work[link + node])
                else:
                    num_nodes += 1
                heap_size = list_place(work, size, node, heads, heap, heap_size, token, left)
            if comes_lower:  # it goes first: put the rest of this level back
                while i < num_places:
                    left = np.int64(work[level + i])
                    i += 1
                    if work[left] == GONE or work[made + left] != lowest:
                        continue
                    node = num_nodes
                    if free >= 0:
                        node = free
                        free = np.int64(work[link + node])
                    else:
                        num_nodes += 1
                    heap_size = list_place(work, size, node, heads, heap, heap_size, lowest, left)
    q = np.int64(0)
    while q < size:
        out[num_out] = work[q]
        num_out += 1
        q = np.int64(work[after + q])
    return num_out


@helper
def finish_whole(lines: Int32s, line: int, length: int, token: int) -> None:
    """Let a pre-token that is a token as a whole become one where merges leave it apart."""
    for q in range(length - 1):
        if lines[line + q] == NEVER:
            lines[line + q] = token


@kernel
def enter_tokens(data: Bytes, offsets: Int64s, ids: Int32s, table: UInt64s, store: Bytes, state: Int64s) -> int:
    """Enter the tokens of a rank table into the piece cache, which has room for them. Their lines come later.

    `data` ends in at least 16 more bytes.
    """
    num_rows = table.shape[0] // ROW
    last_row = table.shape[0] - 1
    num_stored = state[NUM_STORED]
    for i in range(ids.shape[0]):
        start = offsets[i]
        length = offsets[i + 1] - start
        key, key2 = keys_of(data, start, length)
        row = home_row(key, key2, num_rows)
        while table[row + IDS] != _EMPTY:
            row = (row + ROW) & last_row
        for q in range(length):
            store[num_stored + q] = data[start + q]
        table[row + KEY] = key
        table[row + KEY2] = key2
        table[row + IDS] = _U(1) | (_U(ids[i]) << _U(2))
        table[row + PLACE] = _U(num_stored) | _NO_LINE
        num_stored += length
    state[NUM_STORED] = num_stored
    state[NUM_ROWS] += ids.shape[0]
    return 0


@helper
def find_token(data: Bytes, start: int, length: int, table: UInt64s, store: Bytes) -> int:
    """Return the id of the token with these bytes; NO_TOKEN where there is none."""
    num_rows = table.shape[0] // ROW
    last_row = table.shape[0] - 1
    key, key2 = keys_of(data, start, length)
    row = home_row(key, key2, num_rows)
    while True:
        ids = table[row + IDS]
        if ids == _EMPTY:
            return NO_TOKEN
        if table[row + KEY] == key and table[row + KEY2] == key2:
            place = np.int64(table[row + PLACE] & _LOW32)
            is_same = True
            if length > 15:
                for q in range(length):
                    if store[place + q] != data[start + q]:
                        is_same = False
                        break
            if is_same:
                return np.int64((ids >> _U(2)) & _ID_BITS)
        row = (row + ROW) & last_row


@kernel
def find_pairs(
    data: Bytes,
    offsets: Int64s,
    ids: Int32s,
    table: UInt64s,
    store: Bytes,
    left: Int32s,
    right: Int32s,
    token: Int32s,
) -> int:
    """List every way to make a token of a rank table from two others. Returns how many there are.

    The tokens are in the table (`enter_tokens`). At most one way a byte: `left`, `right`, `token` have that room.
    """
    found = np.int64(0)
    for i in range(ids.shape[0]):
        start = offsets[i]
        length = offsets[i + 1] - start
        for cut in range(1, length):
            first = find_token(data, start, cut, table, store)
            if first == NO_TOKEN:
                continue
            second = find_token(data, start + cut, length - cut, table, store)
            if second == NO_TOKEN:
                continue
            left[found] = first
            right[found] = second
            token[found] = ids[i]
            found += 1
    return found


@kernel
def encode(
    buf: Bytes,
    classes: Bytes,
    base_ids: Int32s,
    byte_pairs: Int32s,
    pairs: UInt64s,
    table: UInt64s,
    store: Bytes,
    lines: Int32s,
    listed: Int32s,
    batch_starts: Int64s,
    keys: UInt64s,
    tokens: Int32s,
    joined: Int32s,
    starts: Int32s,
    work: Int32s,
    heads: Int32s,
    heap: Int32s,
    out: Int32s,
    piece_ends: Int32s,
    piece_lines: Int32s,
    extra: Int32s,
    words: UInt64s,
    scanned: Int32s,
    state: Int64s,
) -> int:
    """Encode buf[AT:END] to `out`. Stops before END when it needs room; then AT says where.

    While recording, each pre-token gets its end in `piece_ends`, and in `piece_lines` where its lifetimes are: a
    place in `lines`, or -1 minus a place in `extra`. `out`, `piece_ends` and `piece_lines` have room for one
    entry a byte and 3 more. `lines` ends in SHORT entries of scratch.
    """
    at = state[AT]
    end = state[END]
    pattern = state[PATTERN]
    is_recording = state[IS_RECORDING] != 0
    keeps_youngest = state[KEEPS_YOUNGEST] != 0
    longest_looked_up = max(SHORT, state[LONGEST_TOKEN])
    num_out = state[NUM_OUT]
    num_pieces = state[NUM_PIECES]
    num_rows = table.shape[0] // ROW
    last_row = table.shape[0] - 1
    scratch_line = lines.shape[0] - SHORT
    outcome = np.int64(DONE)
    base = at
    next_start = np.int64(0)
    num_starts = np.int64(0)
    while at < end:
        if next_start == num_starts:
            base = at
            next_start = np.int64(0)
            num_starts = scan_chunk(buf, at, end, classes, pattern, words, scanned)

        # ------------------------------------------------ keys of the next pre-tokens; their rows are fetched
        size = np.int64(0)
        while size < BATCH and next_start < num_starts:
            piece_end = base + scanned[next_start + 1]
            length = piece_end - at
            if length > SHORT and length * WORK_PER_SYMBOL > work.shape[0]:
                outcome = np.int64(NEEDS_WORK)
                state[ROOM_FOR] = length
                break
            key = short_key(buf, at, length)
            key2 = short_key2(buf, at, length)
            if length > 15:
                key2 = (LONG_KEY << _U(56)) | _U(length)
                if length <= longest_looked_up:
                    key = long_hash(buf, at, piece_end)
            row = home_row(key, key2, num_rows)
            prefetch(table, row)
            batch_starts[size] = at
            keys[3 * size] = key
            keys[3 * size + 1] = key2
            keys[3 * size + 2] = _U(row)
            size += 1
            at = piece_end
            next_start += 1
        if size == 0:
            break
        batch_starts[size] = at
        if state[NUM_EXTRA] + (at - batch_starts[0]) > extra.shape[0]:
            outcome = np.int64(NEEDS_EXTRA)
            state[ROOM_FOR] = at - batch_starts[0]
            at = batch_starts[0]
            break

        # ------------------------------------------------ look up, or merge
        for i in range(size):
            start = batch_starts[i]
            length = batch_starts[i + 1] - start
            key = keys[3 * i]
            key2 = keys[3 * i + 1]
            row = np.int64(keys[3 * i + 2])
            ids = _EMPTY
            is_hit = False
            if length <= longest_looked_up:
                row = likely_row(table, row, key, key2)
                while True:
                    ids = table[row + IDS]
                    if ids == _EMPTY:
                        break
                    if table[row + KEY] == key and table[row + KEY2] == key2:
                        is_hit = True
                        if length > 15:
                            place = np.int64(table[row + PLACE] & _LOW32)
                            for q in range(length):
                                if store[place + q] != buf[start + q]:
                                    is_hit = False
                                    break
                        if is_hit:
                            break
                    row = (row + ROW) & last_row
            if is_hit:
                packed_place = table[row + PLACE]
                if is_recording:
                    place = np.int64(packed_place & _LOW32)
                    if packed_place & _NO_LINE != _EMPTY:
                        table[row + PLACE] = packed_place & ~_NO_LINE
                        if length <= SHORT:
                            take_bytes(buf, start, length, base_ids, byte_pairs, tokens, joined)
                            made = merge_short(
                                tokens, joined, starts, length, pairs, keeps_youngest, out, num_out, lines, place
                            )
                        else:
                            for q in range(length):
                                work[q] = base_ids[buf[start + q]]
                            made = merge_long(
                                work, heads, heap, length, pairs, keeps_youngest, out, num_out, lines, place
                            )
                        if (ids & _U(3)) == _U(1) and made - num_out > 1:
                            finish_whole(lines, place, length, np.int64((ids >> _U(2)) & _ID_BITS))
                    piece_ends[num_pieces] = batch_starts[i + 1]
                    piece_lines[num_pieces] = place
                    num_pieces += 1
                num_ids = np.int64(ids & _U(3))
                if num_ids > 0:
                    out[num_out] = np.int64((ids >> _U(2)) & _ID_BITS)
                    out[num_out + 1] = np.int64(ids >> _U(33))
                    out[num_out + 2] = np.int64((packed_place >> _U(32)) & _ID_BITS)
                else:
                    num_ids = np.int64((ids >> _U(2)) & _U(0x7F))
                    at_listed = np.int64(ids >> _U(9))
                    for q in range(num_ids):
                        out[num_out + q] = listed[at_listed + q]
                num_out += num_ids
                continue

            if length > SHORT:
                line = state[NUM_EXTRA]
                for q in range(length):
                    work[q] = base_ids[buf[start + q]]
                num_out = merge_long(work, heads, heap, length, pairs, keeps_youngest, out, num_out, extra, line)
                if is_recording:
                    piece_ends[num_pieces] = batch_starts[i + 1]
                    piece_lines[num_pieces] = -1 - line
                    num_pieces += 1
                    state[NUM_EXTRA] = line + length
                continue

            take_bytes(buf, start, length, base_ids, byte_pairs, tokens, joined)
            place = state[NUM_STORED]
            is_full = (
                2 * state[NUM_ROWS] >= table.shape[0] // ROW
                or place + length > scratch_line
                or state[NUM_LISTED] + length > listed.shape[0]
            )
            if is_full:
                if is_recording:
                    line = state[NUM_EXTRA]
                    num_out = merge_short(
                        tokens, joined, starts, length, pairs, keeps_youngest, out, num_out, extra, line
                    )
                    piece_ends[num_pieces] = batch_starts[i + 1]
                    piece_lines[num_pieces] = -1 - line
                    num_pieces += 1
                    state[NUM_EXTRA] = line + length
                else:
                    num_out = merge_short(
                        tokens, joined, starts, length, pairs, keeps_youngest, out, num_out, lines, scratch_line
                    )
                continue
            made = merge_short(tokens, joined, starts, length, pairs, keeps_youngest, out, num_out, lines, place)
            if is_recording:
                piece_ends[num_pieces] = batch_starts[i + 1]
                piece_lines[num_pieces] = place
                num_pieces += 1
            num_ids = made - num_out
            packed_place = _U(place)
            if num_ids <= 3:
                ids = _U(num_ids) | (_U(out[num_out]) << _U(2))
                if num_ids > 1:
                    ids |= _U(out[num_out + 1]) << _U(33)
                if num_ids > 2:
                    packed_place |= _U(out[num_out + 2]) << _U(32)
            else:
                at_listed = state[NUM_LISTED]
                ids = (_U(at_listed) << _U(9)) | (_U(num_ids) << _U(2))
                for q in range(num_ids):
                    listed[at_listed + q] = out[num_out + q]
                state[NUM_LISTED] = at_listed + num_ids
            for q in range(length):
                store[place + q] = buf[start + q]
            table[row + KEY] = key
            table[row + KEY2] = key2
            table[row + IDS] = ids
            table[row + PLACE] = packed_place
            state[NUM_ROWS] += 1
            state[NUM_STORED] = place + length
            num_out = made
        if outcome != DONE:
            break
    state[AT] = at
    state[NUM_OUT] = num_out
    state[NUM_PIECES] = num_pieces
    return outcome


@kernel
def expand(
    piece_ends: Int32s, piece_lines: Int32s, lines: Int32s, extra: Int32s, lifetimes: Int32s, state: Int64s
) -> int:
    """Copy the lifetimes of the pre-tokens whose ends are given; WALL ends each. AT: where the first one starts."""
    start = state[AT]
    to = np.int64(0)
    for piece in range(piece_ends.shape[0]):
        end = np.int64(piece_ends[piece])
        length = end - start
        start = end
        line = np.int64(piece_lines[piece])
        if line >= 0:
            for q in range(length - 1):
                lifetimes[to + q] = lines[line + q]
        else:
            line = -1 - line
            for q in range(length - 1):
                lifetimes[to + q] = extra[line + q]
        lifetimes[to + length - 1] = WALL
        to += length
    return 0


@kernel
def replay(
    symbols: Int32s,
    piece_starts: Int64s,
    pairs: UInt64s,
    tokens: Int32s,
    joined: Int32s,
    starts: Int32s,
    work: Int32s,
    heads: Int32s,
    heap: Int32s,
    out: Int32s,
    out_ends: Int64s,
    lifetimes: Int32s,
    state: Int64s,
) -> int:
    """Merge pre-tokens that are given as symbols. `work` and `heap` have room for the longest.

    out_ends    int64[num_pieces]: where the ids of each end in `out`
    lifetimes   int32[num_symbols]: of the boundary after each symbol, NEVER after a pre-token's last
    """
    keeps_youngest = state[KEEPS_YOUNGEST] != 0
    num_out = np.int64(0)
    for piece in range(out_ends.shape[0]):
        begin = piece_starts[piece]
        size = piece_starts[piece + 1] - begin
        if size <= SHORT:
            for q in range(size):
                tokens[q] = symbols[begin + q]
            for q in range(size - 1):
                joined[q] = find_pair(pairs, np.int64(tokens[q]), np.int64(tokens[q + 1]))
            num_out = merge_short(tokens, joined, starts, size, pairs, keeps_youngest, out, num_out, lifetimes, begin)
        else:
            for q in range(size):
                work[q] = symbols[begin + q]
            num_out = merge_long(work, heads, heap, size, pairs, keeps_youngest, out, num_out, lifetimes, begin)
        out_ends[piece] = num_out
    state[NUM_OUT] = num_out
    return 0
