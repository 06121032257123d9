"""Split patterns lose nothing, agree with tiktoken's own patterns, and refuse what cannot be used."""

from __future__ import annotations

import pytest
import regex
import tiktoken_ext.openai_public as openai_public
from hypothesis import given
from hypothesis import strategies as st

from bpe import SPLIT_PATTERNS, count_pre_tokens, split
from bpe.errors import CorpusError, SettingsError
from bpe.pretokenize import check_counts, matches_in_time


@given(text=st.text(), pattern=st.sampled_from([*SPLIT_PATTERNS, "[a-z]+", "(a)(b)", r"\b", "x*"]))
def test_joined_pre_tokens_are_the_text(text, pattern):
    pieces = split(text, pattern)
    assert "".join(pieces) == text
    assert all(pieces)


@given(text=st.text(alphabet="ab 1\n'sé."))
def test_pre_token_counts_keep_first_occurrence_order(text):
    pieces = split(text, "gpt2")
    counts = count_pre_tokens(text, "gpt2")
    assert list(counts) == list(dict.fromkeys(pieces))
    assert sum(counts.values()) == len(pieces)


def test_named_patterns_by_example():
    text = "I'LL pay 1,234,567!  OK"
    assert split(text, "gpt2") == ["I", "'", "LL", " pay", " 1", ",", "234", ",", "567", "!", " ", " OK"]
    assert split(text, "cl100k") == ["I", "'LL", " pay", " ", "1", ",", "234", ",", "567", "!", " ", " OK"]
    assert split("a 1234567", "llama3") == ["a", " ", "123", "456", "7"]
    assert split("HelloWorld 12", "o200k") == ["Hello", "World", " ", "12"]
    assert split(" 12", "digits") == [" ", "1", "2"]
    assert split("low  low\n", "whitespace") == ["low", "  ", "low", "\n"]
    assert split("a b", "none") == ["a b"]


def test_patterns_are_those_that_tiktoken_ships(monkeypatch):
    # The constructors ask for their rank files; only the pattern is of interest here.
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *args, **kwargs: {})
    assert openai_public.cl100k_base()["pat_str"] == SPLIT_PATTERNS["cl100k"]
    assert openai_public.o200k_base()["pat_str"] == SPLIT_PATTERNS["o200k"]


def test_a_pattern_that_runs_away_is_stopped(monkeypatch):
    monkeypatch.setattr("bpe.pretokenize._OWN_PATTERN_SECONDS", 0.2)
    with pytest.raises(SettingsError, match="still running"):
        split("a" * 40 + "b", r"(a|a)+$")


class Interrupted:
    """A pattern whose search is always stopped after two matches, as where other threads use up the process's time."""

    def __init__(self, compiled):
        self.compiled = compiled
        self.num_stops = 0

    def finditer(self, text, pos, timeout):
        for number, match in enumerate(self.compiled.finditer(text, pos)):
            if number == 2:
                self.num_stops += 1
                raise TimeoutError
            yield match


@pytest.mark.parametrize("pattern", [r"[a-c]+", r"\b\w|\s*", r"(?<=a)b|", r"^a|c$|\B", r"\Ga|b"])
@given(text=st.text("abc ", max_size=12))
def test_time_that_others_use_does_not_count_and_the_search_goes_on(pattern, text):
    whole = [match.span() for match in regex.finditer(pattern, text) if match.group()]
    interrupted = Interrupted(regex.compile(pattern))
    found = [match.span() for match in matches_in_time(interrupted, text, 60.0) if match.group()]
    assert found == whole


def test_own_time_counts_until_it_is_over(monkeypatch):
    seconds = iter(range(100))
    monkeypatch.setattr("time.thread_time", lambda: next(seconds))
    interrupted = Interrupted(regex.compile("a"))
    with pytest.raises(TimeoutError):
        list(matches_in_time(interrupted, "a" * 50, 3.0))
    assert interrupted.num_stops == 3


@pytest.mark.parametrize("pattern", ["(", "", "[z-a]"])
def test_a_pattern_that_does_not_compile_is_refused(pattern):
    with pytest.raises(SettingsError, match="split must be one of none, whitespace"):
        split("abc", pattern)


def test_words_that_become_equal_are_counted_together():
    half_a_pair, replaced = "a\ud800", "a" + chr(0xFFFD)
    assert check_counts({half_a_pair: 2, replaced: 3}) == {replaced: 5}


@pytest.mark.parametrize("table", [{"": 1}, {"a": 0}, {"a": -1}, {"a": 1.5}, {"a": 2**62}, {"a": 2**61, "b": 2**61}])
def test_a_wrong_table_is_refused(table):
    with pytest.raises(CorpusError):
        check_counts(table)


def test_an_empty_table_is_a_table_of_no_words():
    assert check_counts({}) == {}
