"""Takes the pictures of the README from the running app: `python docs/make_pictures.py`.

Needs requirements-dev.txt and Chromium.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
SETTLED = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"]

# name -> (address, light or dark, what to wait for, pixels from the top, height of the picture)
PICTURES = {
    "tokenize": ("?tokenizer=gpt2", "light", ".stage[data-step]", 0, 900),
    "train": ("Train?step=180", "dark", ".stage[data-step]", 420, 900),
    "compare": ("Compare", "light", ".aligned canvas, .aligned svg", 380, 760),
    "languages": ("Languages", "light", ".js-plotly-plot .barlayer", 250, 760),
}


def serve() -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).read()
            break
        except OSError:
            time.sleep(0.1)
    return server, url


def take(page: Page, url: str, name: str) -> None:
    address, theme, ready, top, height = PICTURES[name]
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{url}/{address}")
    page.wait_for_selector(ready, timeout=90_000)
    page.wait_for_selector(SETTLED, timeout=90_000)
    page.set_viewport_size({"width": 1280, "height": top + height})
    page.wait_for_timeout(2_000)  # fonts and charts come to rest
    page.screenshot(path=ROOT / "docs" / f"{name}.png", clip={"x": 300, "y": top, "width": 980, "height": height})


def main() -> None:
    server, url = serve()
    try:
        with sync_playwright() as driver:
            executable = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
            browser = driver.chromium.launch(executable_path=executable, args=ARGUMENTS)
            for name in PICTURES:
                page = browser.new_page(viewport={"width": 1280, "height": 1000})
                take(page, url, name)
                page.close()
            browser.close()
    finally:
        os.killpg(server.pid, signal.SIGTERM)


if __name__ == "__main__":
    main()
