"""A long text in pieces: the same ids and the same history, under every split pattern; progress, and a way to stop."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import SPLIT_PATTERNS, Tokenizer, TrainSettings, load_pretrained, train
from bpe.byte_axis import place_tokens
from bpe.costs import compare_units
from bpe.errors import SpecialTokenError, StoppedError
from bpe.in_pieces import PIECE_CHARS, cut_text, encode_in_pieces, encode_marked, history_in_pieces
from bpe.metrics import count_tokens
from bpe.samples import load_sample

# What split patterns tell apart: letters of every case and script, digits, signs, marks, all sorts of white space.
LETTERS = ("a", "Ab", "ABc", "中", "中A", "É", "e\u0301", "ǅ", "ʰ", "'s", "'S", "'ll", "\ua7dc", "\U000105c0")
SIGNS = ("1", "1234", "½", ".", "!?", "/", "👍🏽", "\ud83d")
SPACES = (" ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\x1c", "\x85")
WORDS = st.sampled_from((*LETTERS, *SIGNS, *SPACES))
TEXTS = st.lists(WORDS, max_size=30).map("".join)
REAL = ("gpt2", "cl100k_base", "o200k_base", "llama3", "qwen2.5", "llama2")


@cache
def trained(split: str) -> Tokenizer:
    text = load_sample("emoji-chat")[:6_000] + "中中AbAbc 中A\n\nABc's 1234 "
    return train(text, TrainSettings(split=split, num_merges=300)).tokenizer


def assert_same_history(one, other):
    assert one.text == other.text
    assert type(one) is type(other)
    for name in ("offsets", "lifetimes", "walls", "final_ids"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.num_merges == other.num_merges


def assert_same_in_pieces(tokenizer, text, least):
    assert encode_in_pieces(tokenizer, text, piece_chars=least) == tokenizer.encode(text)
    assert_same_history(history_in_pieces(tokenizer, text, piece_chars=least), tokenizer.history(text))


@pytest.mark.parametrize("split", [*SPLIT_PATTERNS, r"\w+|\s(?=b)"])
@settings(max_examples=150)
@given(text=TEXTS, least=st.integers(1, 6))
def test_a_trained_tokenizer_gives_the_same_in_pieces(split, text, least):
    assert_same_in_pieces(trained(split), text, least)


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=150)
@given(text=TEXTS, least=st.integers(1, 6))
def test_a_real_tokenizer_gives_the_same_in_pieces(name, text, least):
    assert_same_in_pieces(load_pretrained(name), text, least)


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_samples_in_many_scripts_are_cut_and_come_out_the_same(name):
    tokenizer = load_pretrained(name)
    for sample in ("udhr-eng", "udhr-hin", "udhr-ara", "python-source"):
        text = load_sample(sample)[:60_000]
        assert len(cut_text(tokenizer, text, 1_000)) > 3
        assert_same_history(history_in_pieces(tokenizer, text, piece_chars=1_000), tokenizer.history(text))


@pytest.mark.parametrize("special", ["\nUser:", "<a b>", "x\ny", " end", "<|end|>"])
def test_a_special_token_is_never_cut(special):
    tokenizer = trained("gpt2")
    tokenizer = replace(tokenizer, special_tokens={special: tokenizer.vocab_size})
    text = f"one two{special}three{special} four\nfive " * 5
    for least in range(1, 9):
        assert encode_in_pieces(tokenizer, text, special="special", piece_chars=least) == tokenizer.encode(
            text, special="special"
        )


def test_pieces_are_the_text_and_as_long_as_asked():
    text = load_sample("udhr-eng")
    pieces = cut_text(load_pretrained("gpt2"), text, 500)
    assert "".join(pieces) == text
    assert all(500 <= len(piece) < 1_000 for piece in pieces[:-1])


@pytest.mark.parametrize(
    "tokenizer",
    [
        Tokenizer(split="none"),
        Tokenizer(split="[a-z]+"),
        Tokenizer(special_tokens={"two words": 256}),
        Tokenizer.base_of(["one", "two"], base="chars", end_of_word="separate", split="whitespace"),
    ],
    ids=["none", "own pattern", "special token over a cut", "end-of-word mark"],
)
def test_what_may_not_be_cut_stays_whole(tokenizer):
    assert cut_text(tokenizer, "one two words three", 1) == ["one two words three"]


def test_special_tokens_count_in_pieces_as_they_do_in_the_whole():
    gpt2 = load_pretrained("gpt2")
    text = "one two<|endoftext|> three four<|endoftext|>"
    for special in ("text", "special"):
        ids = gpt2.encode(text, special=special)
        assert encode_in_pieces(gpt2, text, special=special, piece_chars=3) == ids
        history = history_in_pieces(gpt2, text, special=special, piece_chars=3)
        assert_same_history(history, gpt2.history(text, special=special))
    with pytest.raises(SpecialTokenError, match="at character 7;"):
        encode_in_pieces(gpt2, text, special="reject", piece_chars=3)
    assert encode_in_pieces(gpt2, "one two", special="reject", piece_chars=1) == gpt2.encode("one two")


def test_progress_counts_characters_and_stops_the_work():
    seen = []

    def progress(done: int, asked: int) -> bool:
        seen.append((done, asked))
        return done < 3

    assert len(cut_text(Tokenizer(), "one two three", 1)) == 3
    with pytest.raises(StoppedError):
        history_in_pieces(Tokenizer(), "one two three", progress=progress, piece_chars=1)
    assert seen == [(0, 13), (3, 13)]
    seen.clear()
    encode_in_pieces(Tokenizer(), "a", progress=progress)
    assert seen == [(0, 1), (1, 1)]


LONG = "some words and more of them " * (3 * PIECE_CHARS // 28)


@pytest.mark.parametrize(
    "work",
    [
        lambda text, progress: encode_marked(load_pretrained("gpt2"), text, progress=progress),
        lambda text, progress: place_tokens(load_pretrained("gpt2"), text, progress=progress),
        lambda text, progress: place_tokens(load_pretrained("qwen2.5"), text[:1_000], progress=progress),
        lambda text, progress: compare_units(text, load_pretrained("gpt2"), progress=progress),
        lambda text, progress: count_tokens(Tokenizer(), text.split(" "), progress=progress),
        lambda text, progress: count_tokens(load_pretrained("gpt2"), text.split(" "), progress=progress),
    ],
    ids=["ids", "places", "places of a text in one go", "units", "counts of a trained one", "counts of a real one"],
)
def test_counting_reports_and_stops_before_the_end(work):
    calls = []

    def stop_at_second(done: int, asked: int) -> bool:
        calls.append((done, asked))
        return len(calls) < 2

    with pytest.raises(StoppedError):
        work(LONG, stop_at_second)
    assert len(calls) == 2
    assert calls[0][0] == 0 < calls[1][0] <= calls[1][1]


def test_marked_ids_are_those_of_encode_where_all_is_known():
    gpt2 = load_pretrained("gpt2")
    assert encode_marked(gpt2, "two words") == gpt2.encode("two words")
    characters = Tokenizer.base_of(["low"], base="chars")
    assert encode_marked(characters, "lot") == characters.encode("lot", unknown="mark") == [0, 1, -1]
