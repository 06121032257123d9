"""A file that is too large is refused in the browser, with a sentence, before a byte of it is sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from ui.limits import LIMITS

from .conftest import ROOT, press, settled

pytestmark = pytest.mark.browser


def test_a_file_above_the_limit_is_refused_with_a_sentence(app_server, page: Page, tmp_path: Path):
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate((LIMITS.upload_mb + 1) << 20)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if "upload_file" in request.url else None)
    page.goto(app_server(ROOT / "app.py"))
    settled(page)
    press(page.get_by_text("Or open a text file"))
    uploader = page.locator('[data-testid="stFileUploader"]', has_text="in any common encoding")
    uploader.locator("input").set_input_files(large)
    uploader.get_by_text(f"{LIMITS.upload_mb}.0MB or smaller").wait_for()
    assert sent == []
