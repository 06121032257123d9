"""Quirks and Fact check in a real browser: drawn tokens, the map under the pointer, links, and a phone's width."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from bpe.claims import CLAIMS
from bpe.pretrained import load_pretrained

from .conftest import ROOT, at_rest, opened, press, settled

pytestmark = pytest.mark.browser

QUIRKS = ("Spelling", "Numbers", "White space", "Case and spelling", "Unicode", "Bytes as characters")


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(ROOT / "app.py")


def tokens(page: Page, row: int) -> list[str]:
    """Return the labels of the tokens of a drawn row."""
    return page.locator(".strip").nth(row).locator(".name").all_text_contents()


def test_letters_are_marked_in_their_tokens_and_the_link_follows(base: str, page: Page) -> None:
    opened(page, f"{base}/Quirks")
    expect(page.locator(".strip").first.locator("mark")).to_have_text(["r", "rr"])
    assert tokens(page, 0) == ["st", "raw", "berry"]

    word = page.get_by_label("Word", exact=True)
    word.fill("Mississippi")
    word.press("Enter")
    expect(page.locator(".strip").first.locator(".name").first).not_to_have_text("st")
    settled(page)
    gpt2 = load_pretrained("gpt2")
    assert tokens(page, 0) == [gpt2.decode([token]) for token in gpt2.encode("Mississippi")]
    assert parse_qs(urlsplit(page.evaluate("location.href")).query) == {"word": ["Mississippi"]}

    page.reload()
    expect(page.get_by_label("Word", exact=True)).to_have_value("Mississippi")


def test_markup_in_a_word_stays_text(base: str, page: Page) -> None:
    opened(page, f"{base}/Quirks?word=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&letter=%3C")
    expect(page.locator(".strip").first.locator(".name").first).to_be_visible()
    assert "".join(tokens(page, 0)) == "<img·src=x·onerror=alert(1)>"
    assert page.locator(".strip img").count() == 0


def test_the_map_tells_the_split_under_the_pointer(base: str, page: Page) -> None:
    opened(page, f"{base}/Quirks?quirk=Numbers")
    plot = page.locator(".js-plotly-plot .nsewdrag").first
    at_rest(plot)
    box = plot.bounding_box()
    assert box is not None
    side = 100
    page.mouse.move(box["x"] + box["width"] * 50.5 / side, box["y"] + box["height"] * 22.5 / side)
    expect(page.locator(".js-plotly-plot .hoverlayer text").first).to_have_text("22|50")


def test_digits_of_a_sum_stand_in_columns(base: str, page: Page) -> None:
    opened(page, f"{base}/Quirks?quirk=Numbers&first=999&second=1")
    columns = page.locator('[data-layout="columns"]').first
    expect(columns.locator(".strip")).to_have_count(3)
    last_digits = [columns.locator(".strip").nth(row).locator(".run").last for row in range(3)]
    rights = []
    for digit in last_digits:
        box = digit.bounding_box()
        assert box is not None
        rights.append(box["x"] + box["width"])
    assert max(rights) - min(rights) < 1


@pytest.mark.parametrize("path", [*(f"Quirks?quirk={name.replace(' ', '+')}" for name in QUIRKS), "Fact_check"])
def test_nothing_scrolls_sideways_on_a_phone(base: str, page: Page, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, f"{base}/{path}")
    expect(page.locator(".strip, [data-testid=stBadge], .stBadge, [data-testid=stMarkdown]").first).to_be_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


def test_a_claim_is_computed_opened_and_played_with(base: str, page: Page) -> None:
    opened(page, f"{base}/Fact_check?topic=digits")
    expect(page.get_by_text(f"Of {len(CLAIMS)} claims,")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("In GPT-2 0 to 520 are single tokens; 521 is 5|21.")).to_be_visible()
    press(page.get_by_text("The computation").first)
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()

    # By keyboard: the link moves down a moment after the table is there, and a pointer may let go beside it.
    page.get_by_role("link", name="Play with it: Quirks").first.press("Enter")
    page.wait_for_url("**/Quirks*")
    expect(page.get_by_text("Around 521")).to_be_visible()
    assert parse_qs(urlsplit(page.evaluate("location.href")).query) == {"quirk": ["Numbers"], "integer": ["521"]}
