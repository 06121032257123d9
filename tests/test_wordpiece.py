"""WordPiece: the course example by hand, the fast trainer against its twin, the encoder against `tokenizers`."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as HuggingFace
from tokenizers import models, pre_tokenizers

from bpe.errors import BpeError, CorpusError, SettingsError, SpecialTokenError, TokenIdError
from bpe.lifetimes import NEVER
from bpe.samples import load_sample
from bpe.vocabularies.pieces import load_bert
from bpe.wordpiece import BERT_SPLIT, WordPieceTokenizer
from bpe.wordpiece_training import WordPieceSettings, train_wordpiece, train_wordpiece_reference

HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
TIE_BREAKS = ("first-seen", "lowest-ids", "greatest-pair")

TABLES = st.dictionaries(
    st.text(alphabet="ab#", min_size=1, max_size=9), st.integers(1, 4), min_size=1, max_size=8
)  # fmt: skip


def shown(tokenizer, text):
    return [tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text)]


def learned(training):
    name = training.tokenizer.token_bytes
    return [(name(m.left).decode(), name(m.right).decode(), m.score) for m in training.merges]


# ------------------------------------------------------------------------------------------- by hand


def test_hug():
    # Symbols: h 15 (hug 10, hugs 5), p 17, b 4, ##u 36 (all), ##g 20 (hug, pug, hugs), ##n 16, ##s 5.
    # Pairs: h ##u 15/(15*36) = 1/36, p ##u 17/(17*36) = 1/36, b ##u 4/(4*36) = 1/36, ##u ##g 20/(36*20) = 1/36,
    #        ##u ##n 16/(36*16) = 1/36, ##g ##s 5/(20*5) = 1/20, the highest: alone in front.
    # Then ##g 15, ##gs 5. h ##u 1/36 as before, five pairs tie: ##u ##gs 5/(36*5) too. First seen: h ##u.
    # Then hu 15, ##u 21: hu ##g 10/(15*15) = 2/45, p ##u 17/(17*21) = 1/21, hu ##gs 5/(15*5) = 1/15: the highest.
    training = train_wordpiece(HUG, WordPieceSettings(num_merges=3))
    assert learned(training)[0] == ("##g", "##s", Fraction(1, 20))
    assert training.merges[0].num_tied == 0
    first = training.contest(1)
    assert first.candidates[0].score == Fraction(1, 36)
    assert learned(training)[1] == ("h", "##u", Fraction(1, 36))
    assert training.num_tokens.tolist()[0] == 10 * 3 + 5 * 3 + 12 * 3 + 4 * 3 + 5 * 4


def test_bpe_would_have_taken_the_most_frequent_pair():
    # The most frequent pair is ##u ##g, 20 times; by score ##g ##s comes first, with 5.
    contest = train_wordpiece(HUG, WordPieceSettings(num_merges=0)).contest(0)
    assert max(pair.pair_count for pair in contest.candidates) == 20
    assert contest.candidates[0].pair_count == 5


def test_the_vocabulary_begins_with_unk_and_the_characters():
    training = train_wordpiece(HUG, WordPieceSettings(num_merges=1))
    written = [piece.written for piece in training.tokenizer.vocabulary]
    assert written == ["[UNK]", "b", "h", "p", "##g", "##n", "##s", "##u", "##gs"]
    assert training.num_base == 8


def test_min_pair_count_leaves_rare_pairs_alone():
    # qz occurs once: count 1, q 1, ##z 1: score 1. Every other score is lower.
    table = {"qz": 1, "ab": 2, "ac": 2}
    assert learned(train_wordpiece(table, WordPieceSettings(num_merges=1, min_pair_count=1)))[0][:2] == ("q", "##z")
    assert learned(train_wordpiece(table, WordPieceSettings(num_merges=1)))[0][:2] == ("a", "##b")


@settings(deadline=None)
@given(TABLES, st.sampled_from(TIE_BREAKS))
def test_no_two_merges_make_one_token(table, tie_break):
    settings = WordPieceSettings(num_merges=40, tie_break=tie_break, min_pair_count=1)
    vocabulary = train_wordpiece(table, settings).tokenizer.vocabulary
    assert len(set(vocabulary)) == len(vocabulary)


# ------------------------------------------------------------------------------- the twin, and a recount


@settings(deadline=None)
@given(TABLES, st.sampled_from(TIE_BREAKS), st.integers(0, 12), st.integers(1, 3))
def test_equals_the_twin(table, tie_break, num_merges, min_pair_count):
    settings = WordPieceSettings(num_merges=num_merges, tie_break=tie_break, min_pair_count=min_pair_count)
    fast, slow = train_wordpiece(table, settings), train_wordpiece_reference(table, settings)
    assert fast.merges == slow.merges
    assert fast.stopped == slow.stopped
    assert fast.lifetimes.tolist() == slow.lifetimes.tolist()
    assert fast.tokenizer.vocabulary == slow.tokenizer.vocabulary


@settings(deadline=None)
@given(TABLES, st.sampled_from(TIE_BREAKS), st.integers(0, 6))
def test_vocab_size_equals_the_twin(table, tie_break, more):
    num_base = train_wordpiece(table, WordPieceSettings(num_merges=0)).num_base
    settings = WordPieceSettings(vocab_size=num_base + more, tie_break=tie_break, min_pair_count=1)
    fast = train_wordpiece(table, settings)
    assert fast.merges == train_wordpiece_reference(table, settings).merges
    assert fast.tokenizer.vocab_size <= num_base + more
    assert (fast.stopped == "vocab_size") == (fast.tokenizer.vocab_size == num_base + more)


@settings(deadline=None)
@given(TABLES, st.sampled_from(TIE_BREAKS))
def test_every_contest_is_won_by_the_merge(table, tie_break):
    settings = WordPieceSettings(num_merges=8, tie_break=tie_break, min_pair_count=1)
    training = train_wordpiece(table, settings)
    for merge in training.merges:
        contest = training.contest(merge.rank)
        winner = contest.candidates[0]
        assert (winner.left, winner.right) == (merge.left, merge.right)
        assert winner.score == merge.score
        assert contest.num_tied == merge.num_tied + 1
        assert contest.num_pairs == len(contest.candidates)
        assert all(a.score >= b.score for a, b in pairwise(contest.candidates))


@settings(deadline=None)
@given(TABLES)
def test_a_contest_recounts_the_corpus(table):
    training = train_wordpiece(table, WordPieceSettings(num_merges=0, min_pair_count=1))
    name = training.tokenizer.token_bytes
    expected = {}
    for word, count in table.items():
        written = [char if i == 0 else "##" + char for i, char in enumerate(word)]
        for pair in pairwise(written):
            expected[pair] = expected.get(pair, 0) + count
    found = {(name(c.left).decode(), name(c.right).decode()): c.pair_count for c in training.contest(0).candidates}
    assert found == expected


def test_scores_that_floats_cannot_tell_apart():
    # With N = 2^30 + 1: ab N times has score N/(N N) = 1/N, cd N + 1 times 1/(N + 1), which is lower; in between
    # lies less than the last digit of a float that counts products near 2^60. xy ties with ab exactly.
    n = 2**30 + 1
    table = {"cd": n + 1, "ab": n, "xy": n}
    for train in (train_wordpiece, train_wordpiece_reference):
        (merge,) = train(table, WordPieceSettings(num_merges=1)).merges
        assert merge.score == Fraction(1, n)
        assert merge.num_tied == 1
    # Counts whose products pass 2^63.
    n = 2**40 + 1
    (merge,) = train_wordpiece({"cd": n + 1, "ab": n, "xy": n}, WordPieceSettings(num_merges=1)).merges
    assert (merge.score, merge.num_tied) == (Fraction(1, n), 1)


def test_tokenizer_at_a_step():
    training = train_wordpiece(HUG, WordPieceSettings(num_merges=5))
    assert shown(training.tokenizer_at(0), "hugs") == ["h", "##u", "##g", "##s"]
    assert shown(training.tokenizer_at(1), "hugs") == ["h", "##u", "##gs"]
    assert training.tokenizer_at(5).vocabulary == training.tokenizer.vocabulary
    with pytest.raises(SettingsError, match="step must be from 0 to 5"):
        training.tokenizer_at(6)


def test_progress_can_cancel():
    training = train_wordpiece(HUG, WordPieceSettings(num_merges=6), progress=lambda done, asked: done < 2)
    assert (training.stopped, training.num_merges) == ("cancelled", 2)


# ---------------------------------------------------------------------------------------------- encoding

WRITTEN = ["[PAD]", "[UNK]", "a", "ab", "abc", "b", "c", "cb", "##a", "##b", "##ab", "##bc", "##cab", "é", "##é", "."]


def hugging_face(written, most):
    vocabulary = {token: i for i, token in enumerate(written)}
    peer = HuggingFace(models.WordPiece(vocab=vocabulary, unk_token="[UNK]", max_input_chars_per_word=most))
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return peer


@settings(deadline=None)
@given(st.text(alphabet="abcé. -+?x\n", max_size=60), st.sampled_from([3, 100]))
def test_encodes_as_tokenizers_does(text, most):
    tokenizer = WordPieceTokenizer.of_written(WRITTEN, max_input_chars_per_word=most)
    assert tokenizer.encode(text) == hugging_face(WRITTEN, most).encode(text).ids


@settings(deadline=None)
@given(TABLES, st.text(alphabet="ab", max_size=30))
def test_encodes_as_tokenizers_does_with_a_trained_vocabulary(table, word):
    table = {word.replace("#", "c"): count for word, count in table.items()}
    tokenizer = train_wordpiece(table, WordPieceSettings(num_merges=9, min_pair_count=1)).tokenizer
    written = [piece.written for piece in tokenizer.vocabulary]
    assert tokenizer.encode(word) == hugging_face(written, 100).encode(word).ids


@settings(deadline=None)
@given(st.text(max_size=40))
def test_splits_as_bert_does(text):
    text = "".join(char for char in text if not 0x1C <= ord(char) <= 0x1F)  # white space in Python, not in Unicode
    expected = [piece for piece, _span in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)]
    # Read through a tokenizer that knows no character: one [UNK] a word.
    assert len(WordPieceTokenizer.of_written(["[UNK]"]).encode(text)) == len(expected)


@cache
def bert():
    """BERT's own vocabulary, here and in the library, without the clean-up before it."""
    tokens = load_bert()
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    library = HuggingFace(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return WordPieceTokenizer.of_written(tokens), library


@settings(deadline=None)
@given(
    st.text(
        alphabet=st.characters(
            exclude_categories=["Cs", "Cn"],
            exclude_characters="\x1c\x1d\x1e\x1f",  # white space in Python, not in Unicode
            max_codepoint=0x1FFF,
        ),
        max_size=60,
    )
)
def test_encodes_as_tokenizers_does_on_the_vocabulary_of_bert(text):
    own, library = bert()
    assert own.encode(text) == library.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("name", ["udhr-eng", "udhr-deu", "udhr-hin", "udhr-cmn_hans", "emoji-chat", "python-source"])
def test_whole_texts_are_encoded_as_tokenizers_does_on_the_vocabulary_of_bert(name):
    own, library = bert()
    text = load_sample(name).lower()
    assert own.encode(text) == library.encode(text, add_special_tokens=False).ids


def test_what_cannot_be_covered_to_its_end_is_unk():
    tokenizer = WordPieceTokenizer.of_written(WRITTEN)
    assert shown(tokenizer, "abcab") == ["abc", "##ab"]
    assert shown(tokenizer, "abcx abc") == ["[UNK]", "abc"]  # x was never seen


def test_the_mark_is_not_the_text():
    # "##a" as a word is three characters: it begins with #, and goes on with # and a.
    tokenizer = train_wordpiece({"##a": 3, "ba": 3}, WordPieceSettings(num_merges=0, split="whitespace")).tokenizer
    assert shown(tokenizer, "##a") == ["#", "###", "##a"]


def test_special_tokens():
    tokenizer = WordPieceTokenizer.of_written(WRITTEN)
    assert shown(tokenizer, "a[PAD]a")[1] == "[UNK]"  # as text: a bracket, which is not in the vocabulary
    assert tokenizer.encode("a[PAD] a", special="special") == [2, 0, 2]
    with pytest.raises(SpecialTokenError):
        tokenizer.encode("a[PAD]", special="reject")
    assert tokenizer.history("a [PAD] a", special="special").tokens(0) == [b"a ", b"[PAD] ", b"a"]


@settings(deadline=None)
@given(st.text(max_size=40))
def test_the_history_shows_the_text(text):
    tokenizer = WordPieceTokenizer.of_written(WRITTEN)
    history = tokenizer.history(text)
    assert history.final_ids.tolist() == tokenizer.encode(text)
    assert history.num_symbols == len(history.final_ids)
    assert (history.lifetimes == NEVER).all()
    if history.num_symbols:
        assert history.text == text.encode()


def test_the_history_by_hand():
    history = WordPieceTokenizer.of_written(WRITTEN).history("  abcab \n x.  ")
    assert history.tokens(0) == [b"  abc", b"ab \n ", b"x", b".  "]
    assert history.walls.tolist() == [False, True, True]
    assert WordPieceTokenizer.of_written(WRITTEN).history("  ").num_symbols == 0


def test_decoding_puts_one_space_between_words():
    tokenizer = WordPieceTokenizer.of_written(WRITTEN)
    assert tokenizer.decode(tokenizer.encode("abcab  a.b")) == "abcab a . b"
    assert tokenizer.decode([8]) == "a"  # a continuation on its own
    for token in (-1, len(WRITTEN)):
        with pytest.raises(TokenIdError, match="from 0 to 15"):
            tokenizer.decode([token])


def test_the_verbs_of_a_tokenizer():
    tokenizer = WordPieceTokenizer.of_written(WRITTEN)
    assert (tokenizer.num_merges, tokenizer.vocab_size) == (0, len(WRITTEN))
    assert tokenizer.base_names()[8] == b"##a"
    assert len(tokenizer.merge_rows().rank) == 0


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "at least one word"),
        ("", "at least one word"),
        (" \n ", "at least one word"),
        ({"": 1}, "must not be empty"),
        ({"a": 0}, "count of 'a' must be a whole number of at least 1, but is 0"),
        ({"a": -3}, "but is -3"),
        ({"a": 1.5}, "but is 1.5"),
        ({"abcd": 2**61}, "fewer than 2"),
    ],
)
def test_a_bad_corpus_is_refused(source, message):
    for train in (train_wordpiece, train_wordpiece_reference):
        with pytest.raises(CorpusError, match=message):
            train(source, WordPieceSettings(num_merges=1))


