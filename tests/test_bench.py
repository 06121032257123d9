"""The bench: the textbook tables, every step against the trainers, counts recounted from the words shown."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import inf, isclose, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import TrainSettings, UnigramSettings, WordPieceSettings, train, train_unigram, train_wordpiece
from bpe.bench import lay_out_round, lay_out_step
from bpe.errors import SettingsError
from bpe.samples import load_word_counts

HUG = load_word_counts("hug-pug")
TABLES = st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=7), st.integers(1, 5), min_size=1, max_size=6)
TRAINERS = {
    "bpe": lambda table: train(table, TrainSettings(base="chars", num_merges=99, min_pair_count=1)),
    "separate": lambda table: train(
        table, TrainSettings(base="chars", end_of_word="separate", num_merges=99, min_pair_count=1)
    ),
    "wordpiece": lambda table: train_wordpiece(table, WordPieceSettings(num_merges=99, min_pair_count=1)),
}


def test_the_first_pair_counts_of_hug():
    # ug: hug 10 + pug 5 + hugs 5; pu: pug 5 + pun 12; un: pun 12 + bun 4; hu: hug 10 + hugs 5; gs: hugs; bu: bun.
    bench = lay_out_step(TRAINERS["bpe"](HUG), 0)
    counts = {(pair.left + pair.right).decode(): pair.pair_count for pair in bench.pairs}
    assert counts == {"ug": 20, "pu": 17, "un": 16, "hu": 15, "gs": 5, "bu": 4}
    assert (bench.words[0].symbols, bench.words[0].merging) == ((b"h", b"u", b"g"), (1,))


def test_three_pairs_tie_in_the_table_with_an_end_mark():
    bench = lay_out_step(TRAINERS["separate"](load_word_counts("lowest")), 0)
    tied = [(pair.left, pair.right, pair.pair_count) for pair in bench.pairs[: bench.num_tied]]
    assert bench.num_tied == 3
    assert tied == [(b"e", b"s", 9), (b"s", b"t", 9), (b"t", b"</w>", 9)]


def test_wordpiece_takes_the_pair_of_rare_symbols_first():
    bench = lay_out_step(TRAINERS["wordpiece"](HUG), 0)
    first = bench.pairs[0]
    # ##s is in hugs only (5), and always after ##g (hug 10, pug 5, hugs 5): 5 / (20 * 5).
    assert (first.left, first.right, first.score) == (b"##g", b"##s", Fraction(1, 20))
    assert (first.pair_count, first.left_count, first.right_count) == (5, 20, 5)


def test_overlapping_pairs_are_marked_once():
    bench = lay_out_step(TRAINERS["bpe"]({"aaaaa": 1}), 0)
    assert bench.words[0].merging == (0, 2)


@pytest.mark.parametrize("kind", list(TRAINERS))
@settings(max_examples=40)
@given(table=TABLES)
def test_every_step_counts_what_it_shows(kind, table):
    training = TRAINERS[kind](table)
    for step in range(training.num_merges + 1):
        bench = lay_out_step(training, step)
        symbols, pairs = Counter(), Counter()
        for cut in bench.words:
            for symbol in cut.symbols:
                symbols[symbol] += cut.num_times
            for pair in pairwise(cut.symbols):
                pairs[pair] += cut.num_times
        assert {(pair.left, pair.right): pair.pair_count for pair in bench.pairs} == pairs
        assert all((symbols[p.left], symbols[p.right]) == (p.left_count, p.right_count) for p in bench.pairs)
        assert bench.num_tokens == symbols.total() == training.num_tokens[step]
        assert bench.is_last == (step == training.num_merges)
        if not bench.is_last:
            merge = training.merges[step]
            name = training.tokenizer.token_bytes
            assert bench.pairs[0][:2] == (name(merge.left), name(merge.right))
            chosen_by = [pair.score if kind == "wordpiece" else pair.pair_count for pair in bench.pairs]
            assert chosen_by.count(max(chosen_by)) == bench.num_tied == merge.num_tied + 1
            assert chosen_by[: bench.num_tied] == [max(chosen_by)] * bench.num_tied
            assert sum(len(cut.merging) * cut.num_times for cut in bench.words) == merge.num_replaced


def test_a_round_of_unigram_shows_the_arithmetic_of_each_loss():
    training = train_unigram(HUG, UnigramSettings(vocab_size=10))
    bench = lay_out_round(training, 0)
    probability = {row.token: row.probability for row in bench.tokens}
    assert isclose(sum(probability.values()), 1)
    for row in bench.tokens:
        if row.other:
            lead = log(row.probability) - sum(log(probability[token]) for token in row.other)
            assert isclose(row.loss, row.expected_count * lead, rel_tol=1e-9)
            assert b"".join(row.other) == row.token
        else:
            assert row.loss == inf
            assert len(row.token) == 1
    going = [row for row in bench.tokens if row.goes]
    assert [row.token for row in bench.tokens[: len(going)]] == [row.token for row in going]
    assert max(row.loss for row in going) <= min(row.loss for row in bench.tokens if not row.goes)


def test_the_last_round_of_unigram_takes_nothing_away():
    training = train_unigram(HUG, UnigramSettings(vocab_size=10))
    bench = lay_out_round(training, len(training.rounds) - 1)
    assert bench.is_last
    assert not any(row.goes for row in bench.tokens)
    assert bench.num_tokens == sum(len(cut.symbols) * cut.num_times for cut in bench.words)


def test_a_bench_of_bytes_is_refused():
    training = train_unigram({"ab": 2}, UnigramSettings(vocab_size=256, base="bytes"))
    with pytest.raises(SettingsError, match="base='chars'"):
        lay_out_round(training, 0)
