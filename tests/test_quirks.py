"""Quirks: the figures that are known, by hand or from the vocabularies, and what must hold for any text."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import UNKNOWN_ID, TrainSettings, train
from bpe.errors import SettingsError
from bpe.pretrained import load_pretrained
from bpe.quirks import (
    CODE_VARIANTS,
    case_variants,
    count_indented_lines,
    decode_prefixes,
    digit_groups,
    indent_with,
    integers_under,
    lay_out_addition,
    normal_forms,
    price_code,
    price_space_runs,
    spell,
    tokens_of,
)

NAMES = ("gpt2", "cl100k", "o200k")


def words(name: str, text: str) -> list[str]:
    return [token.name.decode() for token in tokens_of(load_pretrained(name), text)]


# ---------------------------------------------------------------------------------------------- tokens


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("gpt2", " strawberry", [41236]),
        ("gpt2", "strawberry", [301, 1831, 8396]),
        ("cl100k", "strawberry", [496, 675, 15717]),
        ("cl100k", " strawberry", [73700]),
        ("o200k", "strawberry", [302, 1618, 19772]),
        ("o200k", " strawberry", [101830]),
        ("gpt2", "    x", [220, 220, 220, 2124]),
        ("cl100k", "    x", [262, 865]),
    ],
)
def test_known_ids(name, text, ids):
    assert [token.token for token in tokens_of(load_pretrained(name), text)] == ids


@given(st.text(max_size=30), st.sampled_from(NAMES))
def test_tokens_are_those_of_encode_and_join_to_the_text(text, name):
    tokenizer = load_pretrained(name)
    tokens = tokens_of(tokenizer, text)
    assert [token.token for token in tokens] == tokenizer.encode(text)
    assert b"".join(token.name for token in tokens) == text.encode()


def test_an_unknown_character_is_shown_not_raised():
    tokenizer = train("abab", TrainSettings(base="chars", num_merges=1)).tokenizer
    assert tokens_of(tokenizer, "abz") == [(2, b"ab"), (UNKNOWN_ID, b"z")]


def test_part_of_a_character_is_told_from_whole_ones():
    tokens = tokens_of(load_pretrained("gpt2"), "a 안")
    assert [token.is_partial for token in tokens] == [False, True, True, True]


# ---------------------------------------------------------------------------------------------- spelling


def test_the_letters_of_strawberry_lie_where_they_lie():
    spelling = spell(load_pretrained("gpt2"), "strawberry", "r")
    assert [token.name for token in spelling.tokens] == [b"st", b"raw", b"berry"]
    assert (spelling.num_found, spelling.per_token, spelling.num_split) == (3, (0, 1, 2), 0)
    assert spelling.spans == ((2, 3), (7, 8), (8, 9))


def test_case_counts_only_when_asked():
    gpt2 = load_pretrained("gpt2")
    assert spell(gpt2, "RRr", "r").num_found == 3
    assert spell(gpt2, "RRr", "r", ignore_case=False).num_found == 1


def test_a_letter_over_several_tokens_is_in_none_of_them():
    spelling = spell(load_pretrained("gpt2"), "안안", "안")
    assert (spelling.num_found, sum(spelling.per_token), spelling.num_split) == (2, 0, 2)


def test_signs_of_regular_expressions_are_letters_too():
    assert spell(load_pretrained("gpt2"), "a.b.c", ".").num_found == 2


@pytest.mark.parametrize(("text", "letter"), [("", "r"), ("text", ""), ("", "")])
def test_nothing_to_count(text, letter):
    assert spell(load_pretrained("gpt2"), text, letter).num_found == 0


@given(st.text("abr ẞé", max_size=20), st.sampled_from("abré"))
def test_every_occurrence_is_in_a_token_or_across_tokens(text, letter):
    spelling = spell(load_pretrained("gpt2"), text, letter, ignore_case=False)
    assert spelling.num_found == text.count(letter) == sum(spelling.per_token) + spelling.num_split


@given(st.text(max_size=12))
def test_variants_are_distinct_and_begin_with_the_word(word):
    variants = list(case_variants(word).values())
    assert variants[0] == word
    assert len(set(variants)) == len(variants)


# ---------------------------------------------------------------------------------------------- digits


def test_integers_of_gpt2():
    integers = integers_under(load_pretrained("gpt2"))
    assert (integers.num_single, integers.first_split) == (907, 521)
    assert integers.splits[2249:2253] == ("2|249", "22|50", "225|1", "225|2")
    assert integers.splits[521] == "5|21"
    assert (integers.splits[1984], integers.splits[1985]) == ("1984", "1985")
    assert (integers.splits[2024], integers.splits[2025]) == ("20|24", "20|25")


def test_integers_of_cl100k():
    integers = integers_under(load_pretrained("cl100k"))
    assert np.flatnonzero(integers.num_tokens == 1).tolist() == list(range(1000))
    assert [integers.splits[year] for year in (1984, 1985, 2024, 2025)] == ["198|4", "198|5", "202|4", "202|5"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prefix", ["", " "])
def test_integers_add_up(name, prefix):
    integers = integers_under(load_pretrained(name), 1200, prefix=prefix)
    assert sum(integers.shares().values()) == 1200
    for integer, (count, split) in enumerate(zip(integers.num_tokens.tolist(), integers.splits, strict=True)):
        assert split.replace("|", "") == f"{prefix}{integer}"
        assert split.count("|") + 1 == count == len(load_pretrained(name).encode(f"{prefix}{integer}"))


def test_integers_under_a_tokenizer_that_saw_no_digit():
    tokenizer = train("abab", TrainSettings(base="chars", num_merges=1)).tokenizer
    integers = integers_under(tokenizer, 12)
    assert integers.splits[9:] == ("9", "1|0", "1|1")


def test_integers_that_are_all_single():
    assert integers_under(load_pretrained("gpt2"), 10).first_split is None


@given(st.text("0123456789", max_size=40), st.integers(1, 5))
def test_groups_join_and_are_full_but_one(digits, size):
    left, right = digit_groups(digits, size), digit_groups(digits, size, from_right=True)
    assert "".join(left) == "".join(right) == digits
    assert all(len(group) == size for group in [*left[:-1], *right[1:]])


def test_an_addition_by_hand():
    #   1|234 + 98|765 = 99|999: no column reaches ten; threes from the right line up, from the left they do not.
    right = lay_out_addition(1234, 98765, lambda digits: digit_groups(digits, 3, from_right=True))
    left = lay_out_addition(1234, 98765, lambda digits: digit_groups(digits, 3))
    assert right.rows == (("1", "234"), ("98", "765"), ("99", "999"))
    assert left.rows == (("123", "4"), ("987", "65"), ("999", "99"))
    assert (right.carries, right.is_aligned, left.is_aligned) == ((), True, False)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_sums_by_place_value_always_line_up(first, second):
    for size, from_right in ((1, False), (3, True)):
        addition = lay_out_addition(
            first, second, lambda digits, size=size, right=from_right: digit_groups(digits, size, from_right=right)
        )
        assert addition.is_aligned
        assert int("".join(addition.rows[2])) == first + second
        # The digit sum drops by nine at every carry.
        drop = sum(map(int, f"{first}{second}")) - sum(map(int, str(first + second)))
        assert drop == 9 * len(addition.carries)


def test_a_negative_addition_is_refused():
    with pytest.raises(SettingsError, match="0 or more, but are -1 and 2"):
        lay_out_addition(-1, 2, list)


# ---------------------------------------------------------------------------------------------- white space


CODE = "def f(x):\n    if x:\n\treturn 1\n  \n    return 2\n"


@given(st.text("ab \t\n", max_size=60), st.sampled_from(["", " ", "\t", "    "]))
def test_reindenting_changes_nothing_but_indentation(code, unit):
    lines = indent_with(code, unit).split("\n")
    assert [line.lstrip(" \t") for line in lines] == [line.lstrip(" \t") for line in code.split("\n")]


def test_every_variant_says_the_same_code():
    for rewrite in CODE_VARIANTS.values():
        assert rewrite(CODE).split() == CODE.split()
    assert CODE_VARIANTS["Windows line ends (CRLF)"]("a\r\nb\n") == "a\r\nb\r\n"


def test_prices_are_counted():
    gpt2 = load_pretrained("gpt2")
    for price in price_code(gpt2, CODE):
        assert price.num_tokens == len(gpt2.encode(CODE_VARIANTS[price.name](CODE)))
        assert price.num_bytes == len(price.text.encode())
    assert count_indented_lines(CODE) == 3


def test_runs_of_spaces():
    assert price_space_runs(load_pretrained("gpt2"), 6).tolist() == [1, 1, 2, 3, 4, 5, 6]
    assert price_space_runs(load_pretrained("cl100k"), 6).tolist() == [1, 1, 2, 2, 2, 2, 2]


# ---------------------------------------------------------------------------------------------- Unicode


@given(st.text(max_size=20))
def test_normal_forms_are_those_of_unicode(text):
    for form, written in normal_forms(text).items():
        assert unicodedata.is_normalized(form, written)


@given(st.text(max_size=20), st.sampled_from(NAMES))
def test_prefixes_end_in_the_text_and_say_what_they_lose(text, name):
    tokens = tokens_of(load_pretrained(name), text)
    prefixes = decode_prefixes(tokens)
    assert len(prefixes) == len(tokens)
    joined = b""
    for token, (decoded, num_lost) in zip(tokens, prefixes, strict=True):
        joined += token.name
        assert text.encode().startswith(joined)
        assert decoded.encode() == joined if num_lost == 0 else decoded.endswith("\ufffd")
    if prefixes:
        assert prefixes[-1] == (text, 0)
