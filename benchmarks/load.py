"""Fifty visitors at once: `python benchmarks/load.py [--sessions N] [--seconds N] [--kill]`, all on this machine.

Each visitor opens a link, then goes on with what a reader does until the time is over: pastes a text of their own
(two in a hurry, now and then), moves the step, trains on a sample, moves that step, compares. Between two
actions they look at the page for `--pause` seconds on average. They speak Streamlit's protocol over WebSockets
(tests/visitor.py), in one process beside the server.

First one visitor alone, then all: the first table row is what the others are held to.

rerun     from the message to the end of the script, whatever the reader or the page's own clock asked for
answer    from an action until the page is whole: with work in the background, and the reruns that look for it
lost      actions after which the page showed another text or step than the one that was sent last
errors    tracebacks, error boxes, broken connections
memory    resident size of the server before, at most, and after everybody has left and ten seconds have passed

`--kill` kills the server in the middle and starts it again: visitors come back as their browsers would, and links
that were copied before open. `--faults` sends large and broken input and looks at the memory afterwards. `--url`
visits a server that runs already, behind a proxy for example; its memory is not read then.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import random
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from broken_links import broken_links  # noqa: E402
from served import Server  # noqa: E402
from visitor import Gone, Rerun, Visitor, query_of  # noqa: E402

from benchmarks.machine import machine_line  # noqa: E402
from bpe.samples import load_sample  # noqa: E402
from ui import state  # noqa: E402
from ui.links import pack_text  # noqa: E402

CORPORA = ("udhr-eng", "udhr-deu", "udhr-fra", "udhr-spa", "udhr-rus", "kjv-genesis", "emoji-chat", "python-source")
TOKENIZERS = ("gpt2", "cl100k_base", "o200k_base", "llama3")
REST_SECONDS = 10.0
ERROR_FORMAT = 1  # of streamlit.proto.Alert: an error box


@dataclass
class Day:
    """What one visitor did and saw.

    answers    seconds from each action until the page was whole
    lost       actions whose text or step was not shown
    errors     what went wrong
    """

    visitor: Visitor
    answers: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    link: str = ""
    text: str = ""


class Reader:
    """Acts like a reader, at random but the same for the same number."""

    def __init__(self, url: str, number: int, pause: float) -> None:
        self.random = random.Random(number)
        self.number = number
        self.pause = pause
        self.day = Day(Visitor(url))
        self.source = load_sample(self.random.choice(CORPORA))
        self.count = 0

    async def run(self, until: float) -> Day:
        """Visit until the time is over; whatever happens is in the day."""
        visitor = self.day.visitor
        try:
            await asyncio.sleep(self.random.uniform(0, self.pause))
            await self.open()
            visits = [(self.paste, self.scrub), (self.train, self.scrub_training), (self.compare,), (self.hurry,)]
            while time.monotonic() < until:
                self.random.shuffle(visits)
                for action in (action for visit in visits for action in visit):
                    await self.rest()
                    if time.monotonic() >= until:
                        break
                    await self.timed(action)
        except (Gone, OSError, KeyError) as error:
            self.day.errors.append(f"{type(error).__name__}: {error}")
        finally:
            self.day.errors += visitor.problems
            with suppress(Exception):
                await visitor.close()
        return self.day

    async def rest(self) -> None:
        await asyncio.sleep(self.random.uniform(0.4, 1.6) * self.pause)

    async def timed(self, action: Callable[[], Awaitable[None]]) -> None:
        start = time.monotonic()
        await action()
        self.day.answers.append(time.monotonic() - start)
        errors = [alert.body for alert in self.day.visitor.elements("alert") if alert.format == ERROR_FORMAT]
        self.day.errors += errors

    # ------------------------------------------------------------------------------------------ actions

    def new_text(self) -> str:
        """A text that nobody else has, from a line to a page."""
        self.count += 1
        size = self.random.choice((80, 400, 2_000, 8_000))
        start = self.random.randrange(max(1, len(self.source) - size))
        return f"Visitor {self.number}, text {self.count}. {self.source[start : start + size].strip()}"

    async def open(self) -> None:
        """Open a link that brings a text, as from a lecture."""
        text = self.new_text()[:1_500]
        self.day.link = "?" + query_of({state.TOKENIZER: self.random.choice(TOKENIZERS), state.TEXT: pack_text(text)})
        self.day.text = text
        start = time.monotonic()
        await self.day.visitor.open(self.day.link)
        await self.day.visitor.settle()
        self.day.answers.append(time.monotonic() - start)
        self.check("open", state.TOKENIZE_STAGE, text)

    async def paste(self) -> None:
        visitor = self.day.visitor
        if state.TOKENIZE_STAGE not in visitor.widget_keys():
            await visitor.go_to("", query_of({state.TOKENIZER: self.random.choice(TOKENIZERS)}))
            await visitor.settle()
        text = self.new_text()
        await visitor.act({state.TEXT_AREA: text}, "paste")
        await visitor.settle()
        self.day.text = text
        self.check("paste", state.TOKENIZE_STAGE, text)

    async def hurry(self) -> None:
        """Paste, and before the page has answered paste something else: the second counts."""
        visitor = self.day.visitor
        await visitor.go_to("", query_of({state.TOKENIZER: self.random.choice(TOKENIZERS)}))
        await visitor.settle()
        await visitor.hurry({state.TEXT_AREA: self.new_text()})
        await asyncio.sleep(self.random.uniform(0, 0.2))
        text = self.new_text()
        await visitor.act({state.TEXT_AREA: text}, "hurry")
        await visitor.settle()
        self.day.text = text
        if visitor.stage_text(state.TOKENIZE_STAGE) != text:
            await asyncio.sleep(3)  # what ended may have been the first of the two
        self.check("hurry", state.TOKENIZE_STAGE, text)

    async def scrub(self) -> None:
        await self.move(state.TOKENIZE_STAGE)

    async def train(self) -> None:
        """Go to Train and choose a sample and a number of merges there."""
        visitor = self.day.visitor
        await visitor.go_to("Train")
        await visitor.settle()
        num_merges = self.random.randrange(200, 2_000, 10)
        corpus = self.random.choice(CORPORA)
        await visitor.act({state.CORPUS: corpus, state.NUM_MERGES: float(num_merges)}, "train")
        await visitor.settle()
        head = visitor.head(state.TRAIN_STAGE)
        if not (0 < head["num_merges"] <= num_merges):
            self.day.lost.append(f"train: {head['num_merges']} merges of {num_merges}")
        self.check("train", state.TRAIN_STAGE, load_sample(corpus))

    async def scrub_training(self) -> None:
        await self.move(state.TRAIN_STAGE)

    async def move(self, stage: str) -> None:
        """Let go of a stage's slider somewhere."""
        visitor = self.day.visitor
        head = visitor.head(stage)
        step = self.random.randrange(head["num_merges"])
        report = {"step": {"of": head["id"], "turn": head["turn"], "value": step}}
        await visitor.act({stage: report}, "scrub")
        await visitor.settle()
        if f"step={step}" not in visitor.query.split("&"):
            self.day.lost.append(f"scrub: step {step} is not in {visitor.query[:80]!r}")

    async def compare(self) -> None:
        visitor = self.day.visitor
        await visitor.go_to("Compare")
        await visitor.settle()
        text = self.new_text()
        await visitor.act({state.TEXT_AREA: text}, "compare")
        await visitor.settle()
        self.check("compare", state.COMPARE_ROWS, text, section="text")

    def check(self, action: str, stage: str, text: str, section: str = "text0") -> None:
        shown = self.day.visitor.stage_text(stage, section)
        if shown != text[: len(shown)] or not shown:
            self.day.lost.append(f"{action}: {shown[:40]!r} is shown instead of {text[:40]!r}")


