"""Longest match against rank replay: the textbook word, a brute-force twin, real vocabularies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import Tokenizer, TrainSettings, split, train
from bpe.greedy import LongestMatch, Trie, history_of_tokens
from bpe.normalizing import whole_characters
from bpe.pretrained import load_pretrained
from bpe.tokenizer import UNKNOWN_ID

WORDS = st.lists(st.text(alphabet="abc", min_size=1, max_size=8), min_size=1, max_size=8)


def shown(tokenizer, ids):
    return [tokenizer.token_bytes(token).decode() for token in ids]


def test_unit():
    # n+i was learned before u+n. Replay: u n i t -> u ni t. Longest match from the left: un, i, t.
    n, i, u, t = b"niut"
    tokenizer = Tokenizer(merges=((n, i), (u, n)))
    assert shown(tokenizer, tokenizer.encode("unit")) == ["u", "ni", "t"]
    greedy = LongestMatch(tokenizer)
    assert shown(tokenizer, greedy.encode("unit")) == ["un", "i", "t"]
    (difference,) = greedy.differences("unit")
    assert difference == (b"unit", 1, (u, 256, t), (257, i, t))


@settings(deadline=None)
@given(WORDS, WORDS, st.sampled_from([("bytes", "none"), ("chars", "none"), ("chars", "separate")]))
def test_equals_trying_every_token(corpus, words, mode):
    base, end_of_word = mode
    training = train(
        " ".join(["abc", *corpus]),
        TrainSettings(base=base, end_of_word=end_of_word, split="whitespace", num_merges=8, min_pair_count=1),
    )
    tokenizer = training.tokenizer
    names = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
    for word in words:
        left = word.encode() + (b"</w>" if end_of_word == "separate" else b"")
        expected = []
        while left:
            longest = max((name for name in names if left.startswith(name)), key=len)
            expected.append(longest)
            left = left[len(longest) :]
        assert [names[token] for token in LongestMatch(tokenizer).encode(word)] == expected


@settings(deadline=None)
@given(WORDS)
def test_differences_are_the_pre_tokens_that_part(words):
    text = " ".join(words)
    tokenizer = train("abcabcbcacab abc cab bca", TrainSettings(split="whitespace", num_merges=9)).tokenizer
    greedy = LongestMatch(tokenizer)
    parted = [word for word in split(text, "whitespace") if greedy.encode(word) != tokenizer.encode(word)]
    found = greedy.differences(text)
    assert {d.pre_token.decode(): d.num_occurrences for d in found} == {w: parted.count(w) for w in parted}
    assert [d.num_occurrences for d in found] == sorted((d.num_occurrences for d in found), reverse=True)


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=40))
def test_a_real_vocabulary_gives_back_the_text(text):
    gpt2 = load_pretrained("gpt2")
    greedy = _greedy_gpt2()
    assert gpt2.decode_bytes(greedy.encode(text)) == whole_characters(text).encode()


def test_a_real_vocabulary_parts_where_it_should():
    gpt2 = load_pretrained("gpt2")
    text = "unhappy strawberry strawberry <|endoftext|>"
    for difference in _greedy_gpt2().differences(text):
        assert list(difference.ranked) == gpt2.encode(difference.pre_token.decode())
        assert gpt2.decode_bytes(difference.greedy) == difference.pre_token
        assert difference.ranked != difference.greedy
    assert 50256 not in _greedy_gpt2().encode(text)  # a special token is no token to match


_CACHE = {}


def _greedy_gpt2():
    if "gpt2" not in _CACHE:
        _CACHE["gpt2"] = LongestMatch(load_pretrained("gpt2"))
    return _CACHE["gpt2"]


def test_the_end_mark_is_not_its_text():
    settings_ = TrainSettings(base="chars", end_of_word="separate", split="whitespace", num_merges=1)
    tokenizer = train({"a": 5, "</w>": 1}, settings_).tokenizer  # a + mark is one token
    assert shown(tokenizer, LongestMatch(tokenizer).encode("a</w>")) == ["a", "<", "/", "w", ">", "</w>"]


def test_an_unknown_character_is_marked():
    tokenizer = train("abab", TrainSettings(base="chars", num_merges=1)).tokenizer
    assert LongestMatch(tokenizer).encode("abXab") == [2, UNKNOWN_ID, 2]


def test_empty_text():
    assert LongestMatch(Tokenizer()).encode("") == []
    assert _greedy_gpt2().differences("") == []
    assert history_of_tokens([]).num_symbols == 0


def test_the_first_of_two_equal_strings_counts():
    assert Trie([("ab", 7), ("ab", 8)]).longest("abc", 0) == (2, 7)
    assert Trie([("", 1), ("ab", 2)]).longest("ba", 0) is None


@pytest.mark.parametrize("text", ["a" * 1_000_000, "ab" * 500_000])
def test_a_million_characters(text):
    tokenizer = train("a" * 64 + " " + "ab" * 32, TrainSettings(num_merges=10)).tokenizer
    ids = LongestMatch(tokenizer).encode(text)
    assert tokenizer.decode(ids) == text


def test_half_a_surrogate_pair_is_replaced():
    assert LongestMatch(Tokenizer()).encode("a\ud800") == list("a\ufffd".encode())
