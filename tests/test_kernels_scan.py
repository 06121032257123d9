"""The compiled scanners against the `regex` patterns, on random strings of awkward characters and on real text."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.counting import count_text
from bpe.kernels.classes import class_table, make_table
from bpe.kernels.counting import SCANNED_SPLITS
from bpe.kernels.loader import load
from bpe.pretokenize import count_pre_tokens
from bpe.samples import load_sample, udhr_languages

# Everything that the patterns tell apart, and runs longer than the 8 and 64 bytes that scanners take at once.
AWKWARD = [
    *"aBzZsS'1²½,!/_ \n\r\t\x0b\x1c\x85éÉЖжßſ中文、\u0301\u0308ʰǅª\u3000\xa0\u2028😀कิก\u093f\u200b\ufeff\U000e0101𝟘𐐀𐐨",
    *("''s", "'s", "'LL", "'ll", "'ve", "'re", "'T", "'ſ", "23", "1234567", "//", "...", "--", "  ", "    "),
    *("\r\n", "\n\n", "\n  ", "  \n", "aaaaaaaaa", "BBBBBBBB", " the", "Hello", "HTTPServer", "x = 1"),
    *("👩\u200d👩\u200d👧", "a" * 70, "!" * 61, " " * 66, "é" * 40, "\n" * 65, "B" * 63),
]

strings = st.lists(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=40).map("".join)


@pytest.fixture(scope="module", autouse=True)
def _kernels():
    load("count")


def assert_counts_equal(text, split):
    compiled = count_text(text, split, compiled=True)
    expected = count_pre_tokens(text, split)
    assert dict(compiled) == expected
    assert list(compiled) == list(expected)


@pytest.mark.parametrize("split", SCANNED_SPLITS)
@settings(max_examples=300, deadline=None)
@given(text=strings)
def test_any_string(split, text):
    assert_counts_equal(text, split)


@pytest.mark.parametrize("split", SCANNED_SPLITS)
def test_long_strings_cross_words_of_masks_and_chunks(split):
    random_ = random.Random(5)
    for _ in range(60):
        ascii_only = random_.random() < 0.5
        parts = [part for part in AWKWARD if part.isascii()] if ascii_only else AWKWARD
        text = "".join(random_.choice(parts) for _ in range(random_.choice([30, 300, 3000])))
        assert_counts_equal(text, split)


@pytest.mark.parametrize("split", SCANNED_SPLITS)
@pytest.mark.parametrize("name", ["kjv-genesis", "python-source", "emoji-chat", "generated-log"])
def test_samples(name, split):
    assert_counts_equal(load_sample(name), split)


@pytest.mark.parametrize("split", SCANNED_SPLITS)
def test_every_language(split):
    for language in udhr_languages():
        assert_counts_equal(load_sample(f"udhr-{language.code}"), split)


@pytest.mark.parametrize("split", SCANNED_SPLITS)
@pytest.mark.parametrize("end", ["", " ", "\n", " \n ", "\n\n  ", "!\n", "! \n", "!\n \n", "1 ", "\t\n\t", "\u3000\n"])
def test_white_space_at_the_end(split, end):
    for text in ("word" + end, "word " * 3000 + end, end):
        assert_counts_equal(text, split)


@pytest.mark.parametrize("source", ["regex", "tiktoken"])
@pytest.mark.parametrize("with_cases", [False, True])
def test_shipped_classes_are_those_of_the_engine(source, with_cases):
    assert np.array_equal(class_table(source, with_cases), make_table(source, with_cases))
