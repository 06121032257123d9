"""Training: merge the best pair, update the counts around it, repeat; several times faster than a hash of pairs.

The twin is `_incremental` in bpe/trainer.py. What makes it fast, each measured on 10 MB and 32,000 merges:

Slots. The distinct pre-tokens lie one after the other in slots of three numbers: token, pair, weight. A token
stands in its first and its last slot; its first slot also holds the number of the pair that it makes with the next
token, and the count of its pre-token. Taking a pair apart needs no lookup: its neighbours' pairs stand beside
them. No hash table is needed for new pairs either: each holds the token just made, so its number is found by the
other token alone (`number_left_of`, `number_right_of`).

A falling threshold. Only pairs that occur at least `threshold` times have their places listed and stand in the
queue; it starts high and is lowered when the queue is empty. Then slots are compacted, one a token, finished
pre-tokens leave, and one walk lists the places anew. Rare pairs, most of all pairs, never cost anything. The slots
are divided into two regions, which two threads walk over at the same time.

A queue of buckets. Below LOW each count has its own list of pairs, above it 512 lists share each power of two.
Only the bucket being worked on is a heap. An entry is what it promised when it was entered: counts only fall
and first places only move right, so the top is corrected until it tells the truth.
"""

from __future__ import annotations

import numpy as np

from bpe.kernels.source.declare import Bytes, Int32s, Int64s, UInt, UInt64s, helper, kernel
from bpe.kernels.source.intrinsics import prefetch
from bpe.kernels.source.texts import insert_text

__all__ = [
    "compact",
    "lay_out",
    "lay_out_bytes",
    "list_places",
    "merge",
    "queue_pairs",
    "read_lifetimes",
    "widen_pair_table",
]

# The state of a training. Drivers repeat these numbers (bpe/kernels/training.py).
NUM_PAIRS = 0
THRESHOLD = 1
NUM_LISTED = 2  # places in use in `places`
HEAP_SIZE = 3
LEVEL = 4  # the bucket that the heap holds
NUM_AT_LEVEL = 5  # pairs whose count is the level, below LOW
RANK = 6  # merges done
STOP_AT = 7  # merges wanted
NUM_BASE = 8
RULE = 9
ROOM_FOR = 10  # how many places the pair that did not fit has

# The state of a region: a stretch of pre-tokens, and of the slots that they lie in.
AT_WORD = 0
END_WORD = 1
AT_SYMBOL = 2
BEGIN = 3  # slots[BEGIN:END] are in use, from a pre-token's first to the wall after the last one
END = 4
IS_COMPACT = 5  # whether `origin` says where slots stood; at first they stand there still

FIRST_SEEN = 0
LOWEST_IDS = 1
GREATEST_PAIR = 2

# What `merge` returns.
DONE = 0
QUEUE_EMPTY = 1
NEEDS_ROOM = 2

FIELDS = 3
TOKEN = 0
PAIR = 1
WEIGHT = 2  # in a slot that is no token's first any more: the merge that took it

WALL = -1  # between pre-tokens
NEVER = 0x7FFFFFFF
NO_PAIR = -1
NOT_LISTED = -1

LOW_BITS = 14
LOW = 1 << LOW_BITS
NUM_BUCKETS = LOW + (50 << 10)
AHEAD = 8  # how far ahead slots are fetched: 4 to 16 measure the same, none takes half as long again

FAR_AHEAD = 16  # the same for the walks over all slots

_U = np.uint64
_EMPTY = _U(0)
_MULTIPLIER = _U(0x9E3779B97F4A7C15)


