"""A real server and what strangers send it: large, broken and hostile input; and nobody meets another one's text."""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from broken_links import ADDRESSES, HOSTILE, broken_links
from served import Server
from visitor import Upload, Visitor, query_of

from ui import state
from ui.limits import LIMITS
from ui.links import pack_text, pack_texts

Result = TypeVar("Result")

ASKED = "addresses.txt"
NOTE_ADDRESSES = """
import os, sys

def note(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        said = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        said = arguments[0]
    else:
        return
    with open(os.environ["ADDRESSES_ASKED"], "a") as file:
        file.write(f"{said}\\n")

sys.addaudithook(note)
import socket
socket.getaddrinfo("127.0.0.1", 1)  # so that the file shows that the hook is there
"""

HOSTILE_NAME = "<img src=x onerror=alert(1)>.txt"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "tmp").mkdir()
    (folder / "sitecustomize.py").write_text(NOTE_ADDRESSES)
    environment = {"TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(folder), "ADDRESSES_ASKED": str(folder / ASKED)}
    with Server(folder / "server.log", environment=environment) as server:
        yield server


def in_a_thread(visit: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a loop and a thread of its own: Playwright leaves one running where it was used before."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, visit).result()


def visiting(server: Server, visit: Callable[[Visitor], Awaitable[Any]]) -> Any:
    """Let one visitor in, and see that nothing failed on the way."""

    async def run() -> Any:
        async with Visitor(server.url) as visitor:
            result = await visit(visitor)
            assert visitor.problems == [], server.log.read_text(errors="replace")[-3_000:]
            return result

    return in_a_thread(run())


async def opened(visitor: Visitor, link: str) -> None:
    await visitor.open(link)
    await visitor.settle()


# ---------------------------------------------------------------------------------------------- large


def test_a_million_characters_are_answered(server):
    text = "a large text, " * 70_000 + "its end"

    async def visit(visitor: Visitor) -> None:
        await opened(visitor, "")
        await visitor.act({state.TEXT_AREA: text})
        await visitor.settle()
        assert f"{len(text):,} characters" in visitor.words()
        assert "joined token bytes equal the text: **yes**" in visitor.words()
        await visitor.act({state.TEXT_AREA: "small again"})
        await visitor.settle()
        assert visitor.stage_text(state.TOKENIZE_STAGE) == "small again"

    visiting(server, visit)


def test_a_link_that_unfolds_to_much_is_not_unfolded(server):
    bomb = base64.urlsafe_b64encode(zlib.compress(bytes(30_000_000), 9)).decode().rstrip("=")
    before = server.resident_bytes()

    async def visit(visitor: Visitor) -> list[str]:
        await opened(visitor, "?" + query_of({state.TEXT: f"1{bomb}"}))
        return visitor.alerts()

    assert any("unfolds to more than" in alert for alert in visiting(server, visit))
    # Under 30 MB: some of it is what any first visit costs.
    assert server.resident_bytes() - before < 200e6


def test_a_file_above_the_limit_is_refused_before_it_is_read(server):
    content = bytes((LIMITS.tokenizer_mb + 2) << 20)
    before = server.resident_bytes()

    async def visit(visitor: Visitor) -> Upload:
        await opened(visitor, "")
        return await visitor.upload(state.UPLOAD, "large.txt", content)

    assert visiting(server, visit).status == 413
    assert server.resident_bytes() - before < len(content)


def test_a_text_above_its_own_limit_ends_in_a_sentence(server):
    async def visit(visitor: Visitor) -> list[str]:
        await opened(visitor, "")
        done = await visitor.upload(state.UPLOAD, "large.txt", b"many words " * 100_000 * (LIMITS.upload_mb + 1))
        assert done.status < 300
        await visitor.settle()
        return visitor.alerts()

    (alert,) = visiting(server, visit)
    assert alert.replace("\\", "").startswith("large.txt must have at most")
    assert f"{LIMITS.upload_mb * 10**6:,} bytes" in alert


# ---------------------------------------------------------------------------------------------- at once


def test_the_first_visitors_of_a_server_may_all_come_at_once(tmp_path):
    """Modules are imported while others draw: each page must find them whole."""

    async def visit(url: str, address: str) -> list[str]:
        async with Visitor(url) as visitor:
            await opened(visitor, address)
            return visitor.problems

    async def visit_all(url: str) -> list[list[str]]:
        return await asyncio.gather(*(visit(url, address) for address in ADDRESSES))

    with Server(tmp_path / "server.log") as server:
        assert in_a_thread(visit_all(server.url)) == [[] for _ in ADDRESSES]


def test_two_texts_in_a_hurry_the_last_one_counts(server):
    async def visit(visitor: Visitor) -> None:
        await opened(visitor, "")
        for number in range(5):
            await visitor.hurry({state.TEXT_AREA: f"the first of {number}"})
        await visitor.act({state.TEXT_AREA: "the last of all"})
        await visitor.settle()
        assert visitor.stage_text(state.TOKENIZE_STAGE) == "the last of all"

    visiting(server, visit)


def test_the_server_asks_nobody_while_all_pages_are_used(server):
    async def visit(visitor: Visitor) -> None:
        for address in ADDRESSES:
            await opened(visitor, address)

    visiting(server, visit)
    assert (server.log.parent / ASKED).read_text() == "127.0.0.1\n"  # what the hook itself asked


# ---------------------------------------------------------------------------------------------- slow


@pytest.mark.parametrize(
    ("link", "key"),
    [
        (f"?{state.TEXT}={pack_text('a text of a link')}", state.TEXT_AREA),
        ("Compare", state.TEXT_AREA),
        ("Train?source=paste", state.CORPUS_PASTE),
        ("Train?source=word+counts&table=lowest", f"{state.WORD_COUNTS}-lowest"),
        ("Quirks?quirk=White+space", state.CODE),
        ("Algorithms?algorithm=Compression", state.GAGE_TEXT),
        ("Algorithms?algorithm=Textbook+bench&table=lowest&at=3", f"{state.WORD_COUNTS}-lowest"),
        ("Algorithms?algorithm=Textbook+bench&table=lowest&at=3", state.BENCH_SLIDER),
    ],
)
def test_a_box_that_is_drawn_late_still_shows_what_it_holds(server, link, key):
    """On a slow line the scripts of boxes come after the runs that a progress bar, or a stage, has asked for."""

    async def visit(visitor: Visitor) -> None:
        visitor.has_boxes = False
        await visitor.open(link)
        held = visitor.shown(key)
        assert held not in ("", [0])
        await visitor.settle()
        await visitor.run_again()
        assert visitor.shown(key) == held
        visitor.has_boxes = True
        await visitor.run_again()
        await visitor.run_again()  # now the browser tells what its boxes show
        assert visitor.shown(key) == held

    visiting(server, visit)


@pytest.mark.parametrize(
    ("link", "pressed", "value", "key"),
    [
        ("", "example-Code", True, state.TEXT_AREA),
        ("Compare", "example-Digits", True, state.TEXT_AREA),
        ("Compare", state.LINK_FRAGMENT, {"texts": pack_texts({state.TEXT_AREA: "behind the #"})}, state.TEXT_AREA),
        ("Languages", "languages-The usual chart", True, state.MEASURE),
        ("Vocabulary?tokenizer=r50k_base", "search-four digits", True, state.SEARCH),
        ("Quirks?quirk=Spelling", "example-word-Mississippi", True, state.WORD),
    ],
)
def test_a_message_that_crosses_with_the_answer_undoes_nothing(server, link, pressed, value, key):
    """A progress bar's clock sends all that boxes hold, on a slow line before the browser knows what was put there."""

    async def visit(visitor: Visitor) -> None:
        await opened(visitor, link)
        before, late = visitor.shown(key), visitor.message()
        await visitor.act({pressed: value})
        put = visitor.shown(key)
        assert put != before
        await visitor.send(late)
        await visitor.settle()
        assert visitor.shown(key) == put

    visiting(server, visit)


# ---------------------------------------------------------------------------------------------- broken


def test_a_hundred_broken_links_show_a_page_each(server):
    async def visit() -> None:
        for link in broken_links():
            async with Visitor(server.url) as visitor:
                await visitor.open(link)
                assert visitor.problems == [], link
                assert "Your tokenizer" in visitor.words() or "progress" in visitor.kinds(), link

    in_a_thread(visit())
    assert "Traceback" not in server.log.read_text(errors="replace")


# ---------------------------------------------------------------------------------------------- hostile


def markup_in(visitor: Visitor) -> list[str]:
    """What the page would show as markup although somebody typed it."""
    found = [element.body for element in visitor.elements("html") if "onerror" in element.body]
    found += [
        element.body for element in visitor.elements("markdown") if element.allow_html and "onerror" in element.body
    ]
    return found


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_typed_into_any_field_is_never_markup(server, address):
    async def visit(visitor: Visitor) -> int:
        await opened(visitor, address)
        fields = {*visitor.keys_of("text_area"), *visitor.keys_of("text_input")}
        for key in sorted(fields & visitor.widget_keys()):
            if key in visitor.widget_keys():
                await visitor.act({key: HOSTILE})
                await visitor.settle()
                assert markup_in(visitor) == [], key
        return len(fields)

    visiting(server, visit)


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ("", state.UPLOAD),
        ("", state.TOKENIZER_UPLOAD),
        ("Train?source=upload", state.CORPUS_UPLOAD),
        ("Languages?" + query_of({state.PARALLEL: "your own"}), state.PARALLEL_UPLOAD),
    ],
)
def test_the_name_of_a_file_is_never_markup(server, link, key):
    async def visit(visitor: Visitor) -> str:
        await opened(visitor, link)
        done = await visitor.upload(key, HOSTILE_NAME, b"eins\tone\nzwei\ttwo\n")
        assert done.status < 300
        await visitor.settle()
        assert markup_in(visitor) == []

    visiting(server, visit)


