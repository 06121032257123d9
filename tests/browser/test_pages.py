"""The pages as a whole in a real browser: a step in the link, the way back, and a tokenizer that follows its reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bpe import TrainSettings, train
from bpe.samples import load_sample

from .conftest import ROOT, at_rest, press, settled

pytestmark = pytest.mark.browser

APP = ROOT / "app.py"


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(APP)


def drawn(page: Page) -> None:
    page.wait_for_selector(".stage[data-step]", timeout=60_000)
    settled(page)


def here(page: Page) -> str:
    return str(page.evaluate("location.href"))


def step_of(page: Page) -> int:
    return int(page.locator(".stage").get_attribute("data-step") or -1)


def test_a_released_slider_moves_contest_curve_and_link(base: str, page: Page) -> None:
    page.goto(base)
    drawn(page)
    press(page.get_by_test_id("stSidebar").get_by_role("link", name="Train"))
    page.wait_for_url("**/Train*")
    drawn(page)
    training = train(load_sample("udhr-eng"), TrainSettings(num_merges=500))
    at_rest(page.locator(".slider"))
    box = page.locator(".slider").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 9, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, y, steps=5)
    page.mouse.up()
    step = step_of(page)
    assert 0 < step < 500
    expect(page.get_by_text(f"The curve: {training.num_tokens[step]:,} tokens after {step} merges")).to_be_visible()
    settled(page)
    assert f"step={step}" in here(page)

    again = page.context.new_page()
    again.goto(here(page))
    drawn(again)
    assert step_of(again) == step
    expect(again.get_by_text(f"The curve: {training.num_tokens[step]:,} tokens after {step} merges")).to_be_visible()


def test_keyboard_alone_trains_steps_and_reads(base: str, page: Page) -> None:
    page.goto(f"{base}/?step=0")
    drawn(page)
    assert step_of(page) == 0
    page.locator(".slider").focus()
    page.keyboard.press("End")
    expect(page.locator(".stage")).to_have_attribute("data-step", "50000")
    page.wait_for_function("!location.href.includes('step=')")
    page.keyboard.press("Home")
    expect(page.locator(".stage")).to_have_attribute("data-step", "0")
    expect(page.locator(".main .count")).to_have_text("103 tokens")


def test_script_in_the_text_is_shown_and_not_run(base: str, page: Page) -> None:
    page.goto(base)
    drawn(page)
    attack = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    page.get_by_label("Text", exact=True).fill(attack)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".main .content")).to_contain_text("<img src=x onerror")
    settled(page)
    assert page.title() != "run"
    assert page.locator(".content img, .content script").count() == 0


def test_the_trained_tokenizer_follows_to_the_first_page(base: str, page: Page) -> None:
    page.goto(base)
    drawn(page)
    press(page.get_by_test_id("stSidebar").get_by_role("link", name="Train"))
    page.wait_for_url("**/Train*")
    drawn(page)
    press(page.get_by_test_id("stSidebar").get_by_role("link", name="Tokenize"))
    page.wait_for_url(f"{base}/*")
    drawn(page)
    press(page.get_by_role("combobox", name="Tokenizer"))
    press(page.get_by_role("option", name="yours"))
    expect(
        page.get_by_text("Trained here on Universal Declaration of Human Rights: English, 500 merges")
    ).to_be_visible()
    settled(page)
    expect(page.get_by_text("joined token bytes equal the text: yes")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", ["", "Train"])
def test_nothing_scrolls_sideways(base: str, page: Page, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{base}/{path}")
    drawn(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("(element) => element.scrollWidth - element.clientWidth") <= 0


def test_half_a_character_is_replaced_and_the_page_goes_on(base: str, page: Page) -> None:
    """A script, an input method or another program can put a lone surrogate into a field."""
    page.goto(base)
    drawn(page)
    area = page.locator("textarea").first
    area.evaluate(
        """(area) => {
          const value = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
          value.set.call(area, "ab\\ud800 \\ud83d\\ude00");
          area.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    area.press("Control+Enter")
    expect(page.get_by_text("joined token bytes equal the text")).to_contain_text("10 bytes")  # 2 + 3 + 1 + 4
    expect(area).to_have_value("ab\ufffd \U0001f600")
