"""BPE-dropout: its two ends, its twin, and the shares it must give by the arithmetic of the paper."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import TrainSettings, train
from bpe.dropout import count_dropout, drop_merges, dropout_reference, encode_dropout
from bpe.errors import SettingsError, UnknownSymbolError

TEXTS = st.text(alphabet="abc ", max_size=40)
PROBABILITIES = st.floats(0, 1)


def small_tokenizer():
    return train("abcabcbcacab abc cab bca", TrainSettings(num_merges=9)).tokenizer


@settings(deadline=None)
@given(TEXTS, st.integers())
def test_without_dropping_it_is_encoding(text, seed):
    tokenizer = small_tokenizer()
    assert encode_dropout(tokenizer, text, 0, seed=seed) == tokenizer.encode(text)


@settings(deadline=None)
@given(TEXTS, st.integers())
def test_dropping_everything_leaves_the_base_symbols(text, seed):
    assert encode_dropout(small_tokenizer(), text, 1, seed=seed) == list(text.encode())


@settings(deadline=None)
@given(st.lists(st.integers(0, 2), max_size=20), PROBABILITIES, st.integers())
def test_equals_the_twin_draw_for_draw(symbols, p, seed):
    ranks = {(0, 1): 0, (1, 2): 1, (3, 3): 2, (3, 2): 3, (0, 0): 4, (4, 5): 5}
    expected = dropout_reference(symbols, ranks, 3, p, Random(seed))
    assert drop_merges(symbols, ranks, 3, p, Random(seed)) == expected


@settings(deadline=None)
@given(TEXTS, PROBABILITIES, st.integers())
def test_nothing_is_lost_and_the_seed_decides(text, p, seed):
    tokenizer = small_tokenizer()
    ids = encode_dropout(tokenizer, text, p, seed=seed)
    assert tokenizer.decode(ids) == text
    assert ids == encode_dropout(tokenizer, text, p, seed=seed)


def exact_shares(symbols, ranks, first_token, p):
    """Every outcome with its probability: all subsets of dropped merges at every step, as the paper draws them."""
    shares = defaultdict(float)
    states = {tuple(symbols): 1.0}
    while states:
        following = defaultdict(float)
        for state, share in states.items():
            possible = sorted((ranks[pair], i) for i, pair in enumerate(pairwise(state)) if pair in ranks)
            for number, (rank, i) in enumerate(possible):  # the first `number` are dropped, this one is not
                after = (*state[:i], first_token + rank, *state[i + 2 :])
                following[after] += share * p**number * (1 - p)
            shares[state] += share * p ** len(possible)
        states = following
    return shares


def test_low_by_hand():
    # l o w with l+o (rank 0) and lo+w (rank 1), p = 1/4. Step 1: l+o is dropped with 1/4 -> l o w.
    # Else lo w; step 2: lo+w is dropped with 1/4: 3/4 * 1/4 = 3/16 -> lo w; kept: 3/4 * 3/4 = 9/16 -> low.
    shares = exact_shares([0, 1, 2], {(0, 1): 0, (3, 2): 1}, 3, 0.25)
    assert shares == {(0, 1, 2): 1 / 4, (3, 2): 3 / 16, (4,): 9 / 16}


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_shares_follow_the_paper(p):
    # Chi-square of 20,000 seeded samples, outcomes with an expected count below 5 pooled. For up to 30 degrees of
    # freedom 59.7 is exceeded with probability 0.001.
    ranks = {(0, 1): 0, (1, 2): 1, (3, 3): 2, (3, 2): 3, (0, 0): 4}
    symbols = [0, 1, 2, 0, 1, 0, 1]
    shares = exact_shares(symbols, ranks, 3, p)
    assert sum(shares.values()) == pytest.approx(1)
    random = Random(20)
    counts = defaultdict(int)
    num_samples = 20_000
    for _ in range(num_samples):
        counts[tuple(drop_merges(symbols, ranks, 3, p, random))] += 1
    assert counts.keys() <= shares.keys()
    common = [outcome for outcome in shares if shares[outcome] * num_samples >= 5]
    assert 3 <= len(common) <= 31
    squares = sum((counts[o] - shares[o] * num_samples) ** 2 / (shares[o] * num_samples) for o in common)
    assert squares < 59.7


def test_the_spread_counts_every_sample():
    tokenizer = small_tokenizer()
    spread = count_dropout(tokenizer, "abcab cab", 0.3, num_samples=500, seed=4)
    assert sum(way.num_times for way in spread) == 500
    assert len({way.ids for way in spread}) == len(spread) > 3
    assert [way.num_times for way in spread] == sorted((way.num_times for way in spread), reverse=True)
    assert {tokenizer.decode(way.ids) for way in spread} == {"abcab cab"}
    assert spread == count_dropout(tokenizer, "abcab cab", 0.3, num_samples=500, seed=4)


@pytest.mark.parametrize("p", [-0.1, 1.01, float("nan"), float("inf")])
def test_p_outside_0_to_1_is_refused(p):
    with pytest.raises(SettingsError, match="probability from 0 to 1"):
        encode_dropout(small_tokenizer(), "abc", p)
    with pytest.raises(SettingsError, match="probability from 0 to 1"):
        count_dropout(small_tokenizer(), "abc", p)


def test_no_samples_are_refused():
    with pytest.raises(SettingsError, match="num_samples must be at least 1"):
        count_dropout(small_tokenizer(), "abc", 0.1, num_samples=0)


def test_a_character_never_seen_is_refused_by_name():
    tokenizer = train("abab", TrainSettings(base="chars", num_merges=1)).tokenizer
    with pytest.raises(UnknownSymbolError, match=r"X \(U\+0058\)"):
        encode_dropout(tokenizer, "abX", 0.1)


@pytest.mark.parametrize("end_of_word", ["separate", "attached"])
def test_with_an_end_mark_without_dropping_it_is_encoding(end_of_word):
    settings = TrainSettings(base="chars", end_of_word=end_of_word, split="whitespace", num_merges=4)
    tokenizer = train("low low lower lowest", settings).tokenizer
    assert encode_dropout(tokenizer, "lower low", 0) == tokenizer.encode("lower low")


@pytest.mark.parametrize("p", [0.0, 0.1, 1.0])
def test_a_million_characters(p):
    tokenizer = train("a" * 64, TrainSettings(num_merges=5)).tokenizer
    ids = encode_dropout(tokenizer, "a" * 1_000_000, p)
    assert tokenizer.decode(ids) == "a" * 1_000_000


def test_half_a_surrogate_pair_is_replaced():
    assert encode_dropout(small_tokenizer(), "a\ud800", 1) == list("a\ufffd".encode())