def test_a_vocabulary_smaller_than_the_alphabet_is_refused():
    # [UNK], a, ##a, ##b: four.
    with pytest.raises(SettingsError, match="at least 4"):
        train_wordpiece({"aab": 1}, WordPieceSettings(vocab_size=3))
    assert train_wordpiece({"aab": 1}, WordPieceSettings(vocab_size=4)).stopped == "vocab_size"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_merges": 1, "vocab_size": 9},
        {"num_merges": -1},
        {"vocab_size": 0},
        {"num_merges": 1, "min_pair_count": 0},
        {"num_merges": 1, "max_input_chars_per_word": 0},
        {"num_merges": 1, "tie_break": "coin"},
        {"num_merges": 1, "split": "("},
    ],
)
def test_bad_settings_are_refused(options):
    with pytest.raises(BpeError):
        WordPieceSettings(**options)


def test_a_vocabulary_without_unk_is_refused():
    with pytest.raises(SettingsError, match=r"must hold \[UNK\]"):
        WordPieceTokenizer.of_written(["a"])


def test_a_million_characters():
    word = "ab" * 500_000
    training = train_wordpiece({word: 1}, WordPieceSettings(num_merges=5, max_input_chars_per_word=2_000_000))
    # ##a ##b: 499,999 of them, score 1 / 500,000 tied with nothing lower in count; each step halves the tokens.
    assert training.num_tokens[-1] < 200_000
    ids = training.tokenizer.encode(word)
    assert training.tokenizer.decode(ids) == word
    assert np.array_equal(training.tokenizer.history(word).final_ids, ids)
    assert WordPieceTokenizer.of_written(WRITTEN).encode(word) == [1]  # beyond 100 characters


def test_the_split_is_one_that_readers_can_name():
    assert WordPieceSettings(num_merges=0).split == BERT_SPLIT


def test_half_a_surrogate_pair_is_replaced():
    tokenizer = WordPieceTokenizer.of_written([*WRITTEN, "##\ufffd"])
    assert shown(tokenizer, "a\ud800") == ["a", "##\ufffd"]
    assert tokenizer.history("a\ud800").text == "a\ufffd".encode()
    assert train_wordpiece("a\ud800", WordPieceSettings(num_merges=0)).tokenizer.vocabulary[2].text == "\ufffd"
