"""The watch over pages of other tests sees what it is there for."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from .conftest import watched

pytestmark = pytest.mark.browser


def run(browser: Browser, script: str) -> None:
    """Run a script on an empty page that is watched."""
    context = browser.new_context()
    try:
        with watched(context):
            page = context.new_page()
            page.evaluate(script)
            page.wait_for_timeout(300)
    finally:
        context.close()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("fetch('http://192.0.2.1/').catch(() => 0); undefined", "request: http://192.0.2.1/"),
        ("setTimeout(() => { throw new Error('of a script') }); undefined", "page: of a script"),
        ("console.error('in the console')", "console: in the console"),
    ],
)
def test_a_problem_fails_the_test(browser: Browser, script: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        run(browser, script)


def test_no_problem_fails_nothing(browser: Browser) -> None:
    run(browser, "console.log('in the console')")
