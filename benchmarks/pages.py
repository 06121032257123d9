"""Times pages in Chromium as a reader waits for them: `python benchmarks/pages.py [--runs N] [PAGE ...]`.

start      from starting the server to the first tokens of the first page; then the memory of the server
compare    100 kB of text under ten tokenizers that are loaded: from handing the text over until its rows are drawn
languages  45 languages under 6 tokenizers: from opening the page until its chart is drawn, the first time (with
           loading vocabularies) and again; and 20 files of 1 MB: from choosing them until their chart is drawn
vocabulary the largest of OpenAI's: from choosing it, or loading the page with it, until its rows are drawn; and
           from a search until its rows are drawn

Medians of wall time. Loaded machines only make the figures larger: read them as bounds.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bpe.parallel import load_parallel  # noqa: E402
from bpe.samples import load_sample, udhr_languages  # noqa: E402
from tests.browser.conftest import BROWSER_ARGUMENTS, AppServers, find_chromium, settled  # noqa: E402

TEN = (
    *("gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base"),
    *("llama2", "gemma2", "gemma3", "mistral-v1", "llama3"),
)
SIX = ("gpt2", "cl100k_base", "o200k_base", "llama3", "gemma3", "xlm-r")
CHART = ".js-plotly-plot .barlayer .point"
UPLOADED = 20
VOCABULARY = "o200k_base"
OWN_TEXT = "your own"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="compare, languages, vocabulary; without any: all")
    arguments = parser.parse_args()
    runs = arguments.runs
    executable = find_chromium()
    if executable is None:
        parser.error("no Chromium: install it, or set CHROMIUM to its path")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        servers = AppServers(Path(folder))
        try:
            browser = playwright.chromium.launch(executable_path=executable, args=BROWSER_ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(180_000)
            started = time.perf_counter()
            base = servers.url(ROOT / "app.py")
            page.goto(base)
            page.wait_for_selector(".stage[data-step]")
            report("start to first tokens", [time.perf_counter() - started])
            settled(page)
            measures = {
                "vocabulary": measure_vocabulary,
                "compare": measure_compare,
                "languages": measure_languages,
            }
            for name in arguments.pages or measures:
                measures[name](page, base, runs)
            browser.close()
        finally:
            servers.stop()


def report(name: str, seconds: list[float]) -> None:
    print(f"{name:<44}{statistics.median(seconds):>7.2f} s   ({len(seconds)} runs)", flush=True)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# ------------------------------------------------------------------------------------------- pages


def measure_vocabulary(page: Page, base: str, runs: int) -> None:
    rows = page.locator(".listing .grid:not([data-rows='']) .rows [role=row]").first

    def open_it() -> None:
        page.goto(f"{base}/Vocabulary?tokenizer={VOCABULARY}")
        rows.wait_for()

    def choose(name: str) -> float:
        before = grid.get_attribute("data-rows")
        page.get_by_role("combobox", name="Vocabulary").click()
        option = page.get_by_role("option", name=name, exact=True)
        option.wait_for()
        start = time.perf_counter()
        option.click()
        page.locator(f".listing .grid:not([data-rows='{before}']):not([data-rows=''])").wait_for()
        return time.perf_counter() - start

    grid = page.locator(".listing .grid")
    page.goto(f"{base}/Vocabulary?tokenizer=gpt2")
    rows.wait_for()
    settled(page)
    report(f"{VOCABULARY}: chosen the first time", [choose(VOCABULARY)])
    settled(page)
    again = []
    for _ in range(runs):
        choose("gpt2")
        settled(page)
        again.append(choose(VOCABULARY))
        settled(page)
    report(f"{VOCABULARY}: chosen again", again)
    report(f"{VOCABULARY}: page loaded again", [timed(open_it) for _ in range(runs)])
    settled(page)
    search = page.get_by_role("textbox").first

    def find(text: str) -> float:
        before = grid.get_attribute("data-rows")
        search.fill(text)
        start = time.perf_counter()
        search.press("Enter")
        page.locator(f".listing .grid:not([data-rows='{before}']):not([data-rows=''])").wait_for()
        return time.perf_counter() - start

    report(f"{VOCABULARY}: searched", [find(text) for text in ("straw", "the", "zz", "ing", "q", "under")[: 2 * runs]])


def measure_compare(page: Page, base: str, runs: int) -> None:
    page.goto(f"{base}/Compare?{urlencode([('compare', name) for name in TEN])}")
    names = page.locator(".aligned .band").first.locator(".name")
    names.nth(len(TEN) - 1).wait_for()
    settled(page)
    english = load_sample("kjv")
    area = page.locator("textarea").first
    content = page.locator(".aligned .content")

    def hand_over(number: int) -> float:
        wanted = f"number{number}"
        text = f"Text number {number}.\n{english}"[:100_000]
        area.fill(text)
        start = time.perf_counter()
        area.press("Control+Enter")
        while wanted not in re.sub(r"\W", "", content.text_content() or "") or names.count() < len(TEN):
            time.sleep(0.01)
        seconds = time.perf_counter() - start
        settled(page)
        return seconds

    report("100 kB under ten tokenizers: rows drawn", [hand_over(100 + number) for number in range(runs)])


def measure_languages(page: Page, base: str, runs: int) -> None:
    codes = [language.code for language in udhr_languages()][:45]
    query = [("tokenizers", name) for name in SIX] + [("languages", code) for code in codes]
    url = f"{base}/Languages?{urlencode(query)}"

    def open_it() -> None:
        page.goto(url)
        page.wait_for_selector(CHART)

    report(f"{len(codes)} languages: opened the first time", [timed(open_it)])
    settled(page)
    report(f"{len(codes)} languages: opened again", [timed(open_it) for _ in range(runs)])
    settled(page)
    page.goto(f"{base}/Languages?{urlencode({'parallel': OWN_TEXT})}")
    upload = page.locator("input[type=file]").first
    upload.wait_for(state="attached")
    with tempfile.TemporaryDirectory() as folder:
        files = make_uploads(Path(folder))

        def bring() -> None:
            upload.set_input_files(files)
            page.wait_for_selector(CHART)

        report(f"{len(files)} files of 1 MB: chart drawn", [timed(bring)])


def make_uploads(folder: Path) -> list[Path]:
    """Write files of about 1 MB, a language each: the declaration over and over, aligned by line."""
    text = load_parallel("declaration")
    chosen = [language.code for language in text.languages][:UPLOADED]
    num_bytes = sum(len(article.encode()) for code in chosen for article in text.units[code])
    times = round(UPLOADED * 1_000_000 / num_bytes)
    paths = []
    for code in chosen:
        path = folder / f"{code}.txt"
        path.write_text("\n".join(article.replace("\n", " ") for article in text.units[code] * times), encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    main()
