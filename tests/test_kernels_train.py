"""The compiled trainer against the Python one, in everything that both record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import bpe.kernels.training as training_kernels
from bpe import TrainSettings, train
from bpe.errors import CorpusError
from bpe.kernels import load
from bpe.samples import load_sample

TIE_BREAKS = ("first-seen", "lowest-ids", "greatest-pair")
MODES = (("bytes", "none"), ("chars", "none"), ("chars", "separate"), ("chars", "attached"))

texts = st.text(alphabet="ab c", max_size=60) | st.text(alphabet="aé😀</w> ", max_size=40)
counts = st.integers(1, 5) | st.sampled_from([2**31 - 1, 2**31, 2**40])
tables = st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=30), counts, max_size=12)


@pytest.fixture(scope="module", autouse=True)
def _kernels():
    load("count")
    load("train")


def assert_equal(one, other):
    assert list(one.merges) == list(other.merges)
    assert one.stopped == other.stopped
    assert one.num_tokens.tolist() == other.num_tokens.tolist()
    assert np.array_equal(one.lifetimes, other.lifetimes)
    assert np.array_equal(one.symbols, other.symbols)
    assert np.array_equal(one.starts, other.starts)
    assert list(one.pre_tokens.items()) == list(other.pre_tokens.items())
    assert one.tokenizer.base_symbols == other.tokenizer.base_symbols
    assert one.tokenizer.merges == other.tokenizer.merges


@hypothesis_settings(deadline=None)
@given(
    source=texts | tables,
    mode=st.sampled_from(MODES),
    tie_break=st.sampled_from(TIE_BREAKS),
    split=st.sampled_from(["none", "whitespace", "gpt2", "cl100k", "o200k", "llama3", "digits"]),
    num_merges=st.integers(0, 60),
    min_pair_count=st.integers(1, 3),
)
@example({"aaaaaaaaaaaaaaaaaaaaaaa": 3}, ("bytes", "none"), "first-seen", "none", 60, 1)
@example("", ("chars", "attached"), "greatest-pair", "gpt2", 5, 1)
def test_compiled_equals_python(source, mode, tie_break, split, num_merges, min_pair_count):
    base, end_of_word = mode
    settings = TrainSettings(base, end_of_word, split, tie_break, num_merges, None, min_pair_count)
    assert_equal(train(source, settings, engine="compiled"), train(source, settings, engine="python"))


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["udhr-eng", "udhr-cmn_hans", "udhr-hin", "generated-dna"])
def test_compiled_equals_python_on_real_text(name, mode, tie_break):
    base, end_of_word = mode
    settings = TrainSettings(base, end_of_word, "whitespace" if end_of_word != "none" else "gpt2", tie_break, 700)
    source = load_sample(name)[:40_000]
    assert_equal(train(source, settings, engine="compiled"), train(source, settings, engine="python"))


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@pytest.mark.parametrize("base", ["bytes", "chars"])
def test_two_threads_over_two_regions_learn_the_same(monkeypatch, base, tie_break):
    source = "".join(load_sample(f"udhr-{code}")[:8_000] for code in ("eng", "rus", "cmn_hans", "hin", "deu"))
    settings = TrainSettings(base, num_merges=4_000, tie_break=tie_break)
    alone = train(source, settings, engine="compiled")
    monkeypatch.setattr(training_kernels, "_WORTH_A_THREAD", 0)
    assert_equal(train(source, settings, engine="compiled"), alone)
    assert_equal(alone, train(source, settings, engine="python"))


@pytest.mark.parametrize("source", ["", "a", {"a": 1}, {"ab": 3}, {"a": 1, "b": 1}, {"abcabc": 2**40}])
def test_regions_may_be_empty(monkeypatch, source):
    monkeypatch.setattr(training_kernels, "_WORTH_A_THREAD", 0)
    for base in ("bytes", "chars"):
        settings = TrainSettings(base, num_merges=9, min_pair_count=1)
        assert_equal(train(source, settings, engine="compiled"), train(source, settings, engine="python"))


def test_every_rule_runs_to_the_last_pair():
    source = load_sample("kjv-genesis")[:3_000]
    for tie_break in TIE_BREAKS:
        settings = TrainSettings(split="none", num_merges=5_000, tie_break=tie_break, min_pair_count=1)
        training = train(source, settings, engine="compiled")
        assert_equal(training, train(source, settings, engine="python"))
        assert training.stopped == "no_pairs"
        assert training.num_tokens[-1] == 1


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
def test_a_run_of_prefixes_uses_up_the_gaps_between_labels(tie_break):
    # Each merge makes a text right after the one before in the order of texts: the worst case of source/texts.py.
    word = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 3
    table = {word[:length]: 1000 - length for length in range(2, len(word))}
    settings = TrainSettings(split="none", num_merges=400, tie_break=tie_break)
    assert_equal(train(table, settings, engine="compiled"), train(table, settings, engine="python"))


def test_counts_beyond_32_bits():
    table = {"ab": 2**40, "abc": 2**33, "bc": 3, "xaab": 2**31}
    settings = TrainSettings(num_merges=5, min_pair_count=1)
    assert train(table, settings, engine="compiled").merges[0].pair_count == 2**40 + 2**33 + 2**31
    assert_equal(train(table, settings, engine="compiled"), train(table, settings, engine="python"))


def test_more_occurrences_than_64_bits_hold_are_refused():
    with pytest.raises(CorpusError, match="2\\^62"):
        train({"ab": 2**62}, TrainSettings(num_merges=1), engine="compiled")


@pytest.mark.parametrize("num_merges", [3, 900, 2_000])
def test_progress_and_cancel_as_in_python(num_merges):
    text = load_sample("udhr-eng")

    def run(engine, stop_at):
        calls = []

        def progress(done, asked):
            calls.append((done, asked))
            return done < stop_at

        return train(text, TrainSettings(num_merges=num_merges), engine=engine, progress=progress), calls

    for stop_at in (0, 7, num_merges + 1):
        compiled, compiled_calls = run("compiled", stop_at)
        python, python_calls = run("python", stop_at)
        assert compiled_calls == python_calls
        assert_equal(compiled, python)


def test_auto_gives_the_same_before_and_after_loading(monkeypatch):
    import bpe.kernels.loader as loader

    settings = TrainSettings(num_merges=50)
    text = load_sample("udhr-eng")[:5_000]
    ready = train(text, settings)
    monkeypatch.setattr(loader, "_loaded", {})
    monkeypatch.setattr(loader, "start_loading", lambda *groups: None)
    assert_equal(train(text, settings), ready)
