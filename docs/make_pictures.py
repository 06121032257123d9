"""Takes the pictures of the README from the running app: `python docs/make_pictures.py`.

Needs requirements-dev.txt and Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import BROWSER_ARGUMENTS, AppServers, find_chromium, settled  # noqa: E402

# name -> (address, light or dark, what to wait for, pixels from the top, height of the picture)
PICTURES = {
    "tokenize": ("?tokenizer=gpt2", "light", ".stage[data-step]", 0, 900),
    "train": ("Train?step=180", "dark", ".stage[data-step]", 420, 900),
    "compare": ("Compare", "light", ".aligned canvas, .aligned svg", 380, 760),
    "languages": ("Languages", "light", ".js-plotly-plot .barlayer", 250, 760),
}


def take(page: Page, url: str, name: str) -> None:
    address, theme, ready, top, height = PICTURES[name]
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{url}/{address}")
    page.wait_for_selector(ready, timeout=90_000)
    settled(page)
    page.set_viewport_size({"width": 1280, "height": top + height})
    page.wait_for_timeout(2_000)  # fonts and charts come to rest
    page.screenshot(path=ROOT / "docs" / f"{name}.png", clip={"x": 300, "y": top, "width": 980, "height": height})


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        servers = AppServers(Path(folder))
        try:
            browser = driver.chromium.launch(executable_path=find_chromium(), args=BROWSER_ARGUMENTS)
            for name in PICTURES:
                page = browser.new_page(viewport={"width": 1280, "height": 1000})
                take(page, servers.url(ROOT / "app.py"), name)
                page.close()
            browser.close()
        finally:
            servers.stop()


if __name__ == "__main__":
    main()
