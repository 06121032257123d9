"""Fixtures for tests in a real browser: a Streamlit server of its own, and pages that tolerate no error.

    def test_something(app_server, page):
        page.goto(app_server(SCRIPT))
        settled(page)

Without Chromium these tests are skipped, except where the environment variable CI is set: there they fail.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Playwright,
    Request,
    WebError,
    expect,
    sync_playwright,
)

ROOT = Path(__file__).resolve().parents[2]
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SETTLED = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
START_SECONDS = 60
LOOPBACK = ("127.0.0.1", "localhost")  # two origins, so that a page can stand inside somebody else's

EXPECT_MILLISECONDS = 20_000
"""How long expectations wait: a busy machine is no failure."""

expect.set_options(timeout=EXPECT_MILLISECONDS)


def settled(page: Page, timeout: float = 60_000) -> None:
    """Wait until the app is connected and no script is running."""
    page.wait_for_selector(SETTLED, timeout=timeout)


_AT_REST = """(element) => new Promise((resolve) => {
    const begun = performance.now();
    let place = "", since = begun, frames = 0;
    const look = (now) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const here = [x, y, width, height].join();
        if (here !== place) [place, since, frames] = [here, now, 0];
        frames += 1;
        if ((now - since > 250 && frames > 8) || now - begun > 10_000) resolve();
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})"""


def at_rest(locator: Locator) -> None:
    """Bring an element into view and wait until it keeps its place: what is drawn above it has come."""
    locator.scroll_into_view_if_needed()
    locator.evaluate(_AT_REST)


def press(locator: Locator) -> None:
    """Click on an element at rest: where a page moves between down and up, a pointer lets go beside its target."""
    at_rest(locator)
    locator.click()


def opened(page: Page, url: str, timeout: float = 120_000) -> None:
    """Go to a page of the app and wait until it stands."""
    page.goto(url)
    page.wait_for_selector("h1", timeout=timeout)
    settled(page)


def find_chromium() -> str | None:
    """Return the browser to use: the one the environment names, else one that is installed.

    Chromium without its windows comes first: the same engine, for less CPU.
    """
    return os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")


class AppServers:
    """Streamlit servers by script, each in a process group of its own."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._urls: dict[Path, str] = {}
        self._processes: list[subprocess.Popen[bytes]] = []

    def url(self, script: Path | str) -> str:
        """Return the base URL of a running server for a script; starts one if there is none."""
        path = Path(script).resolve()
        if path not in self._urls:
            self._urls[path] = self._start(path)
        return self._urls[path]

    def _start(self, script: Path) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "streamlit", "run", str(script)]
        command += [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
        log_path = self._log_folder / f"{script.stem}-{port}.log"
        with log_path.open("wb") as log:
            process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        self._processes.append(process)
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START_SECONDS
        while not _is_healthy(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server for {script.name} did not start:\n{log_path.read_text()}")
            time.sleep(0.1)
        return url

    def stop(self) -> None:
        """End every server that was started here, with whatever it started."""
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
            return bool(answer.read() == b"ok")
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path | str], str]]:
    """Call it with the path of a script: the base URL of a server that runs it."""
    servers = AppServers(tmp_path_factory.mktemp("servers"))
    yield servers.url
    servers.stop()


@pytest.fixture(scope="session")
def playwright_driver() -> Iterator[Playwright]:
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def executable() -> str:
    """The path of Chromium."""
    found = find_chromium()
    if found is None:
        message = "no Chromium: install it, or set CHROMIUM to its path"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def browser(playwright_driver: Playwright, executable: str) -> Iterator[Browser]:
    """A browser for contexts of a test's own: each starts with an empty cache, as somebody else's would."""
    chromium = playwright_driver.chromium.launch(executable_path=executable, args=BROWSER_ARGUMENTS)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def profile(
    playwright_driver: Playwright, executable: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """One browser for the pages of all tests: it keeps Streamlit's scripts, compiled, from one visit to the next."""
    context = playwright_driver.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=executable,
        args=BROWSER_ARGUMENTS,
        viewport={"width": 1280, "height": 900},
        permissions=["clipboard-read", "clipboard-write"],
    )
    yield context
    context.close()


def forget(profile: BrowserContext) -> None:
    """Close the pages of a test and drop what they stored, so that the next test begins as a first visit does."""
    blank, *pages = profile.pages
    origins = {"/".join(page.url.split("/")[:3]) for page in pages if page.url.startswith("http")}
    for page in pages:
        page.close()
    profile.set_offline(False)
    profile.clear_cookies()
    devtools = profile.new_cdp_session(blank)
    for origin in origins:
        devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
    devtools.detach()


@contextmanager
def watched(context: BrowserContext) -> Iterator[None]:
    """Fail at the end if any page of a context had an error in a script or in the console, or asked another machine."""
    problems: list[str] = []

    def note_error(error: WebError) -> None:
        problems.append(f"page: {error.error}")

    def note_console(message: ConsoleMessage) -> None:
        # On a deep link Streamlit first looks for its own end points below the page, and finds them at the root.
        is_probe = "/_stcore/" in message.location.get("url", "")
        if message.type == "error" and not is_probe:
            problems.append(f"console: {message.text}")

    def note_request(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and address.hostname not in LOOPBACK:
            problems.append(f"request: {request.url}")

    context.on("weberror", note_error)
    context.on("console", note_console)
    context.on("request", note_request)
    yield
    context.remove_listener("weberror", note_error)
    context.remove_listener("console", note_console)
    context.remove_listener("request", note_request)
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(profile: BrowserContext) -> Iterator[Page]:
    """A page of 1280 x 900, watched."""
    try:
        with watched(profile):
            yield profile.new_page()
    finally:
        forget(profile)


@pytest.fixture
def page_with(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Call it with options of a browser context: a page in a context of its own, with an empty cache, watched."""
    with ExitStack() as contexts:

        def make(**options: Any) -> Page:
            context = browser.new_context(**options)
            contexts.callback(context.close)
            contexts.enter_context(watched(context))
            return context.new_page()

        yield make


@pytest.fixture
def elsewhere(page_with: Callable[..., Page]) -> Page:
    """Somebody else's page: another browser, without a cookie, a session or anything stored."""
    return page_with(viewport={"width": 1280, "height": 900})
