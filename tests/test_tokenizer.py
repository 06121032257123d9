"""Tokenizer: bytes are never lost, special tokens in three ways, steps, end marks, unknown characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import INSIDE, UNKNOWN_ID, WALL, Tokenizer, TrainSettings, train
from bpe.errors import SettingsError, SpecialTokenError, TokenIdError, UnknownSymbolError
from bpe.tokenizer import split_special

CORPUS = "the cat sat on the mat, the rat sat on the cat " * 3


def trained(corpus=CORPUS, **settings):
    return train(corpus, TrainSettings(**{"num_merges": 30, **settings})).tokenizer


MARKED = [("separate", "low</w> low</w>\nlower</w>"), ("attached", "low</w> low</w>\nlower</w>")]


@given(text=st.text())
def test_every_text_comes_back_byte_for_byte(text):
    tokenizer = trained()
    ids = tokenizer.encode(text)
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()
    history = tokenizer.history(text)
    assert history.text == text.encode()
    assert b"".join(history.tokens(tokenizer.num_merges // 2)) == text.encode()


def test_decode_replaces_what_is_not_utf8_and_decode_bytes_keeps_it():
    tokenizer = Tokenizer()
    ids = tokenizer.encode("é")
    assert tokenizer.decode_bytes(ids[:1]) == b"\xc3"
    assert tokenizer.decode(ids[:1]) == "\ufffd"


def test_at_step_is_the_tokenizer_after_k_merges():
    tokenizer = trained()
    assert tokenizer.at_step(0).encode("the") == list(b"the")
    assert tokenizer.at_step(tokenizer.num_merges).encode("the cat") == tokenizer.encode("the cat")
    assert tokenizer.at_step(3).vocab_size == 259
    with pytest.raises(SettingsError, match="step must be from 0 to 14, but is 15"):
        tokenizer.at_step(15)


@pytest.mark.parametrize("token", [-2, 270, 10**9])
def test_an_id_outside_the_vocabulary_is_refused(token):
    with pytest.raises(TokenIdError, match="token id must be from 0 to 269 and in use"):
        trained().token_bytes(token)


# ------------------------------------------------------------------------------------------- special tokens


def with_special():
    return Tokenizer(special_tokens={"<|end|>": 300, "<|end|><|end|>": 301})


def test_special_tokens_are_text_unless_said_otherwise():
    tokenizer = with_special()
    assert tokenizer.encode("a<|end|>") == list(b"a<|end|>")
    assert tokenizer.encode("a<|end|>b", special="special") == [97, 300, 98]
    assert tokenizer.encode("<|end|><|end|><|end|>", special="special") == [301, 300]
    assert tokenizer.decode([97, 300]) == "a<|end|>"
    with pytest.raises(SpecialTokenError, match=r"holds <\|end\|> at character 1"):
        tokenizer.encode("a<|end|>", special="reject")
    assert tokenizer.encode("ab", special="reject") == [97, 98]


def test_a_special_token_is_one_symbol_between_walls():
    history = with_special().history("a<|end|>b", special="special")
    assert history.tokens(0) == [b"a", b"<|end|>", b"b"]
    assert history.walls.tolist() == [True, True]
    assert history.final_ids.tolist() == [97, 300, 98]


@given(text=st.text(alphabet="a<|end>"), mode=st.sampled_from(["text", "special"]))
def test_stretches_join_to_the_text(text, mode):
    assert "".join(part for part, _ in split_special(text, {"<|end|>": 1, "<|": 2}, mode)) == text


# ------------------------------------------------------------------------------------------- characters, end marks


@pytest.mark.parametrize(("end_of_word", "shown"), MARKED)
def test_the_end_mark_is_written_into_the_history(end_of_word, shown):
    tokenizer = trained("low  low\n lower", base="chars", end_of_word=end_of_word, split="whitespace", min_pair_count=1)
    history = tokenizer.history("  low  low\n lower ")
    assert history.text.decode() == shown + " "
    assert tokenizer.decode(tokenizer.encode("  low  low\n lower")) == "low low lower"


def test_separate_and_attached_marks_start_from_other_symbols():
    separate = trained("low low", base="chars", end_of_word="separate", split="whitespace", num_merges=0)
    attached = trained("low low", base="chars", end_of_word="attached", split="whitespace", num_merges=0)
    assert [separate.token_bytes(t) for t in separate.encode("low")] == [b"l", b"o", b"w", b"</w>"]
    assert [attached.token_bytes(t) for t in attached.encode("low")] == [b"l", b"o", b"w</w>"]


def test_the_mark_written_in_the_text_is_not_the_mark():
    tokenizer = trained("a</w> a</w>", base="chars", end_of_word="separate", split="whitespace", num_merges=40)
    ids = tokenizer.encode("a</w>")
    assert tokenizer.decode(ids) == "a</w>"
    base = tokenizer.at_step(0).encode("a</w>")
    assert [tokenizer.token_bytes(t) for t in base] == [b"a", b"<", b"/", b"w", b">", b"</w>"]


@pytest.mark.parametrize("end_of_word", ["none", "separate", "attached"])
def test_a_tokenizer_of_an_empty_corpus_knows_no_character_and_no_mark(end_of_word):
    tokenizer = trained(" ", base="chars", end_of_word=end_of_word, split="whitespace", num_merges=0)
    history = tokenizer.history("ab c")
    assert len(history.lifetimes) == history.num_symbols - 1
    assert set(history.final_ids[history.final_ids >= 0].tolist()) <= {0}
    assert len(history.byte_lifetimes()) == len(history.text) - 1


def test_characters_of_several_bytes_are_never_cut():
    tokenizer = trained("né né né", base="chars", split="none", num_merges=0)
    assert tokenizer.history("né").byte_lifetimes().tolist()[1] == INSIDE


def test_an_unknown_character_is_said_or_marked():
    tokenizer = trained("abc abc", base="chars", split="none")
    with pytest.raises(UnknownSymbolError, match=r"holds x \(U\+0078\)"):
        tokenizer.encode("abx")
    ids = tokenizer.encode("abx", unknown="mark")
    assert ids[-1] == UNKNOWN_ID
    assert tokenizer.decode(ids) == "ab\ufffd"
    assert tokenizer.history("abx").final_ids.tolist() == ids


def test_a_character_only_known_at_the_end_of_words_is_unknown_inside():
    tokenizer = trained("ab ab", base="chars", end_of_word="attached", split="whitespace", num_merges=0)
    with pytest.raises(UnknownSymbolError):
        tokenizer.encode("ba")


# ------------------------------------------------------------------------------------------- history


def test_byte_lifetimes_mark_walls():
    history = trained().history("the cat")
    lifetimes = history.byte_lifetimes()
    assert len(lifetimes) == 6
    assert lifetimes[2] == WALL  # the| cat
    assert np.count_nonzero(lifetimes == WALL) == 1


@given(text=st.text(alphabet="the cat\né", max_size=30), k=st.integers(0, 14))
def test_byte_lifetimes_cut_like_symbol_lifetimes(text, k):
    history = trained().history(text)
    by_bytes = np.flatnonzero(history.byte_lifetimes() >= k) + 1
    assert by_bytes.tolist() == history.token_offsets(k)[1:-1].tolist()


def test_a_table_is_shown_one_word_a_line():
    training = train({"low": 5, "lower": 2}, TrainSettings(base="chars", num_merges=5, min_pair_count=1))
    history = training.table_history()
    assert history.text == b"low\nlower\n"
    # (l, o), (lo, w) at 7; (low, e) and (lowe, r) at 2: every word becomes whole.
    assert history.tokens(4) == [b"low\n", b"lower\n"]


def test_merge_rows_can_be_a_subset():
    rows = trained().merge_rows(np.array([0, 2, 5]))
    assert rows.rank.tolist() == [0, 2, 5]
    assert rows.token.tolist() == [256, 258, 261]
    assert rows.count is None


@pytest.mark.parametrize("settings", [{}, {"base": "chars", "split": "none"}])
def test_half_a_surrogate_pair_becomes_the_replacement_character(settings):
    tokenizer = trained("a\ud83db a\ufffdb", min_pair_count=1, **settings)
    assert tokenizer.decode(tokenizer.encode("a\ud83db")) == "a\ufffdb"
    assert tokenizer.history("\udc00").text == "\ufffd".encode()