@kernel
def lay_out_bytes(
    symbols: Bytes,
    word_starts: Int64s,
    word_counts: Int64s,
    slots: Int32s,
    lifetimes: Int32s,
    pair_count: Int64s,
    num_places: Int32s,
    region: Int64s,
) -> int:
    """Fill the slots of a region and count its pairs, of bytes: the pair (a, b) has the number 256 a + b.

    The symbols of pre-token w stand in the slots from word_starts[w] + w + 1 on, between walls.
    pair_count, num_places   [256 * 256], zeros: occurrences over the corpus, and in the slots
    lifetimes                int32[num_symbols]: NEVER, for a start
    A count of 2^31 or more does not fit the weight: minus one minus the pre-token's number stands for it.
    """
    at = region[AT_SYMBOL]
    for word in range(region[AT_WORD], region[END_WORD]):
        count = word_counts[word]
        weight = count
        if count >= 1 << 31:
            weight = -1 - word
        end = word_starts[word + 1]
        p = FIELDS * (at + word + 1)
        if at < end:
            left = np.int64(symbols[at])
            while at < end - 1:
                right = np.int64(symbols[at + 1])
                pair = (left << 8) | right
                pair_count[pair] += count
                num_places[pair] += 1
                slots[p + TOKEN] = left
                slots[p + PAIR] = pair
                slots[p + WEIGHT] = weight
                lifetimes[at] = NEVER
                p += FIELDS
                left = right
                at += 1
            slots[p + TOKEN] = left
            slots[p + PAIR] = NO_PAIR
            slots[p + WEIGHT] = weight
            lifetimes[at] = NEVER
            p += FIELDS
            at += 1
        slots[p + TOKEN] = WALL
        slots[p + PAIR] = NO_PAIR
    region[AT_SYMBOL] = at
    region[END] = at + region[END_WORD] + 1
    return DONE


@kernel
def lay_out(
    symbols: Int32s,
    word_starts: Int64s,
    word_counts: Int64s,
    slots: Int32s,
    lifetimes: Int32s,
    table: UInt64s,
    pair_left: Int32s,
    pair_right: Int32s,
    pair_count: Int64s,
    num_places: Int32s,
    region: Int64s,
    state: Int64s,
) -> int:
    """Do the same for any symbols. Returns NEEDS_ROOM for pairs when half of `table` is used.

    table    uint64[2 * rows], zeros: pair key plus one, pair number. Rows are a power of two.
    """
    word = region[AT_WORD]
    at = region[AT_SYMBOL]
    num_pairs = state[NUM_PAIRS]
    mask = table.shape[0] // 2 - 1
    while word < region[END_WORD]:
        count = word_counts[word]
        weight = count
        if count >= 1 << 31:
            weight = -1 - word
        end = word_starts[word + 1]
        while at < end:
            p = FIELDS * (at + word + 1)
            left = np.int64(symbols[at])
            slots[p + TOKEN] = left
            slots[p + PAIR] = NO_PAIR
            slots[p + WEIGHT] = weight
            lifetimes[at] = NEVER
            if at + 1 < end:
                right = np.int64(symbols[at + 1])
                key = ((_U(left) << _U(32)) | _U(right)) + _U(1)
                row = np.int64((key * _MULTIPLIER) >> _U(32)) & mask
                while table[2 * row] != _EMPTY and table[2 * row] != key:
                    row = (row + 1) & mask
                if table[2 * row] == _EMPTY:
                    if 2 * num_pairs > mask or num_pairs >= pair_count.shape[0]:
                        region[AT_WORD] = word
                        region[AT_SYMBOL] = at
                        state[NUM_PAIRS] = num_pairs
                        return NEEDS_ROOM
                    table[2 * row] = key
                    table[2 * row + 1] = _U(num_pairs)
                    pair_left[num_pairs] = left
                    pair_right[num_pairs] = right
                    pair_count[num_pairs] = 0
                    num_places[num_pairs] = 0
                    num_pairs += 1
                pair = np.int64(table[2 * row + 1])
                slots[p + PAIR] = pair
                pair_count[pair] += count
                num_places[pair] += 1
            at += 1
        p = FIELDS * (at + word + 1)
        slots[p + TOKEN] = WALL
        slots[p + PAIR] = NO_PAIR
        word += 1
    region[AT_WORD] = word
    region[AT_SYMBOL] = at
    region[END] = at + word + 1
    state[NUM_PAIRS] = num_pairs
    return DONE


