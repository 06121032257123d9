"""Merge trees: every node is made of the two below it, and they tile the token."""

from __future__ import annotations

import pytest

from bpe import Tokenizer, TrainSettings, train
from bpe.errors import TokenIdError
from bpe.merge_tree import merge_tree
from bpe.pretrained import RankTokenizer, load_pretrained
from bpe.samples import load_sample
from bpe.vocabulary import TokenFilter, find_tokens, list_vocabulary


def check_tree(tokenizer, vocabulary, token_id):
    tree = merge_tree(tokenizer, vocabulary, token_id)
    root = tree[0]
    assert (root.token_id, root.name, root.start, root.parent) == (token_id, tokenizer.token_bytes(token_id), 0, -1)
    for place, node in enumerate(tree):
        assert root.name[node.start : node.end] == node.name == tokenizer.token_bytes(node.token_id)
        children = [child for child in tree if child.parent == place]
        if not children:
            assert node.rank == -1
            continue
        left, right = children
        assert left.name + right.name == node.name
        assert (left.start, left.end, right.end) == (node.start, right.start, node.end)
        assert left.depth == right.depth == node.depth + 1
        assert max(left.rank, right.rank) < node.rank
    return tree


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
def test_trees_of_real_tokens(name):
    tokenizer = load_pretrained(name)
    vocabulary = list_vocabulary(tokenizer)
    longest = find_tokens(vocabulary, TokenFilter(order="longest"))[:5]
    for row in [*longest, *range(0, len(vocabulary), 4_999)]:
        check_tree(tokenizer, vocabulary, int(vocabulary.ids[row]))


def test_the_tree_of_strawberry_in_gpt2():
    tokenizer = load_pretrained("gpt2")
    tree = check_tree(tokenizer, list_vocabulary(tokenizer), 41_236)
    assert [node.name for node in tree if node.depth == 1] == [b" straw", b"berry"]
    leaves = [node for node in tree if node.rank == -1]
    assert b"".join(leaf.name for leaf in leaves) == b" strawberry"


@pytest.mark.parametrize("options", [{}, {"base": "chars"}, {"base": "chars", "end_of_word": "attached"}])
def test_trees_of_trained_tokens(options):
    tokenizer = train(load_sample("udhr-eng"), TrainSettings(num_merges=300, **options)).tokenizer
    vocabulary = list_vocabulary(tokenizer)
    for token_id in range(0, tokenizer.vocab_size, 7):
        check_tree(tokenizer, vocabulary, token_id)


def test_a_tree_as_deep_as_the_vocabulary_needs_no_recursion():
    merges = [(97, 97)] + [(255 + depth, 97) for depth in range(1, 3_000)]
    tokenizer = Tokenizer(split="none", merges=tuple(merges))
    tree = merge_tree(tokenizer, list_vocabulary(tokenizer), 256 + 2_999)
    assert len(tree) == 2 * 3_001 - 1
    assert max(node.depth for node in tree) == 3_000


def test_a_token_that_is_only_looked_up_is_a_root_alone():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256}
    tokenizer = RankTokenizer("own", ranks, "gpt2", {})
    assert [node.name for node in merge_tree(tokenizer, list_vocabulary(tokenizer), 256)] == [b"abc"]


def test_a_special_token_is_a_root_alone():
    tokenizer = load_pretrained("gpt2")
    assert [node.name for node in merge_tree(tokenizer, list_vocabulary(tokenizer), 50_256)] == [b"<|endoftext|>"]


def test_an_id_out_of_range_is_refused():
    tokenizer = load_pretrained("gpt2")
    with pytest.raises(TokenIdError, match="from 0 to 50,256"):
        merge_tree(tokenizer, list_vocabulary(tokenizer), 50_257)
