"""Tokens that their own text does not produce: held to encode(decode(token)) on whole vocabularies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bpe import NEVER, Tokenizer, TrainSettings, rank_lifetimes, train
from bpe.errors import UnknownSymbolError
from bpe.pretrained import RankTokenizer, load_pretrained
from bpe.reachability import (
    GLITCH_EXAMPLES,
    Reachability,
    Reason,
    find_context,
    find_unproduced,
    merges_into_one,
    occurs_in_utf8,
)
from bpe.samples import load_sample
from bpe.tokenizer import TokenizerLike
from bpe.vocabulary import Vocabulary, list_vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}
PRODUCED = (Reason.PRODUCED, Reason.WHOLE)


def analysed(tokenizer: TokenizerLike) -> tuple[Vocabulary, Reachability]:
    vocabulary = list_vocabulary(tokenizer)
    return vocabulary, find_unproduced(tokenizer, vocabulary)


def encoded(tokenizer: TokenizerLike, text: str) -> list[int] | None:
    try:
        return tokenizer.encode(text)
    except UnknownSymbolError:  # a character that never ended a word
        return None


def check_against_encoding(tokenizer: TokenizerLike) -> None:
    """Every verdict equals encode(decode(token)) == [token]; a token without a text has no other verdict."""
    vocabulary, found = analysed(tokenizer)
    for row, (token_id, reason) in enumerate(zip(vocabulary.ids.tolist(), found.reasons.tolist(), strict=True)):
        raw = tokenizer.decode_bytes([token_id])
        text = tokenizer.decode([token_id])
        if text.encode() != raw:
            assert reason in (Reason.PARTIAL, Reason.NOT_UTF8), vocabulary.names[row]
            continue
        is_produced = encoded(tokenizer, text) == [token_id]
        assert (reason in PRODUCED) == is_produced, (token_id, vocabulary.names[row], Reason(reason).name)
    assert found.num_checked == len(vocabulary)


# ---------------------------------------------------------------------------------------------- whole vocabularies


@pytest.mark.parametrize("name", ["gpt2", "p50k_base"])
def test_a_real_vocabulary_token_by_token(name):
    """The larger ones: benchmarks/vocabulary.py."""
    check_against_encoding(load_pretrained(name))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("bert-uncased", Reason.INSIDE_WORD), ("llama2", Reason.NORMALIZED), ("qwen2.5", Reason.NORMALIZED)],
)
def test_a_vocabulary_behind_a_normalizer_token_by_token(name, reason):
    """WordPiece continues words, SentencePiece puts a space in front, Qwen composes characters."""
    tokenizer = load_pretrained(name)
    check_against_encoding(tokenizer)
    assert find_unproduced(tokenizer, list_vocabulary(tokenizer)).count(reason) > 100


@pytest.mark.parametrize(
    "settings",
    [
        TrainSettings(num_merges=1500),
        TrainSettings(num_merges=800, split="none"),
        TrainSettings(num_merges=800, base="chars", split="whitespace"),
        TrainSettings(num_merges=800, base="chars", split="whitespace", end_of_word="separate"),
        TrainSettings(num_merges=800, base="chars", split="whitespace", end_of_word="attached"),
    ],
    ids=lambda settings: f"{settings.base}-{settings.split}-{settings.end_of_word}",
)
def test_a_trained_vocabulary_token_by_token(settings):
    check_against_encoding(train(load_sample("udhr-eng") + load_sample("udhr-hin"), settings).tokenizer)


@hypothesis_settings(deadline=None)
@given(
    text=st.text(alphabet="ab ", min_size=2, max_size=40),
    num_merges=st.integers(0, 12),
    split=st.sampled_from(["none", "whitespace", "gpt2"]),
)
def test_any_small_vocabulary_token_by_token(text, num_merges, split):
    settings = TrainSettings(num_merges=num_merges, split=split, base="chars", min_pair_count=1)
    check_against_encoding(train(text, settings).tokenizer)


@hypothesis_settings(deadline=None)
@given(tokens=st.lists(st.text("abc ", min_size=2, max_size=5), unique=True, max_size=8))
def test_any_rank_table_token_by_token(tokens):
    """Tables of random strings: most are made by no merge, and only looked up."""
    ranks = BYTES | {token.encode(): 256 + place for place, token in enumerate(tokens)}
    check_against_encoding(RankTokenizer("random", ranks, "gpt2", {}))


@hypothesis_settings(deadline=None)
@given(
    tokens=st.lists(st.binary(min_size=2, max_size=4), unique=True, max_size=12),
    token=st.binary(min_size=1, max_size=40),
)
def test_the_textbook_loop_equals_the_replay_of_the_encoder(tokens, token):
    small = bytes(byte % 3 for byte in token)
    ranks = BYTES | {bytes(byte % 3 for byte in name): 256 + place for place, name in enumerate(tokens)}
    assert merges_into_one(small, ranks) == (not np.any(rank_lifetimes(small, ranks) == NEVER))


# ---------------------------------------------------------------------------------------------- reasons


def test_gpt2_produces_every_token_that_has_a_text():
    vocabulary, found = analysed(load_pretrained("gpt2"))
    assert found.unproduced.tolist() == []
    assert found.count(Reason.SPECIAL) == 1
    assert found.count(Reason.PARTIAL) + found.count(Reason.NOT_UTF8) == 344
    assert [vocabulary.names[row] for row in found.rows(Reason.NOT_UTF8)] == [
        bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))
    ]


def test_a_token_across_pre_tokens_is_split():
    vocabulary, found = analysed(RankTokenizer("own", BYTES | {b"a ": 256, b"ab": 257}, "gpt2", {}))
    assert [Reason(found.reasons[vocabulary.row_of(token)]) for token in (256, 257)] == [Reason.SPLIT, Reason.PRODUCED]


def test_a_token_that_no_merge_makes_is_only_looked_up():
    tokenizer = RankTokenizer("own", BYTES | {b"abc": 256}, "gpt2", {})
    _vocabulary, found = analysed(tokenizer)
    assert found.rows(Reason.WHOLE).tolist() == [256]
    assert tokenizer.encode("abc abc") == [256, 32, 97, 98, 99]


def test_a_token_whose_parts_go_elsewhere_is_an_unreachable_merge():
    tokenizer = Tokenizer(split="none", merges=((98, 99), (97, 98), (257, 99)))  # bc, ab, ab+c
    _vocabulary, found = analysed(tokenizer)
    assert found.rows(Reason.MERGE).tolist() == [258]
    assert tokenizer.decode([258]) == "abc"
    assert tokenizer.encode("abc") == [97, 256]


def test_without_the_mark_a_token_needs_more_of_the_word():
    words = {"low": 5, "lower": 2}
    tokenizer = train(words, TrainSettings(num_merges=4, base="chars", end_of_word="attached")).tokenizer
    vocabulary, found = analysed(tokenizer)
    marked = [name.endswith(b"</w>") for name in vocabulary.names]
    assert [reason == Reason.INSIDE_WORD for reason in found.reasons] == [not mark for mark in marked]


def test_a_cancelled_search_keeps_what_it_found():
    tokenizer = load_pretrained("gpt2")
    calls: list[tuple[int, int]] = []

    def stop_early(done: int, asked: int) -> bool:
        calls.append((done, asked))
        return done < 6_000

    found = find_unproduced(tokenizer, list_vocabulary(tokenizer), stop_early)
    assert calls == [(done, 50_257) for done in (0, 2_000, 4_000, 6_000)]
    assert found.num_checked == 6_000
    assert found.count(Reason.UNCHECKED) == 44_257


# ---------------------------------------------------------------------------------------------- utf-8


def test_two_bytes_occur_in_utf8_exactly_when_some_text_holds_them():
    characters = [chr(point).encode() for point in range(0x800)]
    characters += [chr(point).encode() for point in range(0x800, 0x110000, 61) if not 0xD800 <= point < 0xE000]
    inside = {char[i : i + 2] for char in characters for i in range(len(char) - 1)}
    ends = {char[-1:] for char in characters}
    starts = {char[:1] for char in characters}
    occurring = inside | {end + start for end, start in product(ends, starts)}
    every = (bytes(pair) for pair in product(range(256), repeat=2))
    assert {pair for pair in every if occurs_in_utf8(pair)} == occurring


@hypothesis_settings(deadline=None)
@given(text=st.text(max_size=6), start=st.integers(0, 6), size=st.integers(0, 12))
def test_every_slice_of_a_text_occurs_in_utf8(text, start, size):
    assert occurs_in_utf8(text.encode()[start : start + size])


# ---------------------------------------------------------------------------------------------- o200k


def test_tokens_of_o200k_that_its_changed_split_pattern_cuts():
    """The pattern takes slashes and contractions into a pre-token where it also needs what is before them."""
    tokenizer = load_pretrained("o200k")
    for token, text, ids in ((3413, " I'", [357, 6]), (3914, "\n//", [198, 393]), (193819, "亚洲AV", [6199, 5345])):
        assert tokenizer.decode([token]) == text
        assert tokenizer.encode(text) == ids
        context = find_context(tokenizer, token)
        assert context is not None
        assert text in context
        assert token in tokenizer.encode(context)


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
def test_most_parts_of_characters_occur_in_some_character(name):
    tokenizer = load_pretrained(name)
    vocabulary = list_vocabulary(tokenizer)
    rows = [row for row in range(len(vocabulary)) if not vocabulary.texts[row]][40:120]
    contexts = [find_context(tokenizer, int(vocabulary.ids[row])) for row in rows]
    for row, context in zip(rows, contexts, strict=True):
        if context is not None:
            assert int(vocabulary.ids[row]) in tokenizer.encode(context)
        else:
            assert not occurs_in_utf8(vocabulary.names[row])


def test_bytes_that_no_text_holds_have_no_context():
    assert find_context(load_pretrained("gpt2"), 177) is None


@pytest.mark.parametrize("example", GLITCH_EXAMPLES, ids=lambda example: example.text.strip())
def test_published_examples_are_tokens_where_they_were_published(example):
    assert len(load_pretrained(example.tokenizer).encode(example.text)) == 1
    assert example.source


@pytest.mark.parametrize(
    ("text", "token"),
    [(" SolidGoldMagikarp", 43453), (" petertodd", 37444), ("StreamerBot", 37574), (" davidjl", 23282)],
)
def test_the_ids_that_are_quoted_for_them(text, token):
    assert load_pretrained("gpt2").encode(text) == [token]
    assert text in [example.text for example in GLITCH_EXAMPLES]


def test_cl100k_has_no_magikarp():
    assert len(load_pretrained("cl100k").encode(" SolidGoldMagikarp")) == 5


@pytest.mark.parametrize("end_of_word", ["none", "separate", "attached"])
def test_a_context_under_a_character_tokenizer_holds_only_what_it_knows(end_of_word):
    settings = TrainSettings(base="chars", end_of_word=end_of_word, split="whitespace", num_merges=6)
    tokenizer = train("ab aab abs as " * 3, settings).tokenizer
    contexts = [find_context(tokenizer, token_id) for token_id in range(tokenizer.vocab_size)]
    assert any(context is not None for context in contexts)
    for token_id, context in enumerate(contexts):
        assert context is None or token_id in tokenizer.encode(context)
