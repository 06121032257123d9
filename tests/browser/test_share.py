"""The link of each page, made with the button, opens the same view in a browser that has never been here."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, ViewportSize, expect

from ui.links import pack_text

from .conftest import ROOT, opened, press, settled

pytestmark = pytest.mark.browser

SECONDS = 120_000
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(ROOT / "app.py")


def link_of(page: Page) -> str:
    """Press the button, copy the link, and return what the clipboard then holds."""
    press(page.get_by_role("button", name="Share"))
    press(page.get_by_role("button", name="Copy the link"))
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


# What a page says, with everything that components draw in their shadows: counts, tokens, tables, labels of charts.
# Announcements for screen readers are of the moment, not of the view.
ALL_TEXT = """(main) => {
  const found = [];
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.data.trim()) found.push(node.data.trim());
    if (node.nodeType === Node.ELEMENT_NODE && node.matches("style, script, [role=status], [aria-live]")) return;
    if (node.shadowRoot) visit(node.shadowRoot);
    node.childNodes.forEach(visit);
  };
  visit(main);
  return found;
}"""

# The tokens that a stage paints, as ranges of bytes, with its step and what it shows; null before it is there.
ALL_TOKENS = """(stages) => stages.map(({ stage }) => stage && ({
  step: stage.step,
  options: stage.options,
  tokens: stage.views.map((view) => view.boxes.map(({ start, end }) => [start, end])),
}))"""


def seen_on(page: Page) -> dict[str, list[Any]]:
    """What a reader sees: what the page is set to, what it says, and what its stage paints."""
    return {
        "values": values_of(page),
        "said": page.get_by_test_id("stMain").evaluate(ALL_TEXT),
        "stages": page.locator(".stage").evaluate_all(ALL_TOKENS),
    }


def same_view(elsewhere: Page, page: Page) -> dict[str, list[Any]]:
    """Wait until both pages show the same, and return what that is."""
    deadline = time.monotonic() + 60
    while (there := seen_on(elsewhere)) != (here := seen_on(page)) and time.monotonic() < deadline:
        elsewhere.wait_for_timeout(300)
    assert there == here, (there["values"], here["values"], set(there["said"]) ^ set(here["said"]))
    return here


TEXT = pack_text("a strawberry, 안녕 and (السلام) 1234")
VIEWS = {
    "Tokenize": f"?tokenizer=r50k_base&step=300&shown=marks&shown=ids&speed=4&z={TEXT}",
    "Train": "Train?source=word+counts&base=chars&mark=separate&merges=9&step=4&sentence=lowest&shown=walls",
    "Compare": f"Compare?compare=gpt2&compare=cl100k_base&against=gpt2&z={TEXT}",
    "Languages": "Languages?languages=German&languages=English&reference=English&tokenizers=gpt2&step=200",
    "Algorithms": "Algorithms?algorithm=Lattice&cutting=unhappily&alpha=0.5&seed=3",
    "Textbook bench": "Algorithms?algorithm=Textbook+bench&at=3",
    "Quirks": "Quirks?quirk=Numbers&integer=4711&tokenizer=cl100k_base",
    "Spelling": "Quirks?quirk=Spelling&word=strawberries&letter=s",
    "Vocabulary": "Vocabulary?tokenizer=r50k_base&find=berry",
    "Costs": "Costs?model=GPT-2+small&permillion=2.5",
    "Fact check": "Fact_check?topic=digits",
}
MUST_SHOW = {
    "Tokenize": ["merges used: 300 of 50,000", "a strawberry"],
    "Train": ["merges used: 4 of 9"],
    "Compare": ["cl100k_base", "a strawberry"],
    "Languages": ["German"],
    "Algorithms": ["unhappily"],
    "Textbook bench": ["3"],
    "Quirks": ["Around 4,711"],
    "Spelling": ["strawberries"],
    "Vocabulary": ["berry"],
    "Costs": ["2.5"],
    "Fact check": ["digits"],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_link_restores_text_tokens_step_and_settings(base: str, page: Page, elsewhere: Page, name: str) -> None:
    opened(page, f"{base}/{VIEWS[name]}")
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=SECONDS)
    settled(page)
    link = link_of(page)
    assert link.startswith(f"{base}/{VIEWS[name].partition('?')[0]}?")
    opened(elsewhere, link)
    title = page.get_by_role("heading", level=1).inner_text()
    expect(elsewhere.get_by_role("heading", level=1)).to_have_text(title)
    here = same_view(elsewhere, page)
    if name in ("Tokenize", "Train"):
        painted = [tokens for stage in here["stages"] for tokens in stage["tokens"]]
        assert painted
        assert all(painted)
    said = [*here["said"], *map(str, here["values"])]
    for words in MUST_SHOW[name]:
        assert any(words in text for text in said), (words, said)


BOXES = re.compile(r"/static/js/(Checkbox|Multiselect|NumberInput|Radio|Selectbox|Slider|TextArea|TextInput)\b")


@pytest.mark.parametrize("name", ["Tokenize", "Train", "Textbook bench"])
def test_boxes_that_are_drawn_late_show_what_the_link_brings(base: str, page: Page, elsewhere: Page, name: str) -> None:
    """On a slow line the scripts of boxes come after the first runs: these pages run again by themselves."""
    opened(page, f"{base}/{VIEWS[name]}")
    held: list[Route] = []
    elsewhere.route(BOXES, lambda route: held.append(route))
    opened(elsewhere, f"{base}/{VIEWS[name]}")
    elsewhere.wait_for_timeout(1_500)
    settled(elsewhere)
    assert held
    for route in held:
        route.continue_()
    same_view(elsewhere, page)


def test_a_long_text_travels_behind_the_hash_with_tokenizer_and_step(base: str, page: Page, elsewhere: Page) -> None:
    text = "".join(random.Random(3).choices("the quick brown fox, 1234 안녕\n", k=12_000)).strip()
    requests: list[str] = []
    elsewhere.set_viewport_size(PHONE)
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
    elsewhere.set_viewport_size(PHONE)
    opened(page, f"{base}/Train?source=paste&merges=20")
    area = page.get_by_label("Text to train on")
    area.fill("one corpus of one reader, pasted once " * 3)
    area.press("Control+Enter")
    settled(page)
    link = link_of(page)
    opened(elsewhere, link)
    expect(elsewhere.get_by_label("Text to train on")).to_have_value("one corpus of one reader, pasted once " * 3)
    expect(elsewhere.locator(".main .count")).to_have_text(page.locator(".main .count").all_inner_texts())
