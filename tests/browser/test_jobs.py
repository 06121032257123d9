"""A closed tab stops its work: nobody else waits for a visitor who has gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_closed_tab_stops_its_work_and_an_open_one_does_not(
    app_server: Callable[[Path], str], page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_LEFT_SECONDS", "1")
    base = app_server(Path(__file__).parent / "apps" / "endless.py")
    leaving = page.context.new_page()
    leaving.goto(base)
    expect(leaving.get_by_text("1 of 1 jobs run")).to_be_visible(timeout=30_000)
    page.goto(f"{base}?watch=1")
    expect(page.get_by_text("1 of 1 jobs run")).to_be_visible(timeout=30_000)
    page.wait_for_timeout(2_500)  # longer than the grace: work of a visitor who is there goes on
    expect(page.get_by_text("1 of 1 jobs run")).to_be_visible()
    leaving.close()
    expect(page.get_by_text("0 of 1 jobs run")).to_be_visible(timeout=10_000)