# ---------------------------------------------------------------------------------------------- measuring


@dataclass
class Figures:
    """The figures of one run."""

    name: str
    num_sessions: int
    reruns: list[Rerun]
    answers: list[float]
    lost: list[str]
    errors: list[str]
    memory: tuple[float, float, float]
    server_cores: float
    own_cores: float

    def row(self) -> str:
        seconds = sorted(rerun.seconds for rerun in self.reruns)
        answers = sorted(self.answers)
        before, most, after = (f"{megabytes:.0f}" for megabytes in self.memory)
        cells = [
            self.name,
            f"{len(seconds):,}",
            f"{len(self.errors)}",
            f"{len(self.lost)}",
            f"{statistics.median(seconds):.2f} s",
            f"{part(seconds, 0.95):.2f} s",
            f"{statistics.median(answers):.2f} s",
            f"{part(answers, 0.95):.2f} s",
            f"{before} / {most} / {after} MB",
            f"{self.server_cores:.2f}",
            f"{self.own_cores:.2f}",
        ]
        return f"| {' | '.join(cells)} |"


HEAD = (
    "| visitors | reruns | errors | lost | rerun, median | 95 % | answer, median | 95 % | server's memory | "
    "its cores | ours |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def part(values: Sequence[float], share: float) -> float:
    """Return the value below which so many are; values are sorted."""
    return values[min(int(share * len(values)), len(values) - 1)]


class Meter:
    """Looks at the server twice a second."""

    def __init__(self, server: Server | None) -> None:
        self._server = server
        self.most = 0
        self.before = self._resident()
        self._cpu = server.cpu_seconds() if server else 0.0
        self._own = time.process_time()
        self._start = time.monotonic()
        self._task = asyncio.create_task(self._watch())

    def _resident(self) -> int:
        return self._server.resident_bytes() if self._server else 0

    async def _watch(self) -> None:
        while True:
            self.most = max(self.most, self._resident())
            await asyncio.sleep(0.5)

    def cores(self) -> tuple[float, float]:
        """Return the cores that the server and this process have used on average."""
        seconds = time.monotonic() - self._start
        server = (self._server.cpu_seconds() - self._cpu) / seconds if self._server else 0.0
        return server, (time.process_time() - self._own) / seconds

    def stop(self) -> tuple[float, float, float]:
        """Return the memory before, at most and now, in MB."""
        self._task.cancel()
        return self.before / 1e6, self.most / 1e6, self._resident() / 1e6


async def visit(name: str, url: str, server: Server | None, num: int, seconds: float, pause: float) -> Figures:
    """Let so many visitors in for so long, and wait until they have gone and the server has come to rest."""
    meter = Meter(server)
    until = time.monotonic() + seconds
    days = await asyncio.gather(*(Reader(url, 1_000 * num + number, pause).run(until) for number in range(num)))
    cores = meter.cores()
    await asyncio.sleep(REST_SECONDS)
    return Figures(
        name=name,
        num_sessions=num,
        reruns=[rerun for day in days for rerun in day.visitor.reruns],
        answers=[answer for day in days for answer in day.answers],
        lost=[lost for day in days for lost in day.lost],
        errors=[error for day in days for error in day.errors],
        memory=meter.stop(),
        server_cores=cores[0],
        own_cores=cores[1],
    )


def say(figures: Figures) -> None:
    """Print a run's row, and what went wrong in it."""
    print(figures.row(), flush=True)
    for kind, entries in (("error", figures.errors), ("lost", figures.lost)):
        for entry in entries[:10]:
            print(f"  {kind}: {entry}", file=sys.stderr)


def slowest(figures: Figures) -> str:
    """Return the reruns by what asked for them."""
    kinds: dict[str, list[float]] = {}
    for rerun in figures.reruns:
        kinds.setdefault(rerun.what, []).append(rerun.seconds)
    lines = []
    for what, seconds in sorted(kinds.items()):
        slow = part(sorted(seconds), 0.95)
        lines.append(f"{what:<14}{len(seconds):>6}  median {statistics.median(seconds):.2f} s  95 % {slow:.2f} s")
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------- a killed server


async def survive(server: Server, num: int) -> None:
    """Kill the server under its visitors, start it again, and see what they have when they come back."""
    readers = [Reader(server.url, number, 1.0) for number in range(num)]
    await asyncio.gather(*(reader.open() for reader in readers))
    await asyncio.gather(*(reader.paste() for reader in readers))
    texts = [reader.day.text for reader in readers]
    links = [f"?{reader.day.visitor.query}" for reader in readers]
    server.kill()
    start = time.monotonic()
    await asyncio.to_thread(server.start)
    print(f"killed with {num} visitors; it answers again after {time.monotonic() - start:.1f} s", flush=True)

    start = time.monotonic()
    kept = await asyncio.gather(*(_comes_back(reader, text) for reader, text in zip(readers, texts, strict=True)))
    seconds = time.monotonic() - start
    print(f"open tabs that are back with their text: {sum(kept)} of {num}, after {seconds:.1f} s", flush=True)

    opened = [await _opens(server.url, link, text) for link, text in zip(links, texts, strict=True)]
    with_text = [ok for ok, link in zip(opened, links, strict=True) if f"{state.TEXT}=" in link]
    print(f"links that hold their text and show it again: {sum(with_text)} of {len(with_text)}", flush=True)


async def _comes_back(reader: Reader, text: str) -> bool:
    visitor = reader.day.visitor
    await visitor.come_back()
    await visitor.settle()
    shown = visitor.stage_text(state.TOKENIZE_STAGE)
    await visitor.close()
    return shown == text and not visitor.problems


async def _opens(url: str, link: str, text: str) -> bool:
    async with Visitor(url) as visitor:
        await visitor.open(link)
        await visitor.settle()
        return visitor.stage_text(state.TOKENIZE_STAGE) == text and not visitor.problems


# ---------------------------------------------------------------------------------------------- bad input


async def withstand(server: Server) -> None:
    """Send what nobody should send, again and again, and see what stays in the server's memory."""
    async with Visitor(server.url) as visitor:
        await visitor.open()
        await visitor.settle()
    source = load_sample("kjv")
    print("| sent | answered | memory before | at most | after |\n|---|---|---|---|---|", flush=True)
    await _send(server, "12 texts of a million characters", [_paste(server, source[n:][: 10**6]) for n in range(12)])
    bomb = base64.urlsafe_b64encode(zlib.compress(bytes(40_000_000), 9)).decode().rstrip("=")
    link = "?" + query_of({state.TEXT: f"1{bomb}"})
    await _send(
        server, "20 links that unfold to 40 MB", [_open(server, link, "unfolds to more than") for _ in range(20)]
    )
    await _send(server, "4 uploads of 200 MB", [_upload(server, bytes(200 << 20)) for _ in range(4)])
    await _send(server, "100 broken links", [_open(server, link) for link in broken_links()])


async def _send(server: Server, name: str, visits: Sequence[Coroutine[Any, Any, bool]]) -> None:
    """Let visitors in four at a time."""
    meter = Meter(server)
    places = asyncio.Semaphore(4)

    async def take_place(visit: Coroutine[Any, Any, bool]) -> bool:
        async with places:
            return await visit

    answers = await asyncio.gather(*map(take_place, visits))
    await asyncio.sleep(REST_SECONDS)
    before, most, after = meter.stop()
    print(
        f"| {name} | {sum(answers)} of {len(answers)} | {before:.0f} MB | {most:.0f} MB | {after:.0f} MB |", flush=True
    )


async def _paste(server: Server, text: str) -> bool:
    async with Visitor(server.url) as visitor:
        await visitor.open()
        await visitor.act({state.TEXT_AREA: text})
        await visitor.settle()
        return f"{len(text):,} characters" in visitor.words() and not visitor.problems


async def _open(server: Server, link: str, words: str = "") -> bool:
    async with Visitor(server.url) as visitor:
        await visitor.open(link)
        is_answered = words in "".join(visitor.alerts()) and not visitor.problems
        if not is_answered:
            print(f"  not answered: {link[:300]}: {visitor.problems} {visitor.alerts()}", file=sys.stderr)
        return is_answered


async def _upload(server: Server, content: bytes) -> bool:
    """Whether the upload is refused, and the page goes on."""
    async with Visitor(server.url) as visitor:
        await visitor.open()
        done = await visitor.upload(state.UPLOAD, "large.txt", content)
        await visitor.act({state.TEXT_AREA: "still here"})
        await visitor.settle()
        return done.status == 413 and visitor.stage_text(state.TOKENIZE_STAGE) == "still here"


# ---------------------------------------------------------------------------------------------- main


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=50, help="visitors at once (default 50)")
    parser.add_argument("--seconds", type=float, default=120, help="how long they stay (default 120)")
    parser.add_argument("--alone", type=float, default=40, help="seconds of the visitor who is alone (default 40)")
    parser.add_argument("--pause", type=float, default=6, help="seconds between two actions, on average (default 6)")
    parser.add_argument("--kill", action="store_true", help="kill the server in the middle instead")
    parser.add_argument("--faults", action="store_true", help="send large and broken input instead")
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--log", type=Path, help="keep what the server prints in this file")
    parser.add_argument("--by-action", action="store_true", help="also print the reruns by what asked for them")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        server = None if arguments.url else Server(arguments.log or Path(folder) / "server.log")
        try:
            if server is not None:
                server.start()
            url = arguments.url or (server.url if server else "")
            if arguments.kill and server is not None:
                await survive(server, arguments.sessions)
                return
            if arguments.faults and server is not None:
                await withstand(server)
                return
            print(f"{machine_line()}; one action every {arguments.pause:g} s a visitor\n\n{HEAD}", flush=True)
            for name, num, seconds in (
                ("1", 1, arguments.alone),
                (f"{arguments.sessions}", arguments.sessions, arguments.seconds),
            ):
                pause = min(arguments.pause, 1.0) if num == 1 else arguments.pause
                figures = await visit(name, url, server, num, seconds, pause)
                say(figures)
                if arguments.by_action:
                    print(slowest(figures), flush=True)
            if server is not None and "Traceback" in server.log.read_text(errors="replace"):
                print("the server's log holds a traceback:", server.log.read_text()[-3_000:], file=sys.stderr)
        finally:
            if server is not None:
                server.stop()


if __name__ == "__main__":
    asyncio.run(main())
