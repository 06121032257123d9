"""A view saved as a file opens again in a browser that has never been here: page, settings, texts, files, step."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ui.view_file import unpack_view

from .conftest import ROOT, opened, press, settled

pytestmark = pytest.mark.browser


def saved(page: Page, folder: Path) -> Path:
    """Save the view with the button of Share."""
    press(page.get_by_role("button", name="Share"))
    with page.expect_download() as download:
        press(page.get_by_role("button", name="Save this view"))
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    page.keyboard.press("Escape")
    return path


def open_saved(page: Page, path: Path) -> None:
    press(page.get_by_role("button", name="Share"))
    page.get_by_label("Open a saved view").locator("input[type=file]").set_input_files(path)


def test_a_text_too_long_for_any_link_comes_back_with_tokenizer_step_and_marks(
    app_server: Callable[[Path], str], page: Page, elsewhere: Page, tmp_path: Path
) -> None:
    base = app_server(ROOT / "app.py")
    text = "".join(random.Random(3).choices("the quick brown fox, 1234 안녕\n", k=30_000)).strip()
    opened(page, f"{base}/?tokenizer=cl100k_base&step=300&shown=marks&shown=ids")
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    expect(page.get_by_text("too long for the link in the address bar")).to_be_visible()
    settled(page)
    path = saved(page, tmp_path)
    assert path.name == "tokenize.bpeview"
    assert unpack_view(path.read_bytes()).texts == {"text": text}

    opened(elsewhere, f"{base}/Costs")
    open_saved(elsewhere, path)
    expect(elsewhere.get_by_role("heading", level=1)).to_have_text("Tokenize", timeout=30_000)
    expect(elsewhere.get_by_label("Text", exact=True)).to_have_value(text)
    stage = elsewhere.locator(".stage")
    expect(stage).to_have_attribute("data-step", "300")
    settled(elsewhere)
    expect(elsewhere.get_by_role("combobox", name="Tokenizer")).to_have_value("cl100k_base")
    expect(elsewhere.locator(".main .count")).to_have_text(page.locator(".main .count").inner_text())
    expect(elsewhere.locator(".stage input[name=marks]")).to_be_checked()
    expect(elsewhere.locator(".stage input[name=ids]")).to_be_checked()
    assert "step=300" in str(elsewhere.evaluate("location.search"))


def test_a_corpus_from_a_file_comes_back_on_the_page_that_is_open(
    app_server: Callable[[Path], str], page: Page, elsewhere: Page, tmp_path: Path
) -> None:
    base = app_server(ROOT / "app.py")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low low lower lowest newest widest " * 40)
    opened(page, f"{base}/Train?source=upload&merges=12&step=5&sentence=lowest")
    page.get_by_test_id("stFileUploader").locator("input[type=file]").first.set_input_files(corpus)
    page.wait_for_selector(".stage[data-step='5']", timeout=60_000)
    settled(page)
    path = saved(page, tmp_path)

    opened(elsewhere, f"{base}/Train?merges=40")
    open_saved(elsewhere, path)
    expect(elsewhere.locator(".stage")).to_have_attribute("data-step", "5", timeout=30_000)
    expect(elsewhere.get_by_text("From the saved view: corpus.txt")).to_be_visible()
    settled(elsewhere)
    for count in (".main .count", ".own .count"):
        expect(elsewhere.locator(count)).to_have_text(page.locator(count).inner_text())
    assert "merges=12" in str(elsewhere.evaluate("location.search"))


def test_the_own_tokenizer_comes_along(
    app_server: Callable[[Path], str], page: Page, elsewhere: Page, tmp_path: Path
) -> None:
    base = app_server(ROOT / "app.py")
    opened(page, f"{base}/Train?source=word+counts&base=chars&merges=9")
    page.wait_for_selector(".stage[data-step]", timeout=60_000)
    press(page.get_by_test_id("stSidebar").get_by_role("link", name="Tokenize"))
    page.wait_for_selector("h1:has-text('Tokenize')")
    settled(page)
    page.get_by_test_id("stSelectbox").first.locator("input").fill("yours")
    page.keyboard.press("Enter")
    expect(page.locator(".label")).to_contain_text("merges used: 9 of 9")
    settled(page)
    path = saved(page, tmp_path)

    opened(elsewhere, base)
    open_saved(elsewhere, path)
    expect(elsewhere.locator(".label")).to_contain_text("merges used: 9 of 9", timeout=30_000)
    expect(elsewhere.locator(".main .count")).to_have_text(page.locator(".main .count").inner_text())
    expect(elsewhere.get_by_test_id("stSidebar")).to_contain_text("9 merges on chars")


def test_a_file_that_is_no_view_is_refused_in_a_sentence(
    app_server: Callable[[Path], str], page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    opened(page, app_server(ROOT / "app.py"))
    open_saved(page, path)
    expect(page.get_by_text("This file is no view that was saved here.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tokenize")
