"""Counting files: cut anywhere, spread over threads, processes and blocks of any size, the counts are the same."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from test_kernels_scan import AWKWARD

import bpe.kernels.counting as counting_kernels
from bpe import TrainSettings, counting_files, file_parts, train, train_files, trainer
from bpe.counting import PreTokenCounts, Tally, can_cut, count_text, last_cut
from bpe.counting_files import count_files
from bpe.errors import CorpusError, SettingsError, UnavailableError
from bpe.file_parts import Part, count_part, plan_parts
from bpe.kernels.counting import CompiledCounter, padded
from bpe.kernels.loader import load
from bpe.pretokenize import SPLIT_PATTERNS, count_pre_tokens, split
from bpe.samples import load_sample, udhr_languages

CUT = [name for name in SPLIT_PATTERNS if can_cut(name)]
LANGUAGES = "\n".join(load_sample(f"udhr-{language.code}")[:2_500] for language in udhr_languages())

strings = st.lists(st.sampled_from(AWKWARD), max_size=60).map("".join)


@pytest.fixture(scope="module", autouse=True)
def _kernels():
    load("count")


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(file_parts, "BLOCK_BYTES", 257)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes((LANGUAGES + load_sample("python-source")[:40_000]).encode())
    return str(path)


def same(one, other):
    return list(one.items()) == list(other.items())


@pytest.mark.parametrize("pattern", CUT)
@hypothesis_settings(deadline=None, max_examples=200)
@given(text=strings, place=st.integers(0, 200))
def test_cutting_changes_no_pre_token(pattern, text, place):
    data = text.encode()
    cut = last_cut(data[:place], pattern)
    assert 0 <= cut <= max(place - 1, 0)
    assert split(data[:cut].decode(), pattern) + split(data[cut:].decode(), pattern) == split(text, pattern)


def test_every_script_can_be_cut_often():
    for language in udhr_languages():
        data = load_sample(f"udhr-{language.code}").encode()
        for pattern in CUT:
            if pattern != "whitespace":
                assert last_cut(data[:3_000], pattern) > 2_000, language


def test_tally_adds_in_order_with_kernels_and_without(monkeypatch):
    parts = [load_sample(f"udhr-{language.code}") for language in udhr_languages()[:9]]
    expected = count_pre_tokens("".join(parts), "gpt2")

    def add_up():
        tally = Tally()
        for part in parts:
            tally.add(count_text(part, "gpt2", compiled=False))
        return tally.result()

    with_kernels = add_up()
    monkeypatch.setattr("bpe.counting.is_ready", lambda group: False)
    assert same(with_kernels, add_up())
    assert sum(with_kernels.values()) == sum(expected.values())


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("pattern", CUT)
def test_blocks_and_parts_of_any_size_give_the_same_counts(corpus, small_blocks, pattern, compiled):
    expected = count_pre_tokens(Path(corpus).read_bytes().decode(), pattern)
    size = os.path.getsize(corpus)
    for part_bytes in (size, size // 3, 20_011):
        parts = plan_parts([corpus], pattern, part_bytes)
        assert [part.end for part in parts[:-1]] == [part.start for part in parts[1:]]
        assert (parts[0].start, parts[-1].end) == (0, size)
        tally = Tally()
        for part in parts:
            tally.add(count_part(part, pattern, compiled=compiled))
        assert same(tally.result(), expected)


@pytest.mark.parametrize("pattern", ["none", "[a-z]+"])
def test_a_pattern_that_cannot_be_cut_takes_the_file_whole(corpus, small_blocks, pattern):
    assert not can_cut(pattern)
    assert plan_parts([corpus], pattern, 1_000) == [Part(corpus, 0, os.path.getsize(corpus))]
    text = Path(corpus).read_bytes().decode()
    assert same(count_files([corpus], pattern, compiled=True), count_pre_tokens(text, pattern))


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"engine": "python"}, {"engine": "compiled", "workers": 3}])
def test_training_on_files_equals_training_on_their_text(corpus, monkeypatch, options):
    monkeypatch.setattr(counting_files, "_BYTES_PER_THREAD", 1_000)
    monkeypatch.setattr(counting_files, "_PART_BYTES", 80_000)
    settings = TrainSettings(num_merges=200, tie_break="lowest-ids")
    expected = train(Path(corpus).read_bytes().decode(), settings)
    training = train_files([corpus], settings, **options)
    assert list(training.merges) == list(expected.merges)
    assert list(training.pre_tokens.items()) == list(expected.pre_tokens.items())
    assert np.array_equal(training.lifetimes, expected.lifetimes)


def test_no_pre_token_crosses_files_and_marks_at_their_start_are_left_out(tmp_path):
    for name, content in (("a", b"\xef\xbb\xbfone tw"), ("b", b"\xef\xbb\xbfo three ")):
        (tmp_path / name).write_bytes(content)
    for compiled in (True, False):
        counts = count_files([str(tmp_path / "a"), str(tmp_path / "b")], "gpt2", compiled=compiled)
        assert dict(counts) == {"one": 1, " tw": 1, "o": 1, " three": 1, " ": 1}


def test_white_space_at_the_end_of_a_file_is_the_end_of_the_text(tmp_path, small_blocks):
    text = "word " * 200 + "\n \n  "
    (tmp_path / "a").write_bytes(text.encode())
    for pattern in CUT:
        for compiled in (True, False):
            assert same(count_files([str(tmp_path / "a")], pattern, compiled=compiled), count_pre_tokens(text, pattern))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe4\xb8"])
def test_invalid_utf8_is_refused_with_its_offset_or_replaced(tmp_path, small_blocks, bad, compiled):
    path = tmp_path / "bad.txt"
    for before, after in ((b"ok " * 400, b" and more " * 90), (b"", b""), ("中文".encode() * 300, b"")):
        path.write_bytes(before + bad + after)
        with pytest.raises(CorpusError, match=f"byte 0x{bad[0]:02X} at offset {len(before):,}") as caught:
            count_files([str(path)], "gpt2", compiled=compiled)
        assert "\n" not in str(caught.value)
        replaced = count_files([str(path)], "gpt2", compiled=compiled, errors="replace")
        assert same(replaced, count_pre_tokens((before + bad + after).decode(errors="replace"), "gpt2"))


@hypothesis_settings(deadline=None)
@given(data=st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_the_first_bad_byte_is_the_one_that_python_finds(data):
    from bpe.kernels.counting import first_bad_byte, padded

    try:
        data.decode()
        expected = len(data)
    except UnicodeDecodeError as error:
        expected = error.start
    assert first_bad_byte(padded(data), 0, len(data)) == expected


@hypothesis_settings(deadline=None)
@given(
    data=st.binary(max_size=8) | st.text(max_size=20).map(str.encode),
    filler=st.sampled_from(["a", "é", "中", "😀", "\ud7ff", "\ue000", "\U0010ffff", "\u0800", "\U00010000"]),
    before=st.integers(0, 130),
    after=st.integers(0, 130),
)
def test_the_first_bad_byte_is_found_64_at_once(data, filler, before, after):
    test_the_first_bad_byte_is_the_one_that_python_finds.hypothesis.inner_test(
        filler.encode() * before + data + filler.encode() * after
    )


@pytest.mark.parametrize("lead", range(0xC0, 0x100))
def test_every_pair_of_bytes_is_judged_as_python_does(lead):
    judge = test_the_first_bad_byte_is_the_one_that_python_finds.hypothesis.inner_test
    for second in (0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE0, 0xFF):
        for place in (61, 62, 63, 64, 70):
            judge(b"x" * place + bytes([lead, second]) + b"\x80\x80" + b"x" * 100)
            judge(b"x" * place + bytes([lead, second]) + b"\x80" + b"x" * 100)
            judge(b"x" * place + bytes([lead, second]) + b"x" * 100)


def test_an_empty_file_and_a_missing_one_are_refused(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(CorpusError, match="is empty"):
        train_files([tmp_path / "empty"], TrainSettings(num_merges=1))
    with pytest.raises(FileNotFoundError):
        train_files([tmp_path / "missing"], TrainSettings(num_merges=1))


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_corpus_of_no_files_is_refused(engine):
    with pytest.raises(CorpusError, match="at least one file"):
        train_files([], TrainSettings(num_merges=1), engine=engine)


def test_a_file_that_is_cut_while_it_is_counted_is_refused(corpus):
    part = Part(corpus, 0, os.path.getsize(corpus) + 10)
    with pytest.raises(CorpusError, match="while it is counted"):
        count_part(part, "gpt2", compiled=True)


@pytest.mark.parametrize("options", [{"workers": 0}, {"errors": "ignore"}, {"engine": "gpu"}])
def test_options_out_of_range_are_refused(corpus, options):
    with pytest.raises(SettingsError, match=next(iter(options))):
        train_files([corpus], TrainSettings(num_merges=1), **options)


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"engine": "python"}])
def test_counting_can_be_watched_and_cancelled(corpus, options):
    calls = []
    size = os.path.getsize(corpus)
    train_files([corpus], TrainSettings(num_merges=1), count_progress=lambda *call: calls.append(call), **options)
    assert calls[-1] == (size, size)
    assert calls == sorted(calls)
    stopped = train_files([corpus], TrainSettings(num_merges=9), count_progress=lambda *call: False, **options)
    assert (stopped.stopped, stopped.num_merges) == ("cancelled", 0)


def die_once(part, pattern, **options):
    """Stands in for `count_part`: the first process to count a part is killed half-way."""
    marker = Path(part.file + ".died")
    if part.start > 0 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return count_part(part, pattern, **options)


def die_always(part, pattern, **options):
    """Stands in for `count_part`: every process dies."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_the_part_of_a_process_that_dies_is_counted_again(corpus, monkeypatch):
    monkeypatch.setattr(counting_files, "_PART_BYTES", 80_000)
    expected = count_files([corpus], "gpt2", compiled=True)
    monkeypatch.setattr(counting_files, "count_part", die_once)
    assert same(count_files([corpus], "gpt2", compiled=True, workers=2), expected)
    assert Path(corpus + ".died").exists()
    monkeypatch.setattr(counting_files, "count_part", die_always)
    with pytest.raises(UnavailableError, match="a worker died 3 times"):
        count_files([corpus], "gpt2", compiled=True, workers=2)


