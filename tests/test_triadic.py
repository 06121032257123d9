"""Triads: the sources' examples, nothing of the text lost, and GPT-2's cuts beside them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import Tokenizer, TrainSettings, train
from bpe.errors import SettingsError
from bpe.pretrained import load_pretrained
from bpe.triadic import cut_digits, triadic_tokens, triads, write_triads


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("5", "5"),
        ("100400", "100k 400"),
        ("12345678", "12m 345k 678"),
        ("12,345,678", "12m 345k 678"),
        ("1000000000000000", "1q 000t 000b 000m 000k 000"),
        ("1" + "000" * 6, "1e18 000q 000t 000b 000m 000k 000"),
        ("0.19", "0 . 19p"),  # the proposal fills up: 190p
        ("0.0045", "0 . 004p 5pp"),
        ("0." + "1" * 18, "0 . 111p 111pp 111ppp 111pppp 111ppppp 111e-18"),
    ],
)
def test_examples(number, written):
    assert write_triads(number) == written


@settings(deadline=None)
@given(st.from_regex(r"[0-9]{1,30}(\.[0-9]{1,30})?", fullmatch=True))
def test_triads_add_up_to_the_number(number):
    total = sum(int(triad.digits) * Fraction(10) ** triad.power for triad in triads(number))
    assert total == Fraction(number)


@settings(deadline=None)
@given(st.text(alphabet="0123456789,. a-٣", max_size=60))
def test_tokens_join_to_the_text_and_triads_hold_digits_only(text):
    tokens = triadic_tokens(text)
    assert "".join(token.text for token in tokens) == text
    for token in tokens:
        if token.marker is None:
            assert not any(char.isdigit() for char in token.text)
        else:
            assert token.text.isdigit()
            assert 1 <= len(token.text) <= 3


def test_commas_that_do_not_group_by_three_separate_numbers():
    shown = [(token.text, token.marker) for token in triadic_tokens("1,2345")]
    assert shown == [("1", ""), (",", None), ("2", "k"), ("345", "")]


@pytest.mark.parametrize("number", ["", "abc", "1,23", "1.", ".5", "-1", "1e5"])
def test_what_is_no_number_is_refused(number):
    with pytest.raises(SettingsError, match="number must be digits"):
        triads(number)


def test_gpt2_cuts_by_frequency():
    gpt2 = load_pretrained("gpt2")
    # 2249 = 2|249 lies on the triad boundary, 2250 = 22|50 does not.
    assert cut_digits(gpt2, "2249") == (("2", "249"), 1, 1, 1)
    assert cut_digits(gpt2, "2250") == (("22", "50"), 0, 1, 1)


def test_cl100k_groups_by_three_from_the_left():
    assert cut_digits(load_pretrained("cl100k"), "1234567890").tokens == ("123", "456", "789", "0")
    assert cut_digits(load_pretrained("cl100k"), "1234567890").num_aligned == 0


@pytest.mark.parametrize("end_of_word", ["separate", "attached"])
def test_an_end_mark_is_no_digit(end_of_word):
    settings = TrainSettings(base="chars", end_of_word=end_of_word, num_merges=1)
    assert "".join(cut_digits(train("12 12 34", settings).tokenizer, "1234").tokens) == "1234"


def test_cutting_what_is_no_whole_number_is_refused():
    with pytest.raises(SettingsError, match="digits 0 to 9"):
        cut_digits(Tokenizer(), "1.5")


def test_a_million_digits():
    number = "7" * 1_000_000
    found = triads(number + "." + number)
    assert sum(len(triad.digits) for triad in found) == 2_000_000
    assert len(triadic_tokens(number)) == 333_334
