"""The page Languages in a real browser: a click on a bar, labels that keep apart, a phone's width."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from bpe.parallel import load_parallel
from ui.languages.controls import VIEWS

from .conftest import ROOT, at_rest, press, settled

pytestmark = pytest.mark.browser


def opened(page: Page, base: str, **params: str | list[str]) -> None:
    page.goto(f"{base}/Languages?{urlencode(params, doseq=True)}")
    page.get_by_text("Read the text behind the bar").wait_for(timeout=60_000)
    page.wait_for_selector(".js-plotly-plot .ytick text", timeout=60_000)
    settled(page)


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(ROOT / "app.py")


def look_at(page: Page, view: str) -> None:
    press(page.get_by_role("radiogroup", name="View").get_by_text(view, exact=True))
    if view != VIEWS[0]:  # the default is left out of the link
        page.wait_for_function("view => location.search.includes('view=' + view)", arg=view.replace(" ", "+"))
    settled(page)


def labels_of(page: Page) -> list[dict[str, float]]:
    """Return where the labels of the vertical axis stand, in pixels."""
    boxes: list[dict[str, float]] = page.locator(".js-plotly-plot .ytick text").evaluate_all(
        "labels => labels.map(label => { const box = label.getBoundingClientRect();"
        " return {left: box.left, top: box.top, bottom: box.bottom}; })"
    )
    return boxes


def test_a_click_on_a_bar_opens_that_text_and_goes_into_the_link(base: str, page: Page) -> None:
    opened(page, base)
    place = page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot .ytick text')].findIndex(label => label.textContent == 'Thai')"
    )
    bar = page.locator(".js-plotly-plot .bars .point").nth(place)
    at_rest(bar)
    box = bar.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 5, box["y"] + box["height"] / 2)
    page.wait_for_function("location.search.includes('read=Thai')")
    settled(page)
    article = load_parallel("declaration").units["tha"][0]
    expect(page.locator(".stage .main .content")).to_contain_text(article[:20])


def test_labels_of_all_languages_keep_apart_and_inside(base: str, page: Page) -> None:
    names = [language.name for language in load_parallel("declaration").languages]
    opened(page, base, languages=names, tokenizers="gpt2")
    for view in ("bars", "heat map", "rank flips"):
        look_at(page, view)
        page.wait_for_selector(".js-plotly-plot .ytick text")
        labels = sorted(labels_of(page), key=lambda label: label["top"])
        assert len(labels) == len(names) >= 45
        assert all(above["bottom"] <= below["top"] + 1 for above, below in pairwise(labels))
        box = page.locator(".js-plotly-plot").bounding_box()
        assert box is not None
        assert min(label["left"] for label in labels) >= box["x"] - 1


def test_a_phone_shows_every_view_without_scrolling_sideways(base: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, base, languages=["English", "Hindi", "Chinese (Simplified)"], tokenizers="gpt2")
    main = page.get_by_test_id("stMain")
    for view in VIEWS:
        look_at(page, view)
        assert main.evaluate("(element) => element.scrollWidth - element.clientWidth") <= 0
