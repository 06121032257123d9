"""The file to take away, opened from disk without a network: it draws, scrubs, and asks for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bpe import TrainSettings, train
from bpe.samples import load_sample
from ui.stage.export import export_html
from ui.stage.payload import StageView, build_payload

pytestmark = pytest.mark.browser


def test_a_saved_stage_scrubs_offline(page: Page, tmp_path: Path) -> None:
    training = train(load_sample("udhr-eng"), TrainSettings(num_merges=300))
    history = training.history(load_sample("udhr-eng"))
    payload = build_payload(
        [StageView(history)], training.rows, training.tokenizer.base_names(), num_merges=300, step=120
    )
    path = tmp_path / "tokens.html"
    path.write_bytes(export_html(payload, "Tokens"))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.context.set_offline(True)
    page.goto(path.as_uri())
    count = page.locator(".main .count")
    expect(count).to_have_text(f"{history.num_tokens[120]:,} tokens")
    page.locator(".slider").focus()
    page.keyboard.press("Home")
    expect(count).to_have_text(f"{history.num_tokens[0]:,} tokens")
    page.keyboard.press("End")
    expect(count).to_have_text(f"{history.num_tokens[300]:,} tokens")
    assert requests == [path.as_uri()]
