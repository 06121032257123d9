"""The aligned rows in a real browser: the way through disagreements, the lit place, the own tokenizer's slider."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from bpe.agreement import Agreement, compare_cuts
from bpe.byte_axis import place_tokens
from bpe.pretrained import load_pretrained
from ui.compare.contenders import example_tokenizer
from ui.links import pack_text

from .conftest import ROOT, settled

pytestmark = pytest.mark.browser

TEXT = "I'll pay 12345 for unhappiness"
NAMES = ["yours", "gpt2", "cl100k_base", "bert-uncased"]
MILLISECONDS = 90_000


def agreement_at(step: int, text: str = TEXT) -> Agreement:
    own = example_tokenizer().training.tokenizer.at_step(step)
    tokenizers = [own, *(load_pretrained(name) for name in NAMES[1:])]
    return compare_cuts([place_tokens(tokenizer, text).cuts for tokenizer in tokenizers])


def open_rows(page: Page, app_server, text: str = TEXT, **params: str) -> None:
    query = [("z", pack_text(text)), *(("compare", name) for name in NAMES), *params.items()]
    page.goto(f"{app_server(ROOT / 'app.py')}/Compare?{urlencode(query)}")
    settled(page)
    expect(page.locator(".aligned .band").first.locator(".name")).to_have_count(len(NAMES), timeout=MILLISECONDS)
    settled(page)


def lit_place(page: Page) -> int:
    return int(page.locator(".aligned").get_attribute("data-place"))


def test_the_way_through_disagreements_stops_where_python_says(page, app_server):
    agreement = agreement_at(example_tokenizer().training.num_merges)
    open_rows(page, app_server)
    places = agreement.contested.tolist()
    status = page.locator(".aligned .status")
    expect(status).to_have_text(f"{len(places)} differences in this text.")
    page.locator(".aligned .view").focus()
    for number, place in enumerate(places, start=1):
        page.keyboard.press("n")
        assert lit_place(page) == place
        expect(status).to_contain_text(f"Difference {number} of {len(places)}, byte {place}")
    page.keyboard.press("n")
    expect(status).to_have_text("No difference behind this place.")
    page.locator(".aligned .previous").click()
    assert lit_place(page) == places[-2]


def test_the_lit_cut_is_drawn_between_the_two_characters(page, app_server):
    open_rows(page, app_server)
    line = page.locator(".aligned .line").first
    for _ in range(3):
        page.locator(".aligned .next").click()
        place = lit_place(page)
        pointer = page.locator(".aligned .pointer")
        expect(pointer).to_have_count(1)
        page.wait_for_timeout(50)
        x = float(re.match(r"M([\d.]+)", pointer.get_attribute("d"))[1]) + 5
        width = line.evaluate(
            "(line, end) => { const range = document.createRange(); range.setStart(line.firstChild, 0);"
            " range.setEnd(line.firstChild, end); return range.getBoundingClientRect().width; }",
            place,
        )
        assert x == pytest.approx(width, abs=1)


def test_what_the_rows_say_together_is_counted(page, app_server):
    agreement = agreement_at(example_tokenizer().training.num_merges)
    open_rows(page, app_server)
    num_alone = int((agreement.votes == 1).sum())
    legend = page.locator(".aligned .legend")
    expect(legend.locator(".shared b")).to_have_text(str(len(agreement.shared)))
    expect(legend.locator(".dots b")).to_have_text(str(num_alone))
    expect(legend.locator(".some b")).to_have_text(str(len(agreement.contested) - num_alone))


def test_the_slider_moves_the_own_row_the_link_and_the_table(page, app_server):
    open_rows(page, app_server, step="200")
    slider = page.locator(".aligned .slider")
    expect(slider).to_have_value("200")
    slider.press("Home")
    places = agreement_at(0).contested
    expect(page.locator(".aligned .status")).to_have_text(f"{len(places)} differences in this text.")
    page.wait_for_function("() => new URLSearchParams(location.search).get('step') === '0'", timeout=MILLISECONDS)
    settled(page)
    expect(page.get_by_text("cuts shared by all 4 rows")).to_contain_text(
        f"{len(agreement_at(0).shared)} of {len(agreement_at(0).places)} cuts"
    )
    expect(slider).to_have_value("0")


def test_the_panel_names_each_tokenizers_token(page, app_server):
    open_rows(page, app_server)
    line = page.locator(".aligned .line").first
    box = line.bounding_box()
    line.hover(position={"x": 2, "y": box["height"] / 2})
    entries = page.locator(".aligned .entry")
    expect(entries).to_have_count(len(NAMES))
    expect(entries.nth(1)).to_contain_text(f"id {load_pretrained('gpt2').encode(TEXT)[0]}")
    expect(entries.nth(3)).to_contain_text("i")


def test_ten_rows_fit_a_phone(page, app_server):
    page.set_viewport_size({"width": 390, "height": 844})
    open_rows(page, app_server, "สวัสดี שלום " + TEXT * 4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".aligned .band").count() > 1
    for band in page.locator(".aligned .lines").all():
        overflow = band.evaluate("lines => lines.scrollWidth - lines.clientWidth")
        assert overflow <= 1
