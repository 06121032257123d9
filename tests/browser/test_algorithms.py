"""Algorithms in a real browser: stepping and playing, links, the lattice as drawn, and a phone's width."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from bpe import TrainSettings, train
from bpe.bench import lay_out_step
from bpe.samples import load_word_counts
from ui.algorithms.menu import PARTS
from ui.algorithms.race import OWN_NAMES

from .conftest import ROOT, opened, press, settled

pytestmark = pytest.mark.browser


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(ROOT / "app.py")


def word(page: Page, name: str) -> Locator:
    """Return the symbols of a word of the bench."""
    row = page.locator(".strip").filter(has=page.locator(".title").get_by_text(name, exact=True))
    return row.locator(".name")


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.evaluate("location.href")).query)


def test_the_bench_is_stepped_through_and_the_link_follows(base: str, page: Page) -> None:
    training = train(
        load_word_counts("lowest"),
        TrainSettings(base="chars", split="whitespace", num_merges=500, min_pair_count=1),
    )
    opened(page, f"{base}/Algorithms")
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    for step in range(training.num_merges + 1):
        bench = lay_out_step(training, step)
        for cut in bench.words:
            expect(word(page, cut.word)).to_have_text([symbol.decode() for symbol in cut.symbols])
        marked = page.locator(".strip mark")
        assert marked.count() == sum(2 * len(cut.merging) for cut in bench.words)
        if not bench.is_last:
            press(page.get_by_role("button", name="Next"))
    expect(page.get_by_text("Done.")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    settled(page)
    assert asked(page) == {"at": [str(training.num_merges)]}

    page.reload()
    expect(page.get_by_text("Done.")).to_be_visible()
    press(page.get_by_role("button", name="Previous"))
    expect(page.get_by_text("Done.")).to_have_count(0)


def test_play_runs_until_it_is_paused(base: str, page: Page) -> None:
    opened(page, f"{base}/Algorithms?table=hug-pug")
    press(page.get_by_role("button", name="Play"))
    expect(word(page, "Learned so far").nth(2)).to_be_visible(timeout=30_000)
    press(page.get_by_role("button", name="Pause"))
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    settled(page)
    learned = word(page, "Learned so far").count()
    page.wait_for_timeout(2_500)  # longer than a tick of the clock: nothing may move any more
    assert word(page, "Learned so far").count() == learned


def test_another_table_begins_at_its_first_step(base: str, page: Page) -> None:
    opened(page, f"{base}/Algorithms?at=5")
    press(page.get_by_role("radio", name="hug-pug"))
    expect(word(page, "hugs")).to_have_text(["h", "u", "g", "s"])
    settled(page)
    assert asked(page) == {"table": ["hug-pug"]}
    expect(page.get_by_test_id("stAlert")).to_have_count(0)

    press(page.get_by_role("button", name="Next"))
    expect(word(page, "hugs")).to_have_text(["h", "ug", "s"])
    settled(page)
    page.go_back()
    expect(word(page, "hugs")).to_have_text(["h", "u", "g", "s"])


def test_the_best_path_is_drawn_and_read_out(base: str, page: Page) -> None:
    opened(page, f"{base}/Algorithms?algorithm=Lattice")
    said = page.get_by_text(re.compile("The likeliest way is"))
    expect(said).to_be_visible(timeout=60_000)
    best = [part.strip("\u2068\u2069 ") for part in said.locator("strong").inner_text().split("|")]
    labels = page.locator(".js-plotly-plot").first.locator(".bartext")
    expect(labels.first).to_be_visible(timeout=60_000)
    drawn = labels.all_text_contents()
    assert set(best) <= set(drawn)
    assert set("internationally") <= set(drawn)


def test_the_three_can_be_chosen_on_languages(base: str, page: Page) -> None:
    opened(page, f"{base}/Algorithms?algorithm={quote_plus('Three on one corpus')}&ids=300")
    expect(page.locator(".strip").first).to_be_visible(timeout=60_000)
    press(page.get_by_role("link", name="Languages"))
    page.wait_for_selector("h1:has-text('Languages')")
    settled(page)
    page.get_by_test_id("stMultiSelect").first.get_by_role("combobox").fill("your")
    for name in OWN_NAMES:
        expect(page.get_by_role("option", name=name)).to_be_attached()


@pytest.mark.parametrize("part", list(PARTS))
def test_nothing_scrolls_sideways_on_a_phone(base: str, page: Page, part: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, f"{base}/Algorithms?algorithm={quote_plus(part)}")
    expect(page.get_by_text("Try next:")).to_be_visible(timeout=90_000)
    for box in page.get_by_test_id("stExpander").filter(has_text="how it works").all():
        press(box.locator("summary"))
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    formulas = page.locator(".katex-html")
    expect(formulas.first).to_be_visible()
    assert page.locator(".katex-error").count() == 0
    rights = formulas.evaluate_all("all => all.flatMap(f => [...f.children].map(c => c.getBoundingClientRect().right))")
    assert max(rights) <= 390
