"""Cuts on one axis, held to plain sets; tokens of every kind of tokenizer led back to the bytes of the text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import TrainSettings, train
from bpe.agreement import compare_cuts, first_step_below
from bpe.byte_axis import original_offsets, place_tokens
from bpe.errors import SettingsError, SpecialTokenError
from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names

AVAILABLE = [name for name in pretrained_names() if pretrained_info(name).available]
TEXT = "Hello  wörld,\n\tThe naïve 👩‍👩‍👧 cafe\u0301 12345 שלום 안녕 I'll's </w> x\u202ey \n"

cut_sets = st.lists(st.sets(st.integers(1, 12), max_size=12), min_size=1, max_size=4)


def as_rows(sets):
    return [np.array(sorted(cuts), dtype=np.int64) for cuts in sets]


# ---------------------------------------------------------------------------------------------- agreement


@given(cut_sets)
def test_shared_contested_and_alone_equal_plain_sets(sets):
    agreement = compare_cuts(as_rows(sets))
    every, shared = set.union(*sets), set.intersection(*sets)
    assert agreement.places.tolist() == sorted(every)
    assert agreement.shared.tolist() == sorted(shared)
    assert agreement.contested.tolist() == sorted(every - shared)
    for row, cuts in enumerate(sets):
        others = set().union(*(other for number, other in enumerate(sets) if number != row))
        alone = cuts - others if len(sets) > 1 else set()
        assert agreement.alone(row).tolist() == sorted(alone)


@given(cut_sets)
def test_jaccard_and_f1_equal_plain_sets(sets):
    agreement = compare_cuts(as_rows(sets))
    for i, one in enumerate(sets):
        for j, other in enumerate(sets):
            either = one | other
            assert agreement.jaccard[i, j] == (len(one & other) / len(either) if either else 1)
            total = len(one) + len(other)
            assert agreement.f1[i, j] == (2 * len(one & other) / total if total else 1)


def test_agreement_by_hand():
    """un|related against unrelate|d: cuts {2} and {8}; with |unrelated none."""
    agreement = compare_cuts(as_rows([{2}, {8}, set()]))
    assert agreement.jaccard.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert agreement.votes.tolist() == [1, 1]
    assert agreement.shared.tolist() == []


def test_no_rows_is_refused():
    with pytest.raises(SettingsError, match="at least one row"):
        compare_cuts([])


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(-1, 30))
def test_first_step_below_is_the_first(falls, limit):
    num_tokens = np.array([20, *(20 - np.cumsum(falls))], dtype=np.int64)
    below = [step for step, num in enumerate(num_tokens) if num < limit]
    assert first_step_below(num_tokens, limit) == (below[0] if below else None)


# ---------------------------------------------------------------------------------------------- the axis


@pytest.mark.parametrize("name", AVAILABLE)
@pytest.mark.parametrize("text", [TEXT, "", " ", "a", "\n\n  "])
def test_every_real_tokenizer_lies_on_the_bytes_of_the_text(name, text):
    tokenizer = load_pretrained(name)
    placed = place_tokens(tokenizer, text)
    assert placed.ids.tolist() == tokenizer.encode(text)
    assert placed.ends is not None
    assert len(placed.ends) == placed.num_tokens
    assert np.all(np.diff(placed.ends, prepend=0) >= 0)
    if placed.num_tokens:
        assert placed.ends[-1] == len(text.encode())


@given(st.text(max_size=40))
def test_cuts_are_those_of_the_history(text):
    for name in ("gpt2", "cl100k_base"):
        tokenizer = load_pretrained(name)
        expected = tokenizer.history(text).token_offsets(tokenizer.num_merges)
        assert place_tokens(tokenizer, text).cuts.tolist() == expected[1:-1].tolist()


def test_special_tokens_are_placed_or_refused():
    tokenizer = load_pretrained("gpt2")
    text = "a<|endoftext|>b"
    assert place_tokens(tokenizer, text, special="special").ends.tolist() == [1, 14, 15]
    assert len(place_tokens(tokenizer, text).ends) > 3
    with pytest.raises(SpecialTokenError):
        place_tokens(tokenizer, text, special="reject")


# ---------------------------------------------------------------------------------------------- end-of-word marks


def trained_on(text, mark, split):
    return train(text, TrainSettings(base="chars", end_of_word=mark, split=split, num_merges=30, min_pair_count=1))


@given(
    st.text("ab</w> \n\u3000\x85", max_size=16),
    st.sampled_from(["separate", "attached"]),
    st.sampled_from(["whitespace", "gpt2", "none"]),
)
def test_marks_are_taken_out_again(text, mark, split):
    tokenizer = trained_on(text, mark, split).tokenizer
    history = tokenizer.history(text)
    raw = text.encode()
    offsets = original_offsets(history, raw)
    assert offsets is not None
    assert np.all(np.diff(offsets) >= 0)
    shown = [history.text[a:b] for a, b in zip(history.offsets, history.offsets[1:], strict=False)]
    for name, start, end in zip(shown, offsets.tolist(), offsets[1:].tolist(), strict=False):
        covered, symbol = raw[start:end].decode().strip(), name.decode().strip()
        assert covered in (symbol, symbol.removesuffix("</w>").strip())
    if history.num_symbols:
        assert (offsets[0], offsets[-1]) == (0, len(raw))


def test_marks_by_hand():
    tokenizer = trained_on("low low", "attached", "whitespace").tokenizer
    assert place_tokens(tokenizer, " low  low").ends.tolist() == [6, 9]


def test_white_space_of_several_bytes_is_led_back():
    tokenizer = trained_on("日本 語", "separate", "whitespace").tokenizer
    text = "日本\n\u3000語"
    assert place_tokens(tokenizer, text).ends.tolist()[-1] == len(text.encode())


def test_unknown_characters_have_a_place():
    tokenizer = train("low low", TrainSettings(base="chars", num_merges=5)).tokenizer
    placed = place_tokens(tokenizer, "loé")
    assert placed.ids.tolist()[-1] == -1
    assert placed.ends.tolist()[-1] == 4


def test_another_text_has_no_place():
    history = train("low", TrainSettings(num_merges=1, min_pair_count=1)).tokenizer.history("low")
    assert original_offsets(history, b"LOW") is None
    assert original_offsets(history, b"lows") is None
