"""What normalization changed, and from which byte of the original every normalized byte came."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe.lifetimes import INSIDE, NEVER, WALL, History
from bpe.normalizing import (
    AlignedHistory,
    Change,
    align,
    list_changes,
    normalize_by_cluster,
    token_history,
    whole_characters,
)

units = st.lists(st.tuples(st.text("aé안😉 ", max_size=3), st.text("bü녕 ", max_size=3)), max_size=8)


@given(units=units)
def test_alignment_rises_from_start_to_end(units: list[tuple[str, str]]) -> None:
    before = "".join(old for old, _new in units).encode()
    after = "".join(new for _old, new in units).encode()
    places = align(units)

    assert len(places) == len(after) + 1
    assert np.all(np.diff(places) >= 0)
    assert places[-1] == len(before)
    assert len(after) == 0 or places[0] == 0


@given(text=st.text(max_size=20).filter(lambda text: whole_characters(text) == text))
def test_nothing_changed_is_aligned_with_itself(text: str) -> None:
    assert align([(char, char) for char in text]).tolist() == list(range(len(text.encode()) + 1))
    assert list_changes([(char, char) for char in text]) == []


def test_dropped_stretch_belongs_to_what_follows() -> None:
    assert align([("a", "a"), ("  ", ""), ("b", "b")]).tolist() == [0, 1, 4]
    assert align([("a", "a"), ("  ", "")]).tolist() == [0, 3]
    assert align([("  ", ""), ("b", "b")]).tolist() == [0, 3]


def test_stretch_that_grew_shares_its_bytes_out() -> None:
    # Three bytes become six: every second place stays where it was.
    assert align([("\u0958", "\u0915\u093c")]).tolist() == [0, 0, 1, 1, 2, 2, 3]


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("", " ", "added"),
        ("\x00", "", "dropped"),
        ("\n\n", " ", "white space"),
        ("ABC", "abc", "lower-cased"),
        ("é", "e", "accents dropped"),
        ("É", "e", "lower-cased, accents dropped"),
        ("e\u0301", "é", "NFC"),
        ("ﬁ", "fi", "NFKC"),
        ("한", "\u1112\u1161\u11ab", "decomposed (NFD)"),
        ("é", "e\u0301", "decomposed (NFD)"),
        ("ﬁé", "fie\u0301", "decomposed (NFKD)"),
        ("\u200b", " ", "replaced"),
    ],
)
def test_change_is_named(before: str, after: str, what: str) -> None:
    (change,) = list_changes([("xy", "xy"), (before, after)])

    assert change == Change(2, 2 + len(before.encode()), before, after, what)


def test_neighbours_of_one_kind_are_one_change() -> None:
    changes = list_changes([("A", "a"), ("B", "b"), ("-", "-"), ("C", "c")])

    assert [(change.before, change.after) for change in changes] == [("AB", "ab"), ("C", "c")]


@given(text=st.text(max_size=20))
def test_clusters_join_to_the_normalized_text(text: str) -> None:
    def compose(text: str) -> str:
        return unicodedata.normalize("NFC", text)

    found = normalize_by_cluster(text, compose)

    assert "".join(old for old, _new in found) == text
    assert "".join(new for _old, new in found) == compose(text)


def test_normalizer_that_looks_beyond_a_cluster_gives_one_coarse_unit() -> None:
    units = normalize_by_cluster("say hello now", lambda text: text.replace("hello", "bye"))

    assert "".join(new for _old, new in units) == "say bye now"
    assert [unit for unit in units if unit[0] != unit[1]] == [("hello", "bye")]


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert whole_characters("\ud83d\ude09 \ude09\ud83d") == "😉 \ufffd\ufffd"


# ---------------------------------------------------------------------- histories


def test_history_of_tokens_has_no_steps() -> None:
    history = token_history("안 b", np.array([0, 1, 3, 5]), [7, 8, 9])

    assert type(history) is History
    assert history.tokens(0) == ["안".encode()[:1], "안".encode()[1:], b" b"]
    assert history.num_tokens.tolist() == [3]
    assert history.byte_lifetimes().tolist() == [NEVER, INSIDE, NEVER, INSIDE]


def test_added_tokens_count_and_cover_nothing() -> None:
    history = token_history("ab", np.array([0, 0, 1, 1, 2, 2]), [5, 6, 7, 8, 9])

    assert isinstance(history, AlignedHistory)
    assert history.tokens(0) == [b"", b"a", b"", b"b", b""]
    assert history.num_tokens.tolist() == [5]
    assert history.byte_lifetimes().tolist() == [NEVER]


def test_nothing_left_of_a_text_is_an_empty_history() -> None:
    history = token_history("  ", np.zeros(1, dtype=np.int64), [])

    assert (history.text, history.num_symbols, history.num_tokens.tolist()) == (b"", 0, [0])


def test_longest_lived_boundary_of_one_place_is_shown() -> None:
    boundaries = np.array([3, NEVER, 5], dtype=np.int32)
    walls = np.array([False, True, False])
    history = AlignedHistory(b"xy", np.array([0, 1, 1, 1, 2]), boundaries, walls, 10, np.array([1, 2]))

    assert history.byte_lifetimes().tolist() == [WALL]
