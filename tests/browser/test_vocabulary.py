"""The list of tokens in a real browser: every row can be reached, a pick shows the token, and little travels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocket, expect

from bpe.pretrained import load_pretrained
from bpe.vocabulary import TokenFilter, find_tokens, list_vocabulary

from .conftest import EXPECT_MILLISECONDS, ROOT, opened, press, settled

pytestmark = pytest.mark.browser

PATIENCE = 90_000
"""Milliseconds: the first page of a server loads vocabularies, and the machine may be busy."""

PICKED = ".listing .row[aria-selected=true]"


@pytest.fixture(autouse=True)
def patient(page: Page) -> Iterator[None]:
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield
    expect.set_options(timeout=EXPECT_MILLISECONDS)


@pytest.fixture
def base(app_server: Callable[[Path], str]) -> str:
    return app_server(ROOT / "app.py")


def open_at(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(".listing .grid[data-rows]", state="attached", timeout=PATIENCE)
    settled(page, PATIENCE)


def cells(page: Page, selector: str) -> list[str]:
    """Return id, token, hex, bytes, script and kind of a drawn row."""
    return page.locator(f"{selector} > *").all_text_contents()


def visible_ids(page: Page) -> list[int]:
    """Return the ids of the rows in sight, from top to bottom."""
    rows = page.locator(".listing").evaluate(
        """(listing) => {
            const grid = listing.querySelector(".grid").getBoundingClientRect();
            const head = listing.querySelector(".head").getBoundingClientRect();
            return [...listing.querySelectorAll(".rows .row:not([hidden])")]
                .map((row) => [row.getBoundingClientRect(), row.firstElementChild.textContent])
                .filter(([box]) => box.top >= head.bottom - 1 && box.bottom <= grid.bottom + 1)
                .sort(([a], [b]) => a.top - b.top)
                .map(([, id]) => Number(id.replaceAll(",", "")));
        }"""
    )
    assert isinstance(rows, list)
    return rows


def test_the_list_opens_on_its_token_and_scrolls_to_both_ends(base: str, page: Page) -> None:
    open_at(page, f"{base}/Vocabulary")
    assert cells(page, PICKED)[:2] == ["43,453", "·SolidGoldMagikarp"]
    grid = page.locator(".listing .grid")
    assert grid.get_attribute("aria-rowcount") == "50258"

    for key, first, last in (("End", None, 50_256), ("Home", 0, None)):
        grid.press(key)
        expect(page.locator(PICKED).locator(":scope > *").first).to_have_text(f"{last if first is None else first:,}")
        ids = visible_ids(page)
        assert ids == list(range(ids[0], ids[-1] + 1))
        assert len(ids) > 10
        assert (ids[0] if last is None else ids[-1]) == (first if last is None else last)


def test_a_pick_shows_the_token_and_sends_no_vocabulary(base: str, page: Page) -> None:
    received: list[int] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: received.append(len(frame)))

    page.on("websocket", listen)
    open_at(page, f"{base}/Vocabulary?token=41236")
    expect(page.get_by_role("heading", name="·strawberry")).to_be_visible()
    sent_at_first = sum(received)
    received.clear()

    page.locator(".listing .grid").press("ArrowDown")
    expect(page.get_by_role("spinbutton", name="Token id")).to_have_value("41237")
    settled(page)
    name = load_pretrained("gpt2").decode([41_237])
    expect(page.get_by_role("heading", name=name.replace(" ", "·"))).to_be_visible()
    page.wait_for_function("new URL(location.href).searchParams.get('token') === '41237'")
    assert sum(received) < sent_at_first / 3

    press(page.locator(".listing .rows .row").filter(has_text="41,239"))
    expect(page.get_by_role("spinbutton", name="Token id")).to_have_value("41239")
    assert cells(page, PICKED)[0] == "41,239"

    page.reload()
    page.wait_for_selector(PICKED)
    assert cells(page, PICKED)[0] == "41,239"


def test_a_search_leaves_the_rows_that_bpe_finds(base: str, page: Page) -> None:
    open_at(page, f"{base}/Vocabulary")
    page.get_by_label("Search the tokens").fill("straw")
    page.get_by_label("Search the tokens").press("Enter")
    vocabulary = list_vocabulary(load_pretrained("gpt2"))
    ids = vocabulary.ids[find_tokens(vocabulary, TokenFilter("straw"))].tolist()
    page.wait_for_selector(f'.listing .grid[data-rows="{len(ids)}"]')
    settled(page)
    assert visible_ids(page) == ids

    page.get_by_label("Search the tokens").fill("no such token at all")
    page.get_by_label("Search the tokens").press("Enter")
    expect(page.locator(".listing .empty")).to_be_visible()


def test_a_phone_shows_id_token_and_length_and_nothing_scrolls_sideways(base: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("Vocabulary?token=193819&tokenizer=o200k_base", "Costs"):
        opened(page, f"{base}/{path}")
        wider = page.evaluate(
            "document.querySelector('[data-testid=stMain]').scrollWidth - document.documentElement.clientWidth"
        )
        assert wider <= 0
        if "Vocabulary" in path:
            page.wait_for_selector(PICKED)
            shown = [cell for cell in page.locator(f"{PICKED} > *").all() if cell.is_visible()]
            assert [cell.text_content() for cell in shown] == ["193,819", "亚洲AV", "8"]


def test_costs_follow_the_model(base: str, page: Page) -> None:
    opened(page, f"{base}/Costs?model=Llama%203%2070B")
    expect(page.get_by_text("328 kB", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(3)
