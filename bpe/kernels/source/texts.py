"""The tokens in the order of their texts: what the greatest-pair rule compares.

Each token has a 32-bit label, and labels stand in the order of the texts; equal texts share one. A new token's
label is the middle of the gap between its neighbours. They are found in a binary search tree, which a label also
is a path in: each step down halves the gap, so the tree is never deeper than 33. When a gap is used up, all labels
are spread again and the tree is built anew; that never changes the order of two labels.

The twin is `Descending` in bpe/settings.py, which compares the texts themselves.
"""

from __future__ import annotations

import numpy as np

from bpe.kernels.source.declare import Bytes, Int32s, Int64s, helper, kernel

__all__ = ["insert_text", "order_base_texts"]

_LABEL_END = 1 << 32

NONE = -1


@helper
def compare_texts(texts: Bytes, text_at: Int64s, one: int, other: int) -> int:
    """Return below 0, 0 or above 0 as the text of one token comes before, equals or comes after another's."""
    start = text_at[one]
    other_start = text_at[other]
    length = text_at[one + 1] - start
    other_length = text_at[other + 1] - other_start
    for q in range(min(length, other_length)):
        difference = np.int64(texts[start + q]) - np.int64(texts[other_start + q])
        if difference != 0:
            return difference
    return length - other_length


@helper
def spread_labels(
    labels: Int64s, tree: Int32s, following: Int32s, same_as: Int32s, spine: Int64s, num_tokens: int
) -> None:
    """Give all tokens evenly spaced labels, and build the tree over them, in the order that `following` links.

    tree       int32[2 * n + 1]: left and right child of each token, NONE where there is none; last, the root
    following  int32[n + 1]: the token with the next greater text, NONE after the last; last, the first token
    same_as    int32[n]: the token of equal text that is in the tree; itself, mostly
    spine      int64[64], scratch

    The token at place i (from 1) is as high in the tree as i has zero bits at its end. The spine holds the way
    down the right side of what is built; a token takes what is lower than itself as its left child.
    """
    root = tree.shape[0] - 1
    first = np.int64(following[following.shape[0] - 1])
    size = np.int64(0)
    token = first
    while token >= 0:
        size += 1
        token = np.int64(following[token])
    step = np.int64(_LABEL_END) // (size + 1)
    tree[root] = NONE
    depth = np.int64(0)
    place = np.int64(0)
    token = first
    while token >= 0:
        place += 1
        labels[token] = place * step
        lower = np.int64(NONE)
        lowest_bit = place & -place
        while depth > 0:
            above = spine[depth - 1]
            place_above = labels[above] // step
            if (place_above & -place_above) > lowest_bit:
                break
            lower = above
            depth -= 1
        tree[2 * token] = lower
        tree[2 * token + 1] = NONE
        if depth > 0:
            tree[2 * spine[depth - 1] + 1] = token
        else:
            tree[root] = token
        spine[depth] = token
        depth += 1
        token = np.int64(following[token])
    for token in range(num_tokens):
        labels[token] = labels[same_as[token]]


@helper
def insert_text(
    texts: Bytes,
    text_at: Int64s,
    labels: Int64s,
    tree: Int32s,
    following: Int32s,
    same_as: Int32s,
    spine: Int64s,
    token: int,
) -> bool:
    """Give a label to a new token, whose id is the highest so far. Tells whether all labels were spread anew."""
    low = np.int64(0)
    high = np.int64(_LABEL_END)
    at = np.int64(tree.shape[0] - 1)  # where the link to the next node stands
    node = np.int64(tree[at])
    lesser = np.int64(following.shape[0] - 1)  # the token before it, or the head of the list
    while node >= 0:
        difference = compare_texts(texts, text_at, token, node)
        if difference == 0:
            same_as[token] = node
            labels[token] = labels[node]
            return False
        if difference < 0:
            high = labels[node]
            at = 2 * node
        else:
            low = labels[node]
            lesser = node
            at = 2 * node + 1
        node = np.int64(tree[at])
    same_as[token] = token
    following[token] = following[lesser]
    following[lesser] = token
    if high - low < 2:
        spread_labels(labels, tree, following, same_as, spine, token + 1)
        return True
    labels[token] = (low + high) >> 1
    tree[2 * token] = NONE
    tree[2 * token + 1] = NONE
    tree[at] = token
    return False


@kernel
def order_base_texts(
    labels: Int64s, tree: Int32s, following: Int32s, same_as: Int32s, spine: Int64s, state: Int64s
) -> int:
    """Label the base tokens, whose order `following` gives. state[0]: how many they are."""
    spread_labels(labels, tree, following, same_as, spine, state[0])
    return 0
