"""The stage inside a page of somebody else's: another origin, a small window, the keyboard."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from bpe import History, TrainSettings, load_pretrained, train
from bpe.samples import load_word_counts
from ui.controls import EXAMPLES

from .conftest import ROOT, press, settled

pytestmark = pytest.mark.browser


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """A test says nothing."""


@pytest.fixture
def blog(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Call it with the body of a page: its address, on a host that is not the app's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def publish(body: str) -> str:
        (tmp_path / "post.html").write_text(f"<!doctype html><title>A post</title><h1>A post</h1>{body}")
        (tmp_path / "favicon.ico").touch()
        return f"http://localhost:{server.server_port}/post.html"

    yield publish
    server.shutdown()
    thread.join()
    server.server_close()


def code_of(page: Page) -> str:
    """Copy what Share offers to put into another page."""
    settled(page)
    press(page.get_by_role("button", name="Share"))
    press(page.get_by_role("button", name="Copy the code"))
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def is_in_window(frame: FrameLocator, selector: str) -> bool:
    """Whether an element of the frame is seen without scrolling."""
    return bool(
        frame.locator(selector).evaluate(
            "(element) => { const box = element.getBoundingClientRect();"
            " return box.height > 10 && box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth; }"
        )
    )


def history_of(name: str) -> History:
    """The history that the stage of a page draws."""
    if name == "Tokenize":
        return load_pretrained("gpt2").history(EXAMPLES["First look"])
    return train(
        load_word_counts("lowest"), TrainSettings(base="chars", split="whitespace", num_merges=9)
    ).table_history()


ADDRESSES = {
    "Tokenize": "?tokenizer=gpt2&step=0",
    "Train": "Train?source=word+counts&base=chars&merges=9&step=0&sentence=lowest",
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_stage_scrubs_inside_another_page(
    app_server: Callable[[Path], str], page: Page, blog: Callable[[str], str], name: str
) -> None:
    history = history_of(name)
    at_first, at_last = (f"{history.num_tokens[step]} tokens" for step in (0, -1))
    address = ADDRESSES[name]
    base = app_server(ROOT / "app.py")
    page.goto(f"{base}/{address}")
    page.wait_for_selector(".stage[data-step]", timeout=60_000)
    code = code_of(page)
    assert code.startswith(f'<iframe src="{base}/')

    page.goto(blog(code))
    frame = page.frame_locator("iframe")
    box = page.locator("iframe").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (700, 400)
    frame.locator(".stage[data-step='0']").wait_for(timeout=60_000)
    count = frame.locator(".main .count")
    expect(count).to_have_text(at_first)
    for selector in (".slider", ".main .view", ".switches", ".way-out a"):
        assert is_in_window(frame, selector), selector
    for selector in ("h1", "textarea", "[data-testid=stSidebar]", "[data-testid=stExpander]", "[data-testid=stHeader]"):
        assert frame.locator(selector).locator("visible=true").count() == 0, selector
    assert frame.locator("body").evaluate("document.documentElement.scrollWidth <= innerWidth")

    frame.locator(".slider").focus()
    page.keyboard.press("End")
    expect(count).to_have_text(at_last)
    page.keyboard.press("ArrowLeft")  # to the last merge that acts on this text
    page.keyboard.press("ArrowLeft")  # and before it
    expect(count).not_to_have_text(at_last)
    step = frame.locator(".stage").get_attribute("data-step")
    expect(frame.locator(".main .drawing .fill").first).to_be_attached()
    inside = page.frames[1]
    inside.wait_for_function("(step) => location.search.includes(`step=${step}`)", arg=step)

    link = frame.get_by_role("link", name="Open in the app")
    with page.context.expect_page() as opened:
        press(link)
    app = opened.value
    app.wait_for_selector(".stage[data-step]", timeout=60_000)
    assert app.locator(".stage").get_attribute("data-step") == step
    assert "embed" not in app.url
    expect(app.get_by_role("heading", level=1)).to_be_visible()


def test_other_pages_offer_no_code(app_server: Callable[[Path], str], page: Page) -> None:
    page.goto(f"{app_server(ROOT / 'app.py')}/Costs")
    settled(page)
    press(page.get_by_role("button", name="Share"))
    expect(page.get_by_role("button", name="Copy the link")).to_be_visible()
    expect(page.get_by_role("button", name="Copy the code")).to_have_count(0)