# ---------------------------------------------------------------------------------------------- private

SECRET = "zanzibar-heliotrope"


def test_no_text_reaches_another_visitor_the_log_or_the_disk(server):
    """One visitor types and uploads on every page; another looks at every page meanwhile and afterwards."""
    seen: list[bytes] = []

    async def look(other: Visitor) -> None:
        for address in ADDRESSES:
            await opened(other, address)

    async def visit() -> None:
        async with Visitor(server.url) as owner, Visitor(server.url, on_frame=seen.append) as other:
            await opened(owner, "")
            await owner.act({state.TEXT_AREA: f"My {SECRET} in a text."})
            await owner.upload(state.UPLOAD, f"{SECRET}.txt", f"{SECRET} ".encode() * 200_000)
            await owner.settle()
            await opened(owner, "Train?source=paste")
            await owner.act({state.CORPUS_PASTE: f"{SECRET} " * 50})
            await owner.settle()
            assert SECRET in owner.stage_text(state.TRAIN_STAGE)
            await look(other)
            assert on_disk() == []
        async with Visitor(server.url, on_frame=seen.append) as other:
            await look(other)
        assert seen
        assert [frame[:80] for frame in seen if SECRET.encode() in frame] == []

    def on_disk() -> list[Path]:
        folder = server.log.parent
        return [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]

    in_a_thread(visit())
    assert on_disk() == []
