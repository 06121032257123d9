"""Claims: each verdict with the figures that decide it, and what makes a claim fit to be shown."""

from __future__ import annotations

import pytest

from bpe.claims import CLAIMS, Finding, find_claim
from bpe.errors import SettingsError, UnavailableError
from bpe.pretrained import pretrained_info, pretrained_names

NEEDS = {"llama3-fifteen-percent": ("llama2", "llama3"), "llama3-holds-cl100k": ("llama3",)}
"""Claims that need a tokenizer which is not on every machine."""

VERDICTS = {
    "strawberry-hidden": "true",
    "because-both-ways": "true",
    "supercalifragilistic": "true",
    "quadratic-seven": "false",
    "capitals-cost": "true",
    "parts-add-up": "false",
    "integers-to-521": "false",
    "tenth-of-integers": "true",
    "380-and-381": "false",
    "years": "false",
    "threes-from-the-left": "true",
    "commas-help": "depends",
    "four-spaces": "depends",
    "tabs-are-cheaper": "depends",
    "four-characters": "depends",
    "tokens-a-word": "depends",
    "window-of-32000": "depends",
    "japanese-greeting": "depends",
    "characters-in-other-scripts": "depends",
    "pay-two-to-five": "depends",
    "four-languages": "depends",
    "larger-is-shorter": "false",
    "alike-is-equal": "false",
    "emoji-one-token": "depends",
    "strict-inverses": "depends",
    "nothing-unknown": "true",
    "order-matters": "true",
    "longest-match": "false",
    "glitch-strings": "true",
    "llama3-fifteen-percent": "depends",
    "llama3-holds-cl100k": "true",
}


def missing(name: str) -> list[str]:
    known = pretrained_names()
    return [
        tokenizer
        for tokenizer in NEEDS.get(name, ())
        if tokenizer not in known or not pretrained_info(tokenizer).available
    ]


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return {name: claim.check() for name, claim in CLAIMS.items() if not missing(name)}


def test_every_claim_has_a_verdict_here():
    assert list(VERDICTS) == list(CLAIMS)


@pytest.mark.parametrize("name", list(VERDICTS))
def test_verdict(findings, name):
    if lacking := missing(name):
        with pytest.raises(UnavailableError, match=f"{lacking[0]}"):
            CLAIMS[name].check()
    else:
        assert findings[name].verdict == VERDICTS[name], findings[name]


def test_a_table_can_be_shown(findings):
    for name, finding in findings.items():
        assert finding.answer.endswith("."), name
        assert finding.rows, name
        for row in finding.rows:
            assert row.keys() == finding.rows[0].keys(), name
            for column, value in row.items():
                assert type(value) is type(finding.rows[0][column]), (name, column)


def test_every_claim_can_be_played_with():
    for claim in CLAIMS.values():
        assert claim.play.opens_on()
        assert claim.play.tokenizer in pretrained_names()
        assert claim.text.endswith((".", "?"))
        assert claim.source


def test_an_unknown_claim_is_refused_by_name():
    with pytest.raises(SettingsError, match=r"claim must be one of strawberry-hidden, .* but is 'nonsense'"):
        find_claim("nonsense")


# ---------------------------------------------------------------------------------------------- figures


def column(finding: Finding, name: str) -> list:
    return [row[name] for row in finding.rows]


def test_integers(findings):
    assert "0 to 520 are single tokens; 521 is 5|21" in findings["integers-to-521"].answer
    assert column(findings["tenth-of-integers"], "single tokens") == [907, 1000, 1000]
    assert column(findings["380-and-381"], "count") == [1] * 6
    years = findings["years"].rows
    assert [years[0][year] for year in ("1984", "1985", "2024", "2025")] == ["1984", "1985", "20|24", "20|25"]
    assert [years[1][year] for year in ("1984", "1985", "2024", "2025")] == ["198|4", "198|5", "202|4", "202|5"]


def test_numbers_in_groups(findings):
    assert column(findings["threes-from-the-left"], "1234567890")[1] == "123|456|789|0"
    assert column(findings["commas-help"], "1,234,567")[1] == "1|,|234|,|567"


def test_words(findings):
    assert column(findings["strawberry-hidden"], "tokens")[3:] == ["st|raw|berry", "str|aw|berry", "st|raw|berry"]
    assert column(findings["quadratic-seven"], "count") == [8, 6, 6]
    assert column(findings["supercalifragilistic"], "count") == [6, 7, 6]
    assert column(findings["because-both-ways"], "count") == [1] * 6
    assert column(findings["japanese-greeting"], "count") == [6, 1, 1]


def test_four_spaces(findings):
    rows = {(row["text"], row["tokenizer"]): row for row in findings["four-spaces"].rows}
    assert rows["····", "GPT-2"]["count"] == 4
    assert rows["····x", "GPT-2"]["tokens"] == "·|·|·|·x"
    assert rows["····x", "cl100k"]["count"] == 2


def test_order_of_merges_on_unit(findings):
    assert column(findings["order-matters"], "unit") == ["u|ni|t", "un|i|t", "un|i|t"]


def test_glitch_strings(findings):
    assert column(findings["glitch-strings"], "GPT-2 id") == [43453, 37444, 37574, 23282]
    assert column(findings["glitch-strings"], "tokens in cl100k")[0] == 5


def test_languages_add_up(findings):
    for row in findings["pay-two-to-five"].rows:
        in_ranges = sum(int(row[column]) for column in ("below 2", "2 to 5", "5 to 12", "12 and more"))
        in_characters = findings["characters-in-other-scripts"].rows[0]
        assert in_ranges == sum(int(in_characters[column]) for column in ("below 1", "1 to 1.5", "above 1.5"))
    medians = column(findings["pay-two-to-five"], "median")
    assert medians == sorted(medians, reverse=True)


def test_each_generation_holds_more_of_costly_languages(findings):
    words = column(findings["window-of-32000"], "median of other scripts")
    assert words == sorted(words)
    for row in findings["four-languages"].rows:
        assert row["GPT-2"] > row["cl100k"] > row["o200k"]


def test_every_text_comes_back(findings):
    for row in findings["strict-inverses"].rows:
        assert row["come back"] == row["texts"]
        assert 0 < row["no text alone"] < row["tokens"]
    assert column(findings["nothing-unknown"], "text comes back") == ["yes"] * 3
