"""The link of each page, made with the button, opens the same view in a browser that has never been here."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .conftest import ROOT, settled

pytestmark = pytest.mark.browser

SECONDS = 120_000


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(ROOT / "app.py")


@pytest.fixture
def elsewhere(browser: Browser) -> Iterator[Page]:
    """A page of another browser profile: no cookie, no session, a phone's width."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


def opened(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector("h1", timeout=SECONDS)
    settled(page)


def link_of(page: Page) -> str:
    """Press the button, copy the link, and return what the clipboard then holds."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    link = str(page.evaluate("navigator.clipboard.readText()"))
    assert page.get_by_role("textbox", name="Link").input_value() == link
    page.keyboard.press("Escape")
    return link


def values_of(page: Page) -> list[str]:
    """What the page's boxes and choices are set to."""
    main = page.get_by_test_id("stMain")
    boxes: Locator = main.locator("input:not([type=file]):not([type=range]), textarea")
    chosen = main.locator('[data-testid="stSelectbox"], [data-testid="stMultiSelect"] [data-baseweb="tag"]')
    pressed = main.locator('[aria-checked="true"], [aria-pressed="true"], [kind$="Active"]')
    return [
        *boxes.evaluate_all("(boxes) => boxes.map((box) => box.type === 'checkbox' ? box.checked : box.value)"),
        *chosen.all_text_contents(),
        *pressed.all_text_contents(),
    ]


VIEWS = {
    "Train": "Train?source=word+counts&base=chars&mark=separate&merges=9&step=4&sentence=lowest",
    "Compare": "Compare?compare=gpt2&compare=cl100k_base&against=gpt2",
    "Languages": "Languages?languages=German&languages=English&reference=English&tokenizers=gpt2",
    "Algorithms": "Algorithms?algorithm=Lattice&cutting=unhappily",
    "Quirks": "Quirks?quirk=Numbers&integer=4711&tokenizer=cl100k_base",
    "Vocabulary": "Vocabulary?tokenizer=r50k_base&find=berry",
    "Costs": "Costs?model=GPT-2+small&permillion=2.5",
    "Fact check": "Fact_check?topic=digits",
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_link_restores_what_the_page_is_set_to(base: str, page: Page, elsewhere: Page, name: str) -> None:
    opened(page, f"{base}/{VIEWS[name]}")
    link = link_of(page)
    assert link.startswith(f"{base}/{VIEWS[name].partition('?')[0]}?")
    opened(elsewhere, link)
    expect(elsewhere.get_by_role("heading", level=1)).to_have_text(name)
    deadline = time.monotonic() + 30
    while values_of(elsewhere) != values_of(page) and time.monotonic() < deadline:
        elsewhere.wait_for_timeout(200)
    assert values_of(elsewhere) == values_of(page)


def test_a_long_text_travels_behind_the_hash_with_tokenizer_and_step(base: str, page: Page, elsewhere: Page) -> None:
    text = "".join(random.Random(3).choices("the quick brown fox, 1234 안녕\n", k=12_000)).strip()
    requests: list[str] = []
    elsewhere.on("request", lambda request: requests.append(request.url))
    opened(page, f"{base}/?tokenizer=r50k_base&step=300")
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    expect(page.get_by_text("too long for the link in the address bar")).to_be_visible()
    settled(page)
    link = link_of(page)
    assert "#z=2" in link
    assert len(link.partition("#")[0]) < 200

    opened(elsewhere, link)
    there = elsewhere.get_by_label("Text", exact=True)
    expect(there).to_have_value(text)
    settled(elsewhere)
    count = page.locator(".main .count")
    assert elsewhere.locator(".stage").get_attribute("data-step") == "300"
    expect(elsewhere.locator(".main .count")).to_have_text(count.inner_text())
    assert not any("#" in url or link.partition("#z=")[2][:60] in url for url in requests)

    there.fill("changed here")
    there.press("Control+Enter")
    elsewhere.wait_for_function("location.hash === ''")
    expect(there).to_have_value("changed here")


def test_a_pasted_corpus_trains_again_elsewhere(base: str, page: Page, elsewhere: Page) -> None:
    opened(page, f"{base}/Train?source=paste&merges=20")
    area = page.get_by_label("Text to train on")
    area.fill("one corpus of one reader, pasted once " * 3)
    area.press("Control+Enter")
    settled(page)
    link = link_of(page)
    opened(elsewhere, link)
    expect(elsewhere.get_by_label("Text to train on")).to_have_value("one corpus of one reader, pasted once " * 3)
    expect(elsewhere.locator(".main .count")).to_have_text(page.locator(".main .count").all_inner_texts())
