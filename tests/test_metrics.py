"""The measures: by hand on small texts, against the figures of the declaration, and where they have no value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import Tokenizer, TrainSettings, UnigramTokenizer, metrics, train
from bpe.errors import SettingsError, UnavailableError
from bpe.metrics import (
    MEASURES,
    count_quantity,
    count_tokens,
    icu_version,
    ratio_of_totals,
    renyi_efficiency,
    token_distribution,
    unknown_id,
    whole_words,
    words_of,
    writes_spaces,
)
from bpe.metrics import words as words_module
from bpe.parallel import load_parallel
from bpe.pretrained import load_pretrained

ARTICLE_1 = {  # tokens of article 1: GPT-2, cl100k, o200k
    "eng": (33, 33, 33),
    "deu": (60, 44, 38),
    "fra": (61, 50, 41),
    "rus": (172, 74, 41),
    "cmn_hans": (82, 52, 37),
    "jpn": (117, 93, 72),
    "hin": (296, 182, 54),
    "mya": (726, 512, 134),
}
OPENAI = ("gpt2", "cl100k_base", "o200k_base")
UNSPACED = {"Thai", "Khmer", "Lao", "Burmese", "Chinese (Simplified)", "Japanese", "Tibetan"}
BYTES = Tokenizer()


@pytest.fixture
def no_icu(monkeypatch):
    """Python as it is where icu4py is not installed."""

    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(words_module.importlib, "import_module", refuse)


def declaration(code):
    return load_parallel("declaration").units[code]


# --- the premium --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ARTICLE_1)
def test_article_1_costs_what_it_is_known_to_cost(code):
    counts = tuple(int(count_tokens(load_pretrained(name), declaration(code)[:1]).num_tokens[0]) for name in OPENAI)
    assert counts == ARTICLE_1[code]


def test_the_premium_is_total_over_total_and_not_a_mean_of_ratios():
    # By hand, three languages of two units each; with bytes as tokens, tokens are bytes.
    english, other, third = ["a", "bbbb"], ["é", "cc"], ["ééé", "dddddd"]
    reference = count_tokens(BYTES, english).num_tokens
    assert reference.tolist() == [1, 4]
    assert ratio_of_totals(count_tokens(BYTES, other).num_tokens, reference).value == 4 / 5  # mean of ratios: 1.25
    assert ratio_of_totals(count_tokens(BYTES, third).num_tokens, reference).value == 12 / 5  # mean of ratios: 3.75
    assert ratio_of_totals(reference, reference) == (1, 1, 1)


@pytest.mark.parametrize("code", ["deu", "hin", "mya"])
def test_the_premium_from_totals_equals_the_sums_of_single_articles(code):
    tokenizer = load_pretrained("cl100k_base")
    by_hand = sum(len(tokenizer.encode(article)) for article in declaration(code))
    english = sum(len(tokenizer.encode(article)) for article in declaration("eng"))
    counts, reference = (count_tokens(tokenizer, declaration(one)).num_tokens for one in (code, "eng"))
    assert ratio_of_totals(counts, reference).value == by_hand / english


# --- counting -----------------------------------------------------------------------------------------


def test_each_quantity_by_hand():
    units = ["“Don't,” he said — twice.", "e\u0301a 👩‍👩‍👧‍👦"]
    assert count_quantity("characters", units).tolist() == [25, 11]
    assert count_quantity("graphemes", units).tolist() == [25, 4]
    assert count_quantity("bytes", units).tolist() == [31, 30]
    assert count_quantity("words", units).tolist() == [4, 1]
    assert count_quantity("space words", units).tolist() == [5, 2]
    assert count_quantity("tokens", units, tokenizer=BYTES).tolist() == [31, 30]
    assert count_quantity("continued words", ["a bc"], tokenizer=BYTES).tolist() == [1]


def test_tokens_need_a_tokenizer():
    with pytest.raises(SettingsError, match="tokens needs a tokenizer"):
        count_quantity("tokens", ["a"])


texts = st.lists(st.text(alphabet="ab é\n", max_size=12), max_size=4)


@given(texts, st.sampled_from(["none", "whitespace", "gpt2"]))
def test_counting_with_a_memory_equals_encoding(units, split):
    trained = train("abab aab baé", TrainSettings(num_merges=6, split=split)).tokenizer
    assert count_tokens(trained, units).num_tokens.tolist() == [len(trained.encode(unit)) for unit in units]


@given(texts, st.sampled_from(["none", "separate", "attached"]))
def test_unknown_characters_are_counted_and_not_refused(units, mark):
    settings = TrainSettings(base="chars", end_of_word=mark, num_merges=4, split="whitespace")
    trained = train("abab aab", settings).tokenizer
    encoded = [trained.encode(unit, unknown="mark") for unit in units]
    counts = count_tokens(trained, units)
    assert counts.num_tokens.tolist() == [len(ids) for ids in encoded]
    assert counts.num_unknown.tolist() == [ids.count(-1) for ids in encoded]


def test_the_unknown_token_of_a_vocabulary_is_counted():
    class WithUnknown:
        unknown_id = 100

        def encode(self, text, *, special="text"):
            return [100 if char == "?" else 7 for char in text]

    assert unknown_id(WithUnknown()) == 100
    assert count_tokens(WithUnknown(), ["ab?", "??"]).num_unknown.tolist() == [1, 2]


# --- words --------------------------------------------------------------------------------------------


def test_seven_languages_of_the_declaration_write_no_spaces():
    text = load_parallel("declaration")
    unspaced = {language.name for language in text.languages if not writes_spaces(text.units[language.code])}
    assert unspaced == UNSPACED


def test_the_word_space_of_ethiopic_counts_as_space():
    assert len(words_of(["የሰው፡ልጅ፡ሁሉ"])[0]) == 3


def test_words_of_scripts_without_spaces_come_from_icu():
    assert icu_version()
    assert words_of(["すべての人間は、自由である。"], "ja")[0][:3] == ["すべて", "の", "人間"]
    thai, english = (sum(map(len, words_of(declaration(code), tag))) for code, tag in (("tha", "th"), ("eng", "en")))
    assert 0.5 < thai / english < 2


def test_without_icu_such_words_are_refused_and_all_else_works(no_icu):
    assert icu_version() is None
    assert words_of(["all human beings"]) == [["all", "human", "beings"]]
    with pytest.raises(UnavailableError, match="install icu4py, or compare tokens per grapheme"):
        count_quantity("words", ["すべての人間"], tag="ja")


def test_a_word_is_whole_when_it_is_one_token_after_its_space():
    gpt2 = load_pretrained("gpt2")
    assert count_quantity("continued words", ["strawberry, strawberry newest"], tokenizer=gpt2).tolist() == [0]
    assert count_quantity("continued words", ["supercalifragilistic unhappy"], tokenizer=gpt2).tolist() == [1]


@pytest.mark.parametrize("split", ["whitespace", "none", "gpt2"])
def test_a_space_that_stays_alone_does_not_break_a_word(split):
    trained = train("low low low low", TrainSettings(num_merges=2, split=split)).tokenizer
    assert whole_words(trained, ["low low"]).value == 1


def test_an_unknown_word_is_not_kept_whole():
    trained = train("a b a b", TrainSettings(base="chars", num_merges=0, split="whitespace")).tokenizer
    assert whole_words(trained, ["a b c"]).value == pytest.approx(2 / 3)


# --- distributions ------------------------------------------------------------------------------------


def test_renyi_efficiency_by_hand():
    # Shares 1/2, 1/4, 1/4 at order 2: -log2(3/8) = 1.415 bits of the 3 that eight tokens could carry.
    assert renyi_efficiency(np.array([2, 1, 1]), 8, order=2) == pytest.approx(-math.log2(3 / 8) / 3)
    assert renyi_efficiency(np.array([7]), 8) == 0
    assert math.isnan(renyi_efficiency(np.array([], dtype=np.int64), 8))
    assert math.isnan(renyi_efficiency(np.array([3]), 1))


@pytest.mark.parametrize("code", ["eng", "hin", "fin"])
def test_the_interval_of_a_distribution_holds_its_value(code):
    tokenizer = load_pretrained("o200k_base")
    for estimate in (token_distribution(tokenizer, declaration(code)), whole_words(tokenizer, declaration(code))):
        assert estimate.low < estimate.value < estimate.high < estimate.low + 0.2


def test_the_jackknife_of_a_mean_is_its_standard_error():
    # Distinct words 0..5, each in a unit of its own: the share kept whole is a mean of six zeros and ones.
    units = ["a", "b", "c", "dd", "ee", "ff"]
    error = math.sqrt(0.25 / (len(units) - 1))
    estimate = whole_words(BYTES, units)
    assert estimate.value == 0.5
    assert estimate.high - estimate.value == pytest.approx(1.96 * error, rel=1e-3)


def test_a_distribution_is_measured_over_all_units():
    # Tokens a, b, a, c over 256 base tokens: shares 1/2, 1/4, 1/4.
    shares = np.array([2, 1, 1]) / 4
    expected = np.log2(np.sum(shares**2.5)) / -1.5 / 8
    assert token_distribution(BYTES, ["ab", "ac"]).value == pytest.approx(expected)


# --- intervals ----------------------------------------------------------------------------------------


def test_the_interval_of_the_premium_holds_the_value_and_widens_with_fewer_articles():
    tokenizer = load_pretrained("gpt2")
    counts, reference = (count_tokens(tokenizer, declaration(code)).num_tokens for code in ("hin", "eng"))
    whole, part = ratio_of_totals(counts, reference), ratio_of_totals(counts[:5], reference[:5])
    assert whole.low < whole.value < whole.high
    assert whole.high - whole.low < part.high - part.low
    assert whole == ratio_of_totals(counts, reference)


def test_the_interval_is_that_of_a_textbook_bootstrap():
    # Means of a normal sample: the interval is close to the mean plus and minus 1.96 standard errors.
    sample = np.random.default_rng(0).normal(1_000, 100, size=150).astype(np.int64)
    estimate = ratio_of_totals(sample, np.ones_like(sample))
    error = sample.std() / math.sqrt(len(sample))
    assert estimate.low == pytest.approx(estimate.value - 1.96 * error, abs=0.3 * error)
    assert estimate.high == pytest.approx(estimate.value + 1.96 * error, abs=0.3 * error)


def test_many_units_are_drawn_in_blocks_of_neighbours():
    # A slow swing of the level: single units would hide how alike neighbours are, blocks show it.
    swing = (100 + 50 * np.sin(np.arange(4_000) / 200)).astype(np.int64)
    ones = np.ones_like(swing)
    width = np.subtract(*ratio_of_totals(swing, ones)[:0:-1])
    shuffled = np.random.default_rng(0).permutation(swing)
    assert width > 3 * np.subtract(*ratio_of_totals(shuffled, ones)[:0:-1])


def test_one_unit_has_no_interval_and_no_unit_no_value():
    one = ratio_of_totals(np.array([3]), np.array([2]))
    assert one.value == 1.5
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    nothing = np.zeros(0, dtype=np.int64)
    assert math.isnan(ratio_of_totals(nothing, nothing).value)
    assert math.isnan(ratio_of_totals(np.array([3]), np.array([0])).value)
    assert math.isnan(token_distribution(BYTES, [""]).value)
    assert math.isnan(whole_words(BYTES, ["…"]).value)
    assert math.isnan(whole_words(BYTES, ["one unit"]).low)


# --- what the page promises ---------------------------------------------------------------------------


def test_every_measure_says_what_it_is_where_from_and_where_it_misleads():
    for name, measure in MEASURES.items():
        assert name == measure.name
        for text in (measure.axis, measure.short, measure.definition, measure.source, measure.misleads):
            assert text.strip() == text != ""
        assert (measure.numerator is None) == (measure.denominator is None)
    assert next(iter(MEASURES)) == "premium"


def test_the_usual_chart_makes_japanese_and_chinese_look_worst_and_the_premium_does_not():
    # The reason for this package: tokens between white space against tokens of the same text.
    tokenizer = load_pretrained("o200k_base")
    text = load_parallel("declaration")
    reference = count_tokens(tokenizer, text.units["eng"]).num_tokens
    by_space, premium = {}, {}
    for language in text.languages:
        units = text.units[language.code]
        tokens = count_tokens(tokenizer, units).num_tokens
        by_space[language.code] = ratio_of_totals(tokens, count_quantity("space words", units)).value
        premium[language.code] = ratio_of_totals(tokens, reference).value
    worst_by_space = sorted(by_space, key=by_space.get, reverse=True)
    worst_by_premium = sorted(premium, key=premium.get, reverse=True)
    assert {"jpn", "cmn_hans"} <= set(worst_by_space[:5])
    assert not {"jpn", "cmn_hans"} & set(worst_by_premium[:20])


def test_public_names_are_sorted_and_there():
    constants_classes_functions = sorted(metrics.__all__, key=lambda one: (not one.isupper(), one.islower(), one))
    assert constants_classes_functions == metrics.__all__
    assert all(hasattr(metrics, name) for name in metrics.__all__)


def test_what_a_unigram_tokenizer_does_not_know_is_counted_not_refused():
    tokenizer = UnigramTokenizer.of_probabilities({"a": 0.5, "b": 0.5}, split="whitespace")
    counts = count_tokens(tokenizer, ["ab", "aé"])
    assert (counts.num_tokens.tolist(), counts.num_unknown.tolist()) == ([2, 2], [0, 1])
