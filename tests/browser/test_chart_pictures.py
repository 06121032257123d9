"""Charts as pictures: every chart of every page offers both formats, and what is saved is what is seen."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from .conftest import ROOT, press, settled

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
PAGES = {
    "Train?merges=60": {"train-contest", "train-curve"},
    "Compare?compare=gpt2&compare=cl100k_base": {"compare-agreement-map"},
    "Languages?languages=German&languages=English&tokenizers=gpt2": {"languages-languages-chart"},
    "Languages?languages=German&languages=English&tokenizers=gpt2&view=heat+map": {"languages-languages-heat"},
    "Algorithms?algorithm=Lattice": {"algorithms-lattice-chart", "algorithms-samples-chart"},
    "Algorithms?algorithm=Dropout": {"algorithms-dropout-chart", "algorithms-dropout-curve"},
    "Quirks?quirk=Numbers": {"quirks-integer-map"},
    "Vocabulary?tokenizer=r50k_base": {"vocabulary-lengths", "vocabulary-scripts"},
    "Costs": {"costs-trade", "costs-models", "costs-languages"},
}


IS_ON_TOP = """(row) => {
  const box = row.shadowRoot.querySelector("button").getBoundingClientRect();
  return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === row;
}"""


def saved(page: Page, row: Locator, kind: str) -> tuple[str, bytes]:
    with page.expect_download() as download:
        press(row.get_by_role("button", name=f"Save this chart as {kind}"))
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("address", PAGES)
def test_every_chart_is_saved_under_its_name(app_server: Callable[[Path], str], page: Page, address: str) -> None:
    page.goto(f"{app_server(ROOT / 'app.py')}/{address}")
    page.wait_for_selector(".save-chart", timeout=120_000)
    settled(page, timeout=120_000)
    charts = page.get_by_test_id("stPlotlyChart")
    rows = page.locator(".save-chart")
    expect(rows).to_have_count(charts.count())
    names = set()
    for number in range(rows.count()):
        rows.nth(number).scroll_into_view_if_needed()
        assert rows.nth(number).evaluate(IS_ON_TOP), "the buttons must not be clipped or covered"
        name, data = saved(page, rows.nth(number), "SVG")
        names.add(name.removesuffix(".svg"))
        svg = ElementTree.fromstring(data)
        assert len(list(svg.iter(f"{SVG}path"))) + len(list(svg.iter(f"{SVG}image"))) > 1, name
        assert svg.find(f"{SVG}title").text, name
        assert not [one for element in svg.iter() for one in element.attrib.values() if "http" in one], name
    assert names >= PAGES[address]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_chart_looks_like_the_one_on_the_page(
    app_server: Callable[[Path], str], page: Page, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{app_server(ROOT / 'app.py')}/Train?merges=60")
    row = page.locator(".st-key-curve + .save-chart")
    row.wait_for(timeout=60_000)
    settled(page)
    name, data = saved(page, row, "PNG")
    assert name == "train-curve.png"
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    box = page.locator(".st-key-curve .main-svg").first.bounding_box()
    assert box is not None
    assert picture.size == (2 * round(box["width"]), 2 * round(box["height"]))
    page.mouse.move(0, 0)
    shot = Image.open(io.BytesIO(page.locator(".st-key-curve .js-plotly-plot").screenshot())).convert("RGB")
    size = (60, 24)
    seen, kept = (np.asarray(one.resize(size, Image.Resampling.BOX)).astype(int) for one in (shot, picture))
    assert (kept[0, 0].mean() < 60) == (scheme == "dark")
    difference = np.abs(seen - kept).mean()
    assert difference < 4
    assert np.abs(seen - kept[::-1]).mean() > 2 * difference


def test_buttons_come_and_go_with_the_charts(app_server: Callable[[Path], str], page: Page) -> None:
    page.goto(f"{app_server(ROOT / 'app.py')}/Train?merges=60")
    rows = page.locator(".save-chart")
    expect(rows).to_have_count(2, timeout=60_000)
    press(page.get_by_test_id("stSidebar").get_by_role("link", name="Tokenize"))
    page.wait_for_selector("h1:has-text('Tokenize')")
    settled(page)
    expect(rows).to_have_count(0)
    press(page.get_by_test_id("stSidebar").get_by_role("link", name="Costs"))
    page.wait_for_selector("h1:has-text('Costs')")
    settled(page)
    expect(rows).to_have_count(page.get_by_test_id("stPlotlyChart").count(), timeout=60_000)
    assert rows.count() > 1
