"""Links that no control can hold, on every page: the page opens on its default and says what it left out."""

from __future__ import annotations

import pytest
from pagetest import open_page, plain

from ui import state

WHOLE_NUMBERS = [
    ("pages/1_Train.py", state.NUM_MERGES, {}),
    ("pages/1_Train.py", state.MIN_PAIR_COUNT, {}),
    ("pages/2_Compare.py", state.COMPARE_WINDOW, {}),
    ("pages/3_Languages.py", state.LEARNED_MERGES, {state.CONTENDERS: "trained on English"}),
    ("pages/3_Languages.py", state.BILL_AMOUNT, {state.LANGUAGES_VIEW: "bill"}),
    ("pages/3_Languages.py", state.BILL_LAYERS, {state.LANGUAGES_VIEW: "bill", state.BILL_SHAPE: "own numbers"}),
    ("pages/4_Algorithms.py", state.RACE_SIZE, {state.ALGORITHM: "Three on one corpus"}),
    ("pages/4_Algorithms.py", state.NUM_BEST, {state.ALGORITHM: "Lattice"}),
    ("pages/5_Quirks.py", state.INTEGER, {state.QUIRK: "Numbers"}),
    ("pages/6_Vocabulary.py", state.TOKEN, {}),
    ("pages/6_Vocabulary.py", state.LONGEST, {}),
    ("pages/7_Costs.py", state.MODEL_LAYERS, {state.MODEL: "your own"}),
]
CHOICES = [
    ("pages/1_Train.py", state.SOURCE, {}),
    ("pages/1_Train.py", state.TABLE, {state.SOURCE: "word counts"}),
    ("pages/3_Languages.py", state.PARALLEL, {}),
    ("pages/3_Languages.py", state.LANGUAGES_VIEW, {}),
    ("pages/4_Algorithms.py", state.ALGORITHM, {}),
    ("pages/4_Algorithms.py", state.BENCH_KIND, {}),
    ("pages/4_Algorithms.py", state.GAGE_LEAST, {state.ALGORITHM: "Compression"}),
    ("pages/5_Quirks.py", state.QUIRK, {}),
    ("pages/6_Vocabulary.py", state.SEARCH_BY, {}),
    ("pages/7_Costs.py", state.COSTS_TEXT, {}),
    ("pages/8_Fact_check.py", state.VERDICT, {}),
]


def value_of(app, key: str):
    return next(widget.value for widget in app.number_input if widget.key == key)


@pytest.mark.parametrize(("page", "name", "others"), WHOLE_NUMBERS)
@pytest.mark.parametrize("asked", ["inf", "1e400", "9" * 5_000, "5.7", "-1"])
def test_a_number_that_is_none_is_left_out_whole(page, name, others, asked):
    app = open_page(page, **others, **{name: asked})
    assert any(repr(asked[:20]) in plain(warning.value) for warning in app.warning)
    assert value_of(app, name) == value_of(open_page(page, **others), name)


@pytest.mark.parametrize(("page", "name", "others"), CHOICES)
def test_an_empty_choice_is_no_choice(page, name, others):
    app = open_page(page, **others, **{name: ""})
    assert any("not to be had here" in plain(warning.value) for warning in app.warning)
    assert not app.error
