"""axe-core on every page, in light and dark: no violation that it calls serious or critical.

axe-core comes from npm and is no part of the app. `AXE_CORE` is the path of its script; without it these tests are
skipped, except where the environment variable CI is set: there they fail. `.ci/run` shows how to get it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .conftest import ROOT, opened, press, settled

pytestmark = pytest.mark.browser

PAGES = ("", "Train", "Compare", "Languages", "Algorithms", "Quirks", "Vocabulary", "Costs", "Fact_check")
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    path = Path(os.environ.get("AXE_CORE", ""))
    if not path.is_file():
        message = "no axe-core: set AXE_CORE to the path of its axe.min.js"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path.read_text(encoding="utf-8")


def still(page: Page) -> None:
    """Wait until nothing fades any more: a colour on its way is no colour to judge."""
    settled(page)
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")


def violations(page: Page, axe: str) -> list[str]:
    """Return what axe-core finds serious: the rule and the elements, a line each."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)"
    )
    return [
        f"{one['impact']}: {one['id']}: {node['target']} {node['html'][:160]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path or "Tokenize")
def test_nothing_serious_on_a_page(app_server: Callable[[Path], str], page: Page, axe: str, path: str) -> None:
    opened(page, f"{app_server(ROOT / 'app.py')}/{path}")
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=120_000)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        still(page)
        assert violations(page, axe) == [], scheme
    page.emulate_media(color_scheme="light")
    press(page.get_by_role("button", name="Share"))
    page.get_by_role("button", name="Copy the link").wait_for()
    still(page)
    assert violations(page, axe) == [], "with the link open"
