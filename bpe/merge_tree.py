"""The merge tree of a token: which two tokens it was made of, which two those, down to the base symbols.

A merge always joins the same two tokens, so a token has one tree, whatever text it stands in. Lifetimes hold the
same tree for a stretch of text (lifetimes.py); here it is read from the merges, which also works for a token
whose bytes are no text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bpe.rank_tokenizer import NO_PARENT, RankTokenizer
from bpe.tokenizer import TokenizerLike
from bpe.vocabulary import Vocabulary

__all__ = ["TreeNode", "merge_tree"]


class TreeNode(NamedTuple):
    """A token of the tree and the bytes it covers.

    token_id, name   the token
    start, end       the bytes it covers, counted in the root
    parent           place in the tree of the token that it was merged into, -1 for the root
    depth            merges between it and the root
    rank             merge rank that makes it, -1 for a base symbol
    """

    token_id: int
    name: bytes
    start: int
    end: int
    parent: int
    depth: int
    rank: int


def merge_tree(tokenizer: TokenizerLike, vocabulary: Vocabulary, token_id: int) -> tuple[TreeNode, ...]:
    """Return the tree of a token: the root first, every token before the two it was made of, left before right.

    A token that no merge makes is a root alone: base symbols, special tokens, and whole pre-tokens that are
    only looked up. Linear in the bytes of the token.

    Raises:
        TokenIdError: no token has this id.

    >>> from bpe.pretrained import load_pretrained
    >>> from bpe.vocabulary import list_vocabulary
    >>> gpt2 = load_pretrained("gpt2")
    >>> tree = merge_tree(gpt2, list_vocabulary(gpt2), 41236)
    >>> [(node.name, node.rank) for node in tree if node.depth == 1]
    [(b' straw', 14531), (b'berry', 8140)]
    """
    row = vocabulary.row_of(token_id)
    name = vocabulary.names[row]
    pair_of = _pair_lookup(tokenizer)
    nodes: list[TreeNode] = []
    waiting = [TreeNode(token_id, name, 0, len(name), -1, 0, int(vocabulary.ranks[row]))]
    while waiting:
        node = waiting.pop()
        place = len(nodes)
        nodes.append(node)
        if node.rank < 0:
            continue
        left, right = pair_of(node.rank)
        if left == NO_PARENT:
            continue
        middle = node.start + len(vocabulary.names[vocabulary.row_of(left)])
        for child, start, end in ((right, middle, node.end), (left, node.start, middle)):
            child_row = vocabulary.row_of(child)
            child_name, rank = vocabulary.names[child_row], int(vocabulary.ranks[child_row])
            waiting.append(TreeNode(child, child_name, start, end, place, node.depth + 1, rank))
    return tuple(nodes)


def _pair_lookup(tokenizer: TokenizerLike) -> Callable[[int], tuple[int, int]]:
    """Return a function from merge rank to pair. A rank table replays a token for each; merges are just read."""
    if isinstance(tokenizer, RankTokenizer):

        def replayed(rank: int) -> tuple[int, int]:
            merge = tokenizer.merge_rows(np.array([rank], dtype=np.int64))
            return int(merge.left[0]), int(merge.right[0])

        return replayed
    rows = tokenizer.merge_rows()
    return lambda rank: (int(rows.left[rank]), int(rows.right[rank]))
