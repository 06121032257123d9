"""What the reader typed is there again after a look at another page."""

from __future__ import annotations

import pytest
from pagetest import finished, open_page

from ui import state

AREAS = [
    ("app.py", state.TEXT_AREA, {}),
    ("pages/2_Compare.py", state.TEXT_AREA, {}),
    ("pages/1_Train.py", state.CORPUS_PASTE, {state.SOURCE: "paste"}),
    ("pages/1_Train.py", f"{state.WORD_COUNTS}-lowest", {state.SOURCE: "word counts"}),
    ("pages/4_Algorithms.py", f"{state.WORD_COUNTS}-lowest", {}),
    ("pages/4_Algorithms.py", state.GAGE_TEXT, {state.ALGORITHM: "Compression"}),
    ("pages/5_Quirks.py", state.CODE, {state.QUIRK: "White space"}),
]


def go_to(app, page: str, **params: str):
    app.switch_page(page)
    for name, value in params.items():
        app.query_params[name] = value
    return finished(app.run())


@pytest.mark.parametrize(("page", "key", "params"), AREAS)
def test_a_text_is_still_there_when_the_reader_comes_back(page, key, params):
    app = open_page(page, **params)
    finished(app.text_area(key=key).set_value("mine 3\nown 2\n").run())
    go_to(app, "pages/8_Fact_check.py")
    go_to(app, page, **params)
    assert app.text_area(key=key).value == "mine 3\nown 2\n"


@pytest.mark.parametrize(
    ("before", "page", "params"),
    [
        ("app.py", "pages/2_Compare.py", {}),
        ("pages/2_Compare.py", "app.py", {}),
        ("app.py", "pages/4_Algorithms.py", {state.ALGORITHM: "Longest match"}),
        ("app.py", "pages/7_Costs.py", {state.COSTS_TEXT: "your text"}),
    ],
)
def test_a_page_opens_on_its_own_example_after_another_page_with_a_text(before, page, params):
    opens_on = open_page(page, **params).text_area(key=state.TEXT_AREA).value
    app = go_to(open_page(before), page, **params)
    assert opens_on
    assert app.text_area(key=state.TEXT_AREA).value == opens_on


def test_a_word_table_opens_after_another_page_with_a_word_table():
    app = go_to(open_page("pages/1_Train.py", source="word counts"), "pages/4_Algorithms.py")
    assert app.text_area(key=f"{state.WORD_COUNTS}-lowest").value
    assert not app.error


def test_the_text_follows_to_other_pages_but_an_example_does_not():
    app = open_page("app.py")
    opens_on = open_page("pages/2_Compare.py").text_area(key=state.TEXT_AREA).value
    go_to(app, "pages/2_Compare.py")
    assert app.text_area(key=state.TEXT_AREA).value == opens_on
    finished(app.text_area(key=state.TEXT_AREA).set_value("my own words").run())
    go_to(app, "app.py")
    assert app.text_area(key=state.TEXT_AREA).value == "my own words"