def test_counts_read_like_a_dict():
    counts = PreTokenCounts.from_mapping({"né": 2, "a": 1})
    assert (len(counts), list(counts), counts["né"], "x" in counts) == (2, ["né", "a"], 2, False)
    assert counts == {"né": 2, "a": 1}


def test_kernels_are_not_loaded_for_a_pattern_without_a_scanner(monkeypatch):
    asked = []
    monkeypatch.setattr(trainer, "uses_compiled", lambda group, engine, size: asked.append(group) or False)
    for pattern in ("gpt2", "whitespace", "[a-z]+"):
        train("low lower lowest", TrainSettings(split=pattern, num_merges=1))
    assert asked == ["count", "train", "train", "train"]


def test_a_counter_takes_over_many_others(monkeypatch):
    monkeypatch.setattr(counting_kernels, "_TAKEN_AT_ONCE", 100)
    texts = [load_sample(f"udhr-{language.code}") for language in udhr_languages()[:12]]
    counters = []
    for text in texts:
        counter = CompiledCounter("gpt2", 0)
        counter.add(padded(text.encode()), 0, len(text.encode()))
        counters.append(counter)
    first, *others = counters
    for other in others:
        first.absorb(other)
    expected = {}
    for text in texts:
        for pre_token, count in count_pre_tokens(text, "gpt2").items():
            expected[pre_token] = expected.get(pre_token, 0) + count
    assert same(PreTokenCounts(*first.result()), expected)


def test_threads_share_the_work_evenly():
    parts = [Part("a", start, start + 10) for start in range(0, 100, 10)]
    for num_stretches in (1, 2, 3, 4):
        stretches = counting_files._in_stretches(parts, num_stretches)
        assert [part for stretch in stretches for part in stretch] == parts
        sizes = [len(stretch) for stretch in stretches]
        assert len(sizes) == num_stretches
        assert max(sizes) - min(sizes) <= 1
