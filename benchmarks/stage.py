"""Times the token stage in Chromium: `python benchmarks/stage.py [--steps N] [CASE ...]`, a line a case.

cpu      main-thread CPU of one step (Chromium's TaskDuration over all steps, divided by their number), each step
         in a frame of its own, spread over the whole slider
script   of that, the time of the stage's own frame: median and 95th percentile
load     from opening the page until the stage has drawn, with training and packing
release  from letting go of the slider until the page shows the step that the server answered with
sent     what the server sends for one release

Loaded machines only make the figures larger: read them as bounds, and as ratios between the cases.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import BROWSER_ARGUMENTS, AppServers, find_chromium, settled  # noqa: E402

SCRIPT = ROOT / "tests" / "browser" / "apps" / "stage_app.py"
NUM_RELEASES = 7
CASES: dict[str, dict[str, object]] = {
    "english-20k": {"text": "kjv", "size": 20_000},
    "english-200k": {"text": "kjv", "size": 200_000},
    "english-2M": {"text": "kjv", "size": 2_000_000},
    "50k-merges-2M": {"text": "kjv", "size": 2_000_000, "merges": 50_000, "split": "none"},
    "gpt2-200k": {"text": "kjv", "size": 200_000, "tokenizer": "gpt2"},
    "mixed-200k": {"text": "mixed", "size": 200_000},
    "arabic-200k": {"text": "arabic", "size": 200_000},
    "hindi-200k": {"text": "hindi", "size": 200_000},
    "thai-200k": {"text": "thai", "size": 200_000},
    "ids-200k": {"text": "kjv", "size": 200_000, "ids": ""},
}

# Steps through the slider, one a frame, and returns what the stage's own frames took.
RUN = """
async (element, numSteps) => {
    const { stage } = element;
    const { numMerges } = stage.payload.merges;
    const durations = [];
    for (let i = 0; i < numSteps; i++) {
        stage.setStep(Math.round(((i + 0.5) * numMerges) / numSteps));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        durations.push(stage.frameDuration);
    }
    return durations;
}"""


@dataclass(frozen=True)
class Result:
    name: str
    load: float
    cpu: float
    script: float
    script_95: float
    release: float
    sent_kb: float

    def line(self) -> str:
        return (
            f"{self.name:<15}{self.load:>8.1f} s{self.cpu:>9.1f} ms{self.script:>8.1f} / {self.script_95:.1f} ms"
            f"{self.release:>10.0f} ms{self.sent_kb:>9.1f} kB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--steps", type=int, default=100, help="steps a case (default 100)")
    arguments = parser.parse_args()
    executable = find_chromium()
    if executable is None:
        parser.error("no Chromium: install it, or set CHROMIUM to its path")
    unknown = set(arguments.cases) - set(CASES)
    if unknown:
        parser.error(f"a case must be one of {', '.join(CASES)}, but is {unknown.pop()}")

    with tempfile.TemporaryDirectory() as logs, sync_playwright() as playwright:
        servers = AppServers(Path(logs))
        try:
            base = servers.url(SCRIPT)
            browser = playwright.chromium.launch(executable_path=executable, args=BROWSER_ARGUMENTS)
            print(f"{'':<15}{'load':>10}{'cpu a step':>12}{'script, 95th':>16}{'release':>13}{'sent':>12}")
            for name in arguments.cases or CASES:
                print(measure(browser, base, name, arguments.steps).line(), flush=True)
            browser.close()
        finally:
            servers.stop()


def measure(browser: Browser, base: str, name: str, num_steps: int) -> Result:
    query = {"merges": 2000, "step": 1} | CASES[name]
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    start = time.perf_counter()
    page.goto(f"{base}/?{urlencode(query)}")
    page.wait_for_selector(".stage[data-step]")
    settled(page)
    load = time.perf_counter() - start

    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # CPU, not time: other programs do not count
    page.wait_for_timeout(500)  # what loading has left to do is no part of a step
    before = task_seconds(session)
    durations = page.locator(".stage").evaluate(RUN, num_steps)
    cpu = (task_seconds(session) - before) / num_steps * 1000
    page.wait_for_timeout(800)
    settled(page)

    releases = [release(page, received, part) for part in spread(NUM_RELEASES)]
    page.close()
    return Result(
        name=name,
        load=load,
        cpu=cpu,
        script=statistics.median(durations),
        script_95=sorted(durations)[int(0.95 * len(durations))],
        release=statistics.median(seconds * 1000 for seconds, _ in releases),
        sent_kb=statistics.median(num_bytes / 1000 for _, num_bytes in releases),
    )


def task_seconds(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def spread(count: int) -> list[float]:
    """Places on the slider, near and far in turn, so that each drag changes the step."""
    return [0.1 + 0.8 * ((3 * i) % count) / (count - 1) for i in range(count)]


def release(page: Page, received: list[int], part: float) -> tuple[float, int]:
    """Drag the slider to a place, let go, and wait for the server's answer: seconds, and bytes it sent."""
    box = page.locator(".slider").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * part, middle, steps=4)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    step = page.locator(".stage").get_attribute("data-step")
    num_received = len(received)
    start = time.perf_counter()
    page.mouse.up()
    # Not by text alone: that would search the text on the stage.
    page.locator('[data-testid="stText"]', has_text=f"step on the server: {step}").wait_for()
    seconds = time.perf_counter() - start
    settled(page)
    return seconds, sum(received[num_received:])


if __name__ == "__main__":
    main()
