"""Encoding: the heap against the textbook loop, lifetimes against the tokenizer at every step, and long inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import NEVER, TrainSettings, encode_reference, encode_trace, rank_lifetimes, train, train_reference
from bpe.encoder import encode

alphabet = st.text(alphabet="abc ", max_size=30)


def trained(text, **settings):
    return train(text, TrainSettings(**{"split": "none", "num_merges": 20, "min_pair_count": 1, **settings})).tokenizer


def test_unit_is_replayed_by_rank_not_by_longest_match():
    # n+i is learned before u+n, so `unit` never gets to be un|i|t.
    words = {"ni": 5, "un": 4, "t": 1}
    tokenizer = train(words, TrainSettings(base="chars", num_merges=2, min_pair_count=1)).tokenizer
    assert [tokenizer.token_bytes(t) for t in tokenizer.encode("unit")] == [b"u", b"ni", b"t"]


def test_a_reordered_merge_list_gives_other_ids():
    words = {"ni": 5, "un": 4, "t": 1}
    tokenizer = train(words, TrainSettings(base="chars", num_merges=2, min_pair_count=1)).tokenizer
    swapped = tokenizer.with_merges(tokenizer.merges[::-1])
    assert {*map(swapped.token_bytes, range(swapped.vocab_size))} == {
        *map(tokenizer.token_bytes, range(tokenizer.vocab_size))
    }
    assert [swapped.token_bytes(t) for t in swapped.encode("unit")] == [b"un", b"i", b"t"]


@given(corpus=alphabet, text=alphabet)
def test_encode_equals_the_textbook_loop(corpus, text):
    tokenizer = trained(corpus)
    symbols = tokenizer.symbols(text)
    expected = encode_reference(symbols, tokenizer.ranks, 256)
    assert encode(symbols, tokenizer.ranks, 256)[0] == expected
    assert tokenizer.encode(text) == expected


@given(corpus=alphabet, text=alphabet)
def test_trace_ends_where_encode_does_and_ranks_rise(corpus, text):
    tokenizer = trained(corpus)
    steps = list(encode_trace(tokenizer.symbols(text), tokenizer.ranks, 256))
    assert [rank for rank, _symbols in steps] == sorted({rank for rank, _symbols in steps})
    if steps:
        assert steps[-1][1] == tokenizer.encode(text)


@given(
    corpus=alphabet,
    text=alphabet,
    mode=st.sampled_from([("bytes", "none"), ("chars", "none"), ("chars", "separate"), ("chars", "attached")]),
    split=st.sampled_from(["none", "whitespace", "gpt2"]),
)
def test_lifetimes_cut_at_k_are_the_reference_after_k_merges(corpus, text, mode, split):
    base, end_of_word = mode
    training = train_reference(corpus, TrainSettings(base, end_of_word, split, num_merges=15, min_pair_count=1))
    history = training.tokenizer.history(text)
    same = training.history(text)  # pre-tokens of the corpus looked up instead of encoded
    assert same.lifetimes.tolist() == history.lifetimes.tolist()
    assert same.final_ids.tolist() == history.final_ids.tolist()
    for k in range(training.num_merges + 1):
        expected = training.tokenizer.at_step(k).encode(text, unknown="mark")
        assert len(history.tokens(k)) == len(expected) == history.num_tokens[k]
        if -1 not in expected:
            names = [training.tokenizer.token_bytes(token) for token in expected]
            drawn = history.tokens(k)
            assert [t.strip() for t in drawn] == [n.strip() for n in names] if end_of_word != "none" else drawn == names
    assert history.final_ids.tolist() == training.tokenizer.encode(text, unknown="mark")


@given(corpus=alphabet)
def test_the_corpus_replayed_is_the_corpus_trained(corpus):
    training = train(corpus, TrainSettings(num_merges=15, min_pair_count=1))
    history = training.tokenizer.history(corpus)
    assert history.num_tokens.tolist() == training.num_tokens.tolist()
    assert history.text == corpus.encode()


@given(corpus=alphabet, text=alphabet)
def test_rank_table_gives_the_same_lifetimes_as_the_merge_list(corpus, text):
    tokenizer = trained(corpus)
    names = [tokenizer.token_bytes(256 + rank) for rank in range(tokenizer.num_merges)]
    if len(set(names)) < len(names):
        return  # two merges made the same bytes in two ways: a rank table cannot say so
    ranks = {name: rank for rank, name in enumerate(names)}
    by_table = rank_lifetimes(text.encode(), ranks)
    tokens_by_table = np.flatnonzero(by_table == NEVER).tolist()
    # A table may also join a pair that the list does not hold; where it does not, all lifetimes agree.
    if tokens_by_table == np.flatnonzero(tokenizer.lifetimes(text) == NEVER).tolist():
        assert by_table.tolist() == tokenizer.lifetimes(text).tolist()


def test_a_rank_table_out_of_order_lifts_the_lifetime():
    # abc is ranked before ab, but can only be made from ab + c here.
    lifetimes = rank_lifetimes(b"abc", {b"abc": 3, b"ab": 7})
    assert lifetimes.tolist() == [7, 7]


@pytest.mark.parametrize("char", ["a", " "])
def test_a_million_equal_characters(char):
    tokenizer = trained(char * 4096, num_merges=10)
    ids = tokenizer.encode(char * 1_000_000)
    assert tokenizer.decode(ids) == char * 1_000_000
    assert len(ids) == 1_000_000 // 1024 + bin(1_000_000 % 1024).count("1")


def test_empty_and_single():
    tokenizer = trained("abab")
    assert tokenizer.encode("") == []
    assert tokenizer.encode("x") == [120]
    assert tokenizer.history("").num_tokens.tolist() == [0] * (tokenizer.num_merges + 1)
    assert tokenizer.history("x").tokens(0) == [b"x"]
    assert rank_lifetimes(b"", {}).tolist() == []
