"""Links that no control can hold, on every page: the page opens on its default and says what it left out."""

from __future__ import annotations

import pytest
from pagetest import finished, head_of, open_page, plain

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


AMOUNTS = [
    ("pages/3_Languages.py", state.BILL_PRICE, {state.LANGUAGES_VIEW: "bill"}),
    ("pages/4_Algorithms.py", state.ALPHA, {state.ALGORITHM: "Lattice"}),
    ("pages/4_Algorithms.py", state.DROP_SHARE, {state.ALGORITHM: "Dropout"}),
    ("pages/7_Costs.py", state.TOKEN_PRICE, {}),
]


def value_of(app, key: str):
    return next(widget.value for widget in [*app.number_input, *app.slider] if widget.key == key)


@pytest.mark.parametrize(("page", "name", "others"), WHOLE_NUMBERS)
@pytest.mark.parametrize("asked", ["inf", "1e400", "9" * 5_000, "5.7", "-1"])
def test_a_number_that_is_none_is_left_out_whole(page, name, others, asked):
    app = open_page(page, **others, **{name: asked})
    assert any(repr(asked[:20]) in plain(warning.value) for warning in app.warning)
    assert value_of(app, name) == value_of(open_page(page, **others), name)


@pytest.mark.parametrize(("page", "name", "others"), AMOUNTS)
@pytest.mark.parametrize("asked", ["inf", "nan", "abc", "-1", "9999999", "1e400", "٣", ""])
def test_an_amount_that_is_none_is_left_out(page, name, others, asked):
    app = open_page(page, **others, **{name: asked})
    assert any(f"asks for {asked!r}" in plain(warning.value) for warning in app.warning)
    assert value_of(app, name) == value_of(open_page(page, **others), name)


def test_an_amount_in_range_is_taken_without_a_word():
    app = open_page("pages/4_Algorithms.py", algorithm="Dropout", **{state.DROP_SHARE: "0.35"})
    assert not app.warning
    assert value_of(app, state.DROP_SHARE) == 0.35


@pytest.mark.parametrize(("asked", "is_taken"), [("maybe", False), ("1", False), ("true", True), ("False", True)])
def test_a_switch_is_on_or_off(asked, is_taken):
    app = open_page("pages/7_Costs.py", model="your own", **{state.MODEL_TIED: asked})
    said = any(f"asks for {asked!r}" in plain(warning.value) for warning in app.warning)
    assert said != is_taken
    assert app.checkbox(key=state.MODEL_TIED).value == (asked == "true")


def test_of_a_step_that_is_too_large_only_a_link_is_told():
    app = open_page("pages/1_Train.py", merges="60", step="50")
    assert not app.warning
    finished(app.number_input(key=state.NUM_MERGES).set_value(20).run())
    assert not app.warning
    assert head_of(app)["step"] == 20
    app = open_page("pages/1_Train.py", merges="20", step="50")
    assert ["asks for step 50" in plain(warning.value) for warning in app.warning] == [True]


def test_what_the_stage_shows_comes_with_the_link_and_what_it_cannot_show_is_said():
    app = open_page("app.py", shown=["marks", "ids"], speed="4")
    assert not app.warning
    options = {"marks": True, "walls": False, "bytes": False, "ids": True, "speed": 4}
    assert head_of(app)["options"] == options
    app = open_page("app.py", shown=["ids", "smells"], speed="9")
    notices = [plain(warning.value) for warning in app.warning]
    assert [word for word in ("'smells'", "'9'") if any(word in notice for notice in notices)] == ["'smells'", "'9'"]
    assert head_of(app)["options"] == options | {"marks": False, "speed": 15}
    assert app.query_params["shown"] in ("ids", ["ids"])
    assert "speed" not in app.query_params


@pytest.mark.parametrize(("page", "name", "others"), CHOICES)
def test_an_empty_choice_is_no_choice(page, name, others):
    app = open_page(page, **others, **{name: ""})
    assert any("not to be had here" in plain(warning.value) for warning in app.warning)
    assert not app.error
