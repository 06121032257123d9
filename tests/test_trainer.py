"""Training: textbook values by hand, the fast trainer against its twin, and every recorded number against a recount."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import BpeError, TrainSettings, train, train_reference
from bpe.errors import CorpusError, SettingsError

LOWEST = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
LOW_LOOK = {"low": 3, "look": 2}
HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}

TIE_BREAKS = ("first-seen", "lowest-ids", "greatest-pair")
MODES = (("bytes", "none"), ("chars", "none"), ("chars", "separate"), ("chars", "attached"))


def learned(training):
    """The merges as (left, right, count) in text."""
    name = training.tokenizer.token_bytes
    return [(name(m.left).decode(), name(m.right).decode(), m.pair_count) for m in training.merges]


def shown(tokenizer, text):
    return [tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text)]


# ------------------------------------------------------------------------------------------- by hand


def test_lowest_without_end_mark():
    merges = learned(train(LOWEST, TrainSettings(base="chars", num_merges=10)))
    assert merges[:4] == [("e", "s", 9), ("es", "t", 9), ("l", "o", 7), ("lo", "w", 7)]
    assert merges[4][2] == 6  # the rest begins at the six newest


def test_lowest_with_separate_end_mark():
    training = train(LOWEST, TrainSettings(base="chars", end_of_word="separate", num_merges=5))
    assert learned(training) == [
        ("e", "s", 9),
        ("es", "t", 9),
        ("est", "</w>", 9),
        ("l", "o", 7),
        ("lo", "w", 7),
    ]
    assert shown(training.tokenizer, "lowest") == ["low", "est</w>"]
    assert shown(training.tokenizer, "slowest") == ["s", "low", "est</w>"]


def test_first_step_names_the_three_way_tie():
    training = train(LOWEST, TrainSettings(base="chars", end_of_word="separate", num_merges=5))
    contest = training.contest(0, num_shown=3)
    name = training.tokenizer.token_bytes
    pairs = [(name(a).decode(), name(b).decode()) for a, b in zip(contest.left, contest.right, strict=True)]
    assert pairs == [("e", "s"), ("s", "t"), ("t", "</w>")]
    assert contest.count.tolist() == [9, 9, 9]
    assert contest.num_tied == 3
    assert training.merges[0].num_tied == 2  # two others


def test_low_look():
    training = train(LOW_LOOK, TrainSettings(base="chars", num_merges=2))
    assert learned(training) == [("l", "o", 5), ("lo", "w", 3)]
    assert [training.tokenizer.token_bytes(t) if t >= 0 else "?" for t in training.tokenizer.encode("low")] == [b"low"]


def test_lows_leaves_the_s():
    training = train({**LOW_LOOK, "s": 1}, TrainSettings(base="chars", num_merges=2))
    assert shown(training.tokenizer, "lows") == ["low", "s"]


def test_hug_pair_counts_and_merges():
    training = train(HUG, TrainSettings(base="chars", num_merges=7))
    left, right, count, _first = training.pair_counts(0)
    name = training.tokenizer.token_bytes
    counted = {(name(a) + name(b)).decode(): int(c) for a, b, c in zip(left, right, count, strict=True)}
    assert counted == {"ug": 20, "pu": 17, "un": 16, "hu": 15, "gs": 5, "bu": 4}
    assert [(a + b, c) for a, b, c in learned(training)] == [
        ("ug", 20),
        ("un", 16),
        ("hug", 15),
        ("pun", 12),
        ("pug", 5),
        ("hugs", 5),
        ("bun", 4),
    ]
    at_three = training.tokenizer.at_step(3)
    assert shown(at_three, "bug") == ["b", "ug"]
    assert shown(at_three, "unhug") == ["un", "hug"]


def test_gage_example():
    training = train("aaabdaaabac", TrainSettings(split="none", num_merges=3))
    assert training.tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert training.num_tokens.tolist() == [11, 9, 7, 5]


def test_overlapping_pairs_count_twice_and_are_replaced_once():
    training = train("aaa", TrainSettings(split="none", num_merges=1))
    merge = training.merges[0]
    assert (merge.pair_count, merge.num_replaced, merge.num_tokens) == (2, 1, 2)


def test_tie_rules_differ_where_they_should():
    # (b, c), (c, d) and (a, z) all occur twice; the text begins with bcd.
    text = "bcd az bcd az"
    first = {rule: learned(train(text, TrainSettings(num_merges=1, tie_break=rule)))[0][:2] for rule in TIE_BREAKS}
    # Two pre-tokens " bcd" and "bcd", " az" twice: (b, c) 2, (c, d) 2, (" ", a) 2, (a, z) 2.
    assert first == {"first-seen": ("b", "c"), "lowest-ids": (" ", "a"), "greatest-pair": ("c", "d")}


def test_greatest_pair_compares_the_end_mark_as_text():
    # ("t", "</w>") against ("t", "e"): "<" is U+003C, so "e" is greater.
    training = train(
        {"te": 1, "t": 1},
        TrainSettings(base="chars", end_of_word="separate", num_merges=1, tie_break="greatest-pair", min_pair_count=1),
    )
    assert learned(training)[0][:2] == ("t", "e")


# ------------------------------------------------------------------------------------------- stops


@pytest.mark.parametrize(
    ("source", "settings", "stopped", "num_merges"),
    [
        ("abab abab", {"num_merges": 1}, "num_merges", 1),
        ("abab abab", {"vocab_size": 258}, "vocab_size", 2),
        ("abab abab", {"vocab_size": 256}, "vocab_size", 0),
        ("abcdef", {"num_merges": 50}, "min_pair_count", 0),
        ("abab", {"num_merges": 50, "min_pair_count": 1}, "no_pairs", 2),
        ("", {"num_merges": 50}, "no_pairs", 0),
        ("a", {"num_merges": 50}, "no_pairs", 0),
        ({}, {"num_merges": 50}, "no_pairs", 0),
    ],
)
@pytest.mark.parametrize("engine", ["python", "reference"])
def test_an_early_stop_is_a_result_that_says_why(source, settings, stopped, num_merges, engine):
    training = train(source, TrainSettings(**settings), engine=engine)
    assert training.stopped == stopped
    assert len(training.merges) == num_merges
    assert len(training.num_tokens) == num_merges + 1


def test_cancelling_keeps_the_merges_so_far():
    text = "the quick brown fox jumps over the lazy dog " * 3
    whole = train(text, TrainSettings(num_merges=20))
    stopped = train(text, TrainSettings(num_merges=20), progress=lambda done, asked: done < 7)
    assert stopped.stopped == "cancelled"
    assert list(stopped.merges) == list(whole.merges)[:7]


def test_progress_counts_up_to_what_was_asked():
    calls = []
    train("abcabc abcabc", TrainSettings(num_merges=3), progress=lambda done, asked: calls.append((done, asked)))
    assert calls == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"num_merges": 1.5}, "num_merges must be a whole number from 0"),
        ({"num_merges": -1}, "num_merges must be a whole number from 0"),
        ({}, "either num_merges or vocab_size"),
        ({"num_merges": 1, "vocab_size": 300}, "either num_merges or vocab_size"),
        ({"num_merges": 1, "end_of_word": "separate"}, "needs base='chars'"),
        ({"num_merges": 1, "base": "words"}, "base must be one of bytes, chars"),
        ({"num_merges": 1, "tie_break": "dict"}, "tie_break must be one of"),
        ({"num_merges": 1, "min_pair_count": 0}, "min_pair_count must be a whole number from 1"),
        ({"num_merges": 1, "split": "(["}, "does not compile"),
        ({"num_merges": 1, "split": ""}, "is empty"),
    ],
)
def test_settings_out_of_range_say_what_must_hold(settings, says):
    with pytest.raises(SettingsError, match=says.replace("(", r"\(")) as caught:
        TrainSettings(**settings)
    assert isinstance(caught.value, BpeError)
    assert isinstance(caught.value, ValueError)


def test_vocab_size_below_the_base_is_refused():
    with pytest.raises(SettingsError, match="at least the 256 base tokens"):
        train("abc", TrainSettings(vocab_size=255))


@pytest.mark.parametrize("table", [{"": 1}, {"a": 0}, {"a": -3}, {"a": 1.5}])
def test_a_malformed_table_is_refused(table):
    with pytest.raises(CorpusError):
        train(table, TrainSettings(num_merges=1))


# ------------------------------------------------------------------------------------------- fast = textbook

texts = st.text(alphabet="ab c", max_size=40) | st.text(alphabet="aé😀 ", max_size=25)
tables = st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=6), st.integers(1, 4), max_size=6)


@given(
    source=texts | tables,
    mode=st.sampled_from(MODES),
    tie_break=st.sampled_from(TIE_BREAKS),
    split=st.sampled_from(["none", "whitespace", "gpt2", "digits"]),
    num_merges=st.integers(0, 25),
    min_pair_count=st.integers(1, 3),
)
def test_train_equals_the_textbook_loop(source, mode, tie_break, split, num_merges, min_pair_count):
    base, end_of_word = mode
    settings = TrainSettings(base, end_of_word, split, tie_break, num_merges, None, min_pair_count)
    fast, slow = train(source, settings, engine="python"), train_reference(source, settings)
    assert list(fast.merges) == list(slow.merges)
    assert fast.stopped == slow.stopped
    assert fast.num_tokens.tolist() == slow.num_tokens.tolist()
    assert fast.lifetimes.tolist() == slow.lifetimes.tolist()
    assert fast.tokenizer.base_symbols == slow.tokenizer.base_symbols


@given(source=texts | tables, mode=st.sampled_from(MODES), tie_break=st.sampled_from(TIE_BREAKS))
def test_pair_counts_and_contest_equal_a_recount_at_every_step(source, mode, tie_break):
    base, end_of_word = mode
    training = train(source, TrainSettings(base, end_of_word, "whitespace", tie_break, 15, None, 1))
    for k in range(training.num_merges + 1):
        tokenizer = training.tokenizer.at_step(k)
        recount: Counter[tuple[int, int]] = Counter()
        for word, count in training.pre_tokens.items():
            ids = _replayed(tokenizer, word)
            for pair in pairwise(ids):
                recount[pair] += count
        left, right, count, _first = training.pair_counts(k)
        assert dict(zip(zip(left.tolist(), right.tolist(), strict=True), count.tolist(), strict=True)) == recount
        contest = training.contest(k)
        if k < training.num_merges:
            merge = training.merges[k]
            assert (contest.left[0], contest.right[0], contest.count[0]) == (merge.left, merge.right, merge.pair_count)
            assert contest.num_tied == merge.num_tied + 1


@pytest.mark.parametrize(("k", "num_shown"), [(-1, 12), (4, 12), (0, 0)])
def test_a_contest_at_no_step_or_of_no_pairs_is_refused(k, num_shown):
    training = train("aaabdaaabac", TrainSettings(split="none", num_merges=3))
    with pytest.raises(SettingsError, match="must be"):
        training.contest(k, num_shown)


def _replayed(tokenizer, word):
    from bpe import encode_reference

    return encode_reference(tokenizer.symbols(word), tokenizer.ranks, len(tokenizer.base_symbols))


@given(text=texts, split=st.sampled_from(["none", "whitespace", "gpt2"]))
def test_training_on_a_text_equals_training_on_its_pre_token_counts(text, split):
    from bpe import count_pre_tokens

    settings = TrainSettings(split=split, num_merges=10, min_pair_count=1)
    by_table = train(count_pre_tokens(text, split), settings)
    assert list(train(text, settings).merges) == list(by_table.merges)