@kernel
def widen_pair_table(table: UInt64s, larger: UInt64s) -> int:
    """Move all rows of the table of `lay_out` to a larger one, which is empty."""
    mask = larger.shape[0] // 2 - 1
    for old in range(table.shape[0] // 2):
        key = table[2 * old]
        if key == _EMPTY:
            continue
        row = np.int64((key * _MULTIPLIER) >> _U(32)) & mask
        while larger[2 * row] != _EMPTY:
            row = (row + 1) & mask
        larger[2 * row] = key
        larger[2 * row + 1] = table[2 * old + 1]
    return 0


@kernel
def compact(
    slots: Int32s,
    span: Int32s,
    origin: Int32s,
    lifetimes: Int32s,
    pair_count: Int64s,
    num_places: Int32s,
    region: Int64s,
    state: Int64s,
) -> int:
    """Leave one slot a token, and drop pre-tokens of one token. Afterwards the span of each token is one slot.

    span        int32[num_tokens]: slots that each token covers
    origin      int32[slots]: the symbol that stood in each slot at first
    lifetimes   gets those of the boundaries inside tokens
    num_places  int32[num_pairs]: becomes how many places each pair at or above the threshold has in the region
    """
    for pair in range(state[NUM_PAIRS]):
        num_places[pair] = 0
    threshold = state[THRESHOLD]
    is_compact = region[IS_COMPACT] != 0
    source = region[BEGIN]
    num_slots = region[END]
    target = source
    word_start = source
    shift = region[AT_WORD] + 1  # from a slot to its symbol, while slots stand where they stood at first
    while source < num_slots:
        p = FIELDS * source
        if source + FAR_AHEAD < num_slots:
            prefetch(pair_count, np.int64(slots[p + FIELDS * FAR_AHEAD + PAIR]))
        token = np.int64(slots[p + TOKEN])
        o = FIELDS * target
        if token < 0:
            if target - word_start < 2:
                target = word_start
            else:
                slots[o + TOKEN] = WALL
                slots[o + PAIR] = NO_PAIR
                target += 1
            word_start = target
            source += 1
            shift += 1
            continue
        pair = np.int64(slots[p + PAIR])
        weight = slots[p + WEIGHT]
        past = source + np.int64(span[token])
        if is_compact:
            origin[target] = origin[source]
            for inner in range(source + 1, past):
                lifetimes[origin[inner]] = slots[FIELDS * inner + WEIGHT]
        else:
            origin[target] = source - shift
            for inner in range(source + 1, past):
                lifetimes[inner - shift] = slots[FIELDS * inner + WEIGHT]
        source = past
        if pair >= 0 and pair_count[pair] >= threshold:
            num_places[pair] += 1
        slots[o + TOKEN] = token
        slots[o + PAIR] = pair
        slots[o + WEIGHT] = weight
        target += 1
    region[END] = target
    region[IS_COMPACT] = 1
    return 0


@kernel
def read_lifetimes(slots: Int32s, span: Int32s, origin: Int32s, lifetimes: Int32s, region: Int64s) -> int:
    """Write the lifetimes of the boundaries inside tokens, as `compact` does, and leave the slots as they are."""
    is_compact = region[IS_COMPACT] != 0
    source = region[BEGIN]
    shift = region[AT_WORD] + 1
    while source < region[END]:
        token = np.int64(slots[FIELDS * source + TOKEN])
        if token < 0:
            source += 1
            shift += 1
            continue
        past = source + np.int64(span[token])
        for inner in range(source + 1, past):
            symbol = inner - shift
            if is_compact:
                symbol = np.int64(origin[inner])
            lifetimes[symbol] = slots[FIELDS * inner + WEIGHT]
        source = past
    return 0


@helper
def bucket_of(count: int) -> int:
    """Return the bucket of a count: itself below LOW, then 512 to each power of two."""
    if count < LOW:
        return count
    shift = np.int64(0)
    rest = count >> (LOW_BITS - 3)
    while rest >= 8:
        rest >>= 1
        shift += 1
    return LOW + (shift << 10) + ((count >> (shift + 4)) & 1023)


@kernel
def queue_pairs(
    pair_count: Int64s,
    num_places: Int32s,
    first: Int32s,
    last: Int32s,
    bucket: Int32s,
    following: Int32s,
    state: Int64s,
) -> int:
    """Give each pair at or above the threshold a stretch of `places`, and put it into its bucket.

    first, last   int32[num_pairs]: the pair's places are places[first:last], ascending; NOT_LISTED below threshold
    bucket        int32[NUM_BUCKETS]: the first pair of each;  following   int32[num_pairs]: the next one
    There are two regions. `num_places` holds how many places a pair has in the first, `last` those in the second;
    afterwards where the first place of each is to be written.
    """
    threshold = state[THRESHOLD]
    for level in range(NUM_BUCKETS):
        bucket[level] = NO_PAIR
    num_listed = np.int64(0)
    for pair in range(state[NUM_PAIRS]):
        count = pair_count[pair]
        if count < threshold:
            first[pair] = NOT_LISTED
            continue
        in_first = np.int64(num_places[pair])
        in_second = np.int64(last[pair])
        first[pair] = num_listed
        num_places[pair] = num_listed
        last[pair] = num_listed + in_first
        num_listed += in_first + in_second
        level = bucket_of(count)
        following[pair] = bucket[level]
        bucket[level] = pair
    state[NUM_LISTED] = num_listed
    state[HEAP_SIZE] = 0
    state[NUM_AT_LEVEL] = 0
    state[LEVEL] = NUM_BUCKETS
    return 0


@kernel
def list_places(slots: Int32s, first: Int32s, free: Int32s, places: Int32s, region: Int64s) -> int:
    """Write the places of the pairs that are listed, in a region. free: where the next one of each pair goes."""
    end = region[END]
    for place in range(region[BEGIN], end):
        if place + FAR_AHEAD < end:
            soon = np.int64(slots[FIELDS * (place + FAR_AHEAD) + PAIR])
            prefetch(first, soon)
            prefetch(free, soon)
        pair = np.int64(slots[FIELDS * place + PAIR])
        if pair >= 0 and first[pair] >= 0:
            places[free[pair]] = place
            free[pair] += 1
    return 0


@helper
def comes_first(
    count: int,
    key: UInt,
    pair: int,
    other_count: int,
    other_key: UInt,
    other: int,
    pair_left: Int32s,
    pair_right: Int32s,
) -> bool:
    """Tell whether a pair is merged before another: higher count, then lower key, then lower ids."""
    if count != other_count:
        return count > other_count
    if key != other_key:
        return key < other_key
    if pair_left[pair] != pair_left[other]:
        return pair_left[pair] < pair_left[other]
    return pair_right[pair] < pair_right[other]


@helper
def heap_push(
    heap_count: Int64s,
    heap_key: UInt64s,
    heap_pair: Int32s,
    size: int,
    count: int,
    key: UInt,
    pair: int,
    pair_left: Int32s,
    pair_right: Int32s,
) -> None:
    """Add an entry to a heap of `size` entries, four children each."""
    at = size
    while at > 0:
        above = (at - 1) >> 2
        if not comes_first(
            count,
            key,
            pair,
            heap_count[above],
            heap_key[above],
            np.int64(heap_pair[above]),
            pair_left,
            pair_right,
        ):
            break
        heap_count[at] = heap_count[above]
        heap_key[at] = heap_key[above]
        heap_pair[at] = heap_pair[above]
        at = above
    heap_count[at] = count
    heap_key[at] = key
    heap_pair[at] = pair


@helper
def heap_replace(
    heap_count: Int64s,
    heap_key: UInt64s,
    heap_pair: Int32s,
    size: int,
    count: int,
    key: UInt,
    pair: int,
    pair_left: Int32s,
    pair_right: Int32s,
) -> None:
    """Put an entry in place of the top one."""
    at = np.int64(0)
    while True:
        below = 4 * at + 1
        if below >= size:
            break
        best = below
        for child in range(below + 1, min(below + 4, size)):
            if comes_first(
                heap_count[child],
                heap_key[child],
                np.int64(heap_pair[child]),
                heap_count[best],
                heap_key[best],
                np.int64(heap_pair[best]),
                pair_left,
                pair_right,
            ):
                best = child
        if comes_first(
            count,
            key,
            pair,
            heap_count[best],
            heap_key[best],
            np.int64(heap_pair[best]),
            pair_left,
            pair_right,
        ):
            break
        heap_count[at] = heap_count[best]
        heap_key[at] = heap_key[best]
        heap_pair[at] = heap_pair[best]
        at = best
    heap_count[at] = count
    heap_key[at] = key
    heap_pair[at] = pair


@helper
def order_key(
    rule: int,
    pair: int,
    pair_left: Int32s,
    pair_right: Int32s,
    labels: Int64s,
    slots: Int32s,
    first: Int32s,
    places: Int32s,
) -> UInt:
    """Return what decides among pairs of equal count, lowest first. For first-seen, skips places that are gone."""
    left = np.int64(pair_left[pair])
    right = np.int64(pair_right[pair])
    if rule == LOWEST_IDS:
        return (_U(left) << _U(32)) | _U(right)
    if rule == GREATEST_PAIR:
        return ~((_U(labels[left]) << _U(32)) | _U(labels[right]))
    at = np.int64(first[pair])
    while slots[FIELDS * np.int64(places[at]) + PAIR] != pair:
        at += 1
    first[pair] = at
    return _U(places[at])


@helper
def fetch_place(slots: Int32s, place: int, whole_span: int) -> None:
    """Ask for the slots that a merge at a place reads: those before and after it are often on other cache lines."""
    prefetch(slots, FIELDS * (place - 1))
    prefetch(slots, FIELDS * (place + whole_span))


@helper
def copy_text(texts: Bytes, text_at: Int64s, token: int, to: int) -> int:
    """Copy the text of a token to another place, and return where it ends there."""
    for q in range(text_at[token], text_at[token + 1]):
        texts[to] = texts[q]
        to += 1
    return to


@kernel
def merge(
    slots: Int32s,
    span: Int32s,
    word_counts: Int64s,
    pair_left: Int32s,
    pair_right: Int32s,
    pair_count: Int64s,
    num_places: Int32s,
    first: Int32s,
    last: Int32s,
    places: Int32s,
    bucket: Int32s,
    following: Int32s,
    heap_count: Int64s,
    heap_key: UInt64s,
    heap_pair: Int32s,
    number_left_of: Int32s,
    number_right_of: Int32s,
    born_pair: Int32s,
    born_place: Int32s,
    texts: Bytes,
    text_at: Int64s,
    labels: Int64s,
    tree: Int32s,
    next_text: Int32s,
    same_as: Int32s,
    spine: Int64s,
    out_left: Int32s,
    out_right: Int32s,
    out_count: Int64s,
    out_tied: Int64s,
    out_replaced: Int64s,
    state: Int64s,
) -> int:
    """Merge until STOP_AT merges are done, the queue is empty, or room is needed.

    number_left_of, number_right_of   int32[num_tokens]: the number of the pair (token, new) and (new, token),
                                      good when it is a number that this merge gave out
    born_pair, born_place             scratch: the occurrences of new pairs, in the order they came up
    texts ... spine                   see texts.py; only greatest-pair uses them
    out_*                             one entry a merge
    """
    rank = state[RANK]
    stop_at = state[STOP_AT]
    num_base = state[NUM_BASE]
    rule = state[RULE]
    num_pairs = state[NUM_PAIRS]
    num_listed = state[NUM_LISTED]
    heap_size = state[HEAP_SIZE]
    threshold = state[THRESHOLD]
    level = state[LEVEL]
    num_at_level = state[NUM_AT_LEVEL]
    lowest_level = bucket_of(threshold)
    outcome = np.int64(DONE)

    while rank < stop_at:
        # ---------------------------------------------------------------- the best pair
        best = np.int64(NO_PAIR)
        count = np.int64(0)
        while True:
            if heap_size == 0:
                level -= 1
                while level >= lowest_level and bucket[level] < 0:
                    level -= 1
                if level < lowest_level:
                    level = lowest_level
                    break
                pair = np.int64(bucket[level])
                bucket[level] = NO_PAIR
                num_at_level = np.int64(0)
                while pair >= 0:
                    after = np.int64(following[pair])
                    count = pair_count[pair]
                    if count >= threshold:
                        now = bucket_of(count)
                        if now != level:
                            following[pair] = bucket[now]
                            bucket[now] = pair
                        elif heap_size >= heap_pair.shape[0]:
                            outcome = np.int64(NEEDS_ROOM)
                            break
                        else:
                            key = order_key(rule, pair, pair_left, pair_right, labels, slots, first, places)
                            heap_push(
                                heap_count, heap_key, heap_pair, heap_size, count, key, pair, pair_left, pair_right
                            )
                            heap_size += 1
                            num_at_level += 1
                    pair = after
                if outcome == NEEDS_ROOM:
                    # Put everything back: the level is opened again when there is room.
                    while pair >= 0:
                        after = np.int64(following[pair])
                        following[pair] = bucket[level]
                        bucket[level] = pair
                        pair = after
                    while heap_size > 0:
                        heap_size -= 1
                        pair = np.int64(heap_pair[heap_size])
                        following[pair] = bucket[level]
                        bucket[level] = pair
                    state[ROOM_FOR] = heap_pair.shape[0] + 1
                    level += 1
                    break
                continue
            top = np.int64(heap_pair[0])
            count = pair_count[top]
            if count == heap_count[0]:
                key = order_key(rule, top, pair_left, pair_right, labels, slots, first, places)
                if key == heap_key[0]:
                    best = top
                    break
                heap_replace(heap_count, heap_key, heap_pair, heap_size, count, key, top, pair_left, pair_right)
                continue
            now = np.int64(-1)
            if count >= threshold:
                now = bucket_of(count)
            if now == level:
                key = order_key(rule, top, pair_left, pair_right, labels, slots, first, places)
                heap_replace(heap_count, heap_key, heap_pair, heap_size, count, key, top, pair_left, pair_right)
                continue
            if now >= 0:
                following[top] = bucket[now]
                bucket[now] = top
            heap_size -= 1
            if heap_size > 0:
                heap_replace(
                    heap_count,
                    heap_key,
                    heap_pair,
                    heap_size,
                    heap_count[heap_size],
                    heap_key[heap_size],
                    np.int64(heap_pair[heap_size]),
                    pair_left,
                    pair_right,
                )
        if best < 0:
            if outcome == DONE:
                outcome = np.int64(QUEUE_EMPTY)
            break

        # ---------------------------------------------------------------- room for what it may bring
        left = np.int64(pair_left[best])
        right = np.int64(pair_right[best])
        token = num_base + rank
        begin = np.int64(first[best])
        end = np.int64(last[best])
        most = 2 * (end - begin)
        new_text = np.int64(0)
        if rule == GREATEST_PAIR:
            new_text = text_at[left + 1] - text_at[left] + text_at[right + 1] - text_at[right]
        most_new = min(most, 2 * (token + 1))  # (token, any) and (any, token)
        if (
            num_pairs + most_new > pair_count.shape[0]
            or num_listed + most > places.shape[0]
            or heap_size + most_new > heap_pair.shape[0]
            or most > born_pair.shape[0]
            or (rule == GREATEST_PAIR and text_at[token] + new_text > texts.shape[0])
        ):
            state[ROOM_FOR] = most
            outcome = np.int64(NEEDS_ROOM)
            break

        left_span = np.int64(span[left])
        whole_span = left_span + np.int64(span[right])
        for q in range(begin, min(begin + AHEAD, end)):
            fetch_place(slots, np.int64(places[q]), whole_span)
        num_tied = num_at_level
        if count >= LOW:  # the heap holds several counts
            num_tied = np.int64(0)
            for q in range(heap_size):
                if pair_count[heap_pair[q]] == count:
                    num_tied += 1
        heap_size -= 1
        num_at_level -= 1
        if heap_size > 0:
            heap_replace(
                heap_count,
                heap_key,
                heap_pair,
                heap_size,
                heap_count[heap_size],
                heap_key[heap_size],
                np.int64(heap_pair[heap_size]),
                pair_left,
                pair_right,
            )
            prefetch(places, np.int64(first[heap_pair[0]]))

        span[token] = whole_span
        if rule == GREATEST_PAIR:
            middle = copy_text(texts, text_at, left, text_at[token])
            text_at[token + 1] = copy_text(texts, text_at, right, middle)
            if insert_text(texts, text_at, labels, tree, next_text, same_as, spine, token):
                for q in range(heap_size):  # the order has not changed, so the heap still is one
                    heap_key[q] = order_key(
                        rule, np.int64(heap_pair[q]), pair_left, pair_right, labels, slots, first, places
                    )

        # ---------------------------------------------------------------- merge all its places
        # X left right Y becomes X token Y: (X, left) and (right, Y) lose the weight, (X, token) and (token, Y)
        # get it. In left right left right the second merge finds the first one's token as its X, and undoes
        # what that gave to (token, left).
        first_new = num_pairs
        num_born = np.int64(0)
        replaced = np.int64(0)
        pair_count[best] = 0
        for q in range(begin, end):
            if q + AHEAD < end:
                fetch_place(slots, np.int64(places[q + AHEAD]), whole_span)
            place = np.int64(places[q])
            p = FIELDS * place
            if slots[p + PAIR] != best:
                continue
            middle = p + FIELDS * left_span
            past = p + FIELDS * whole_span
            weight = np.int64(slots[p + WEIGHT])
            if weight < 0:
                weight = word_counts[-1 - weight]
            before = np.int64(slots[p - FIELDS + TOKEN])
            after = np.int64(slots[past + TOKEN])
            right_pair = np.int64(slots[middle + PAIR])
            slots[middle + PAIR] = NO_PAIR
            slots[middle + WEIGHT] = rank
            slots[p + TOKEN] = token
            slots[past - FIELDS + TOKEN] = token
            replaced += weight
            if before >= 0:
                place_before = place - np.int64(span[before])
                old = np.int64(slots[FIELDS * place_before + PAIR])
                new = np.int64(number_left_of[before])
                if new < first_new:
                    new = num_pairs
                    num_pairs += 1
                    number_left_of[before] = new
                    pair_count[new] = 0
                    num_places[new] = 0
                    pair_left[new] = before
                    pair_right[new] = token
                if pair_count[old] == count:
                    num_at_level -= 1
                pair_count[old] -= weight
                if old >= first_new:
                    num_places[old] -= 1
                    num_born -= 1
                slots[FIELDS * place_before + PAIR] = new
                pair_count[new] += weight
                num_places[new] += 1
                born_place[num_born] = place_before
                born_pair[num_born] = new
                num_born += 1
            if after >= 0:
                new = np.int64(number_right_of[after])
                if new < first_new:
                    new = num_pairs
                    num_pairs += 1
                    number_right_of[after] = new
                    pair_count[new] = 0
                    num_places[new] = 0
                    pair_left[new] = token
                    pair_right[new] = after
                if pair_count[right_pair] == count:
                    num_at_level -= 1
                pair_count[right_pair] -= weight
                slots[p + PAIR] = new
                pair_count[new] += weight
                num_places[new] += 1
                born_place[num_born] = place
                born_pair[num_born] = new
                num_born += 1
            else:
                slots[p + PAIR] = NO_PAIR
        pair_count[best] = 0  # an overlap (aaa) has taken from it again

        # ---------------------------------------------------------------- list and queue the new pairs
        any_listed = False
        for new in range(first_new, num_pairs):
            if pair_count[new] >= threshold:
                first[new] = num_listed
                last[new] = num_listed
                num_listed += np.int64(num_places[new])
                any_listed = True
            else:
                first[new] = NOT_LISTED
        if any_listed:
            for q in range(num_born):
                new = np.int64(born_pair[q])
                if first[new] >= 0:
                    places[last[new]] = born_place[q]
                    last[new] += 1
            for new in range(first_new, num_pairs):
                if first[new] < 0:
                    continue
                now = bucket_of(pair_count[new])
                if now == level:
                    key = order_key(rule, new, pair_left, pair_right, labels, slots, first, places)
                    heap_push(
                        heap_count, heap_key, heap_pair, heap_size, pair_count[new], key, new, pair_left, pair_right
                    )
                    heap_size += 1
                    num_at_level += 1
                else:
                    following[new] = bucket[now]
                    bucket[now] = new

        out_left[rank] = left
        out_right[rank] = right
        out_count[rank] = count
        out_tied[rank] = num_tied - 1
        out_replaced[rank] = replaced
        rank += 1

    state[RANK] = rank
    state[NUM_PAIRS] = num_pairs
    state[NUM_LISTED] = num_listed
    state[HEAP_SIZE] = heap_size
    state[LEVEL] = level
    state[NUM_AT_LEVEL] = num_at_level
    return outcome
