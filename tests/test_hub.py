"""Fetching from the hub, played by a server on this machine: files, refusals, and no network at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import bpe.hub
from bpe import TrainSettings, train
from bpe.errors import BpeError, FormatError, SettingsError, UnavailableError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.hub import fetch_tokenizer_file

TRAINED = train("low lower lowest " * 5, TrainSettings(num_merges=9)).tokenizer
FILE = save_tokenizer(TRAINED, "tokenizer-json")["tokenizer.json"]
ANSWERS = {
    "/own/model": (200, FILE),
    "/own/gated": (401, b""),
    "/own/broken": (503, b""),
    "/own/large": (200, b"x" * 200),
}


class Hub(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = ANSWERS.get(self.path.removesuffix("/resolve/main/tokenizer.json"), (404, b""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_is_fetched_and_read(hub):
    tokenizer = load_tokenizer(fetch_tokenizer_file("own/model", hub=hub))
    assert tokenizer.encode("slow lower") == TRAINED.encode("slow lower")


@pytest.mark.parametrize(
    ("hub_id", "says"),
    [
        ("own/missing", "no tokenizer.json for own/missing"),
        ("own/gated", "logged in"),
        ("own/broken", "status 503"),
    ],
)
def test_refusals_are_sentences(hub, hub_id, says):
    with pytest.raises(UnavailableError, match=says) as caught:
        fetch_tokenizer_file(hub_id, hub=hub)
    assert "open it as a file" in str(caught.value)


def test_a_file_that_is_too_large_is_refused(hub, monkeypatch):
    monkeypatch.setattr(bpe.hub, "MOST_BYTES", 100)
    with pytest.raises(FormatError, match="at most 100 bytes"):
        fetch_tokenizer_file("own/large", hub=hub)


@pytest.mark.parametrize("hub_id", ["", "a/b/c", "../x", "a b", "http://x/y", "a/..", "ä/b", "x" * 200, "-a"])
def test_what_is_no_id_is_refused_before_anything_is_asked(hub_id):
    with pytest.raises(SettingsError, match="hub id must read like"):
        fetch_tokenizer_file(hub_id, hub="http://127.0.0.1:1")


def test_without_a_network_it_says_so():
    with pytest.raises(BpeError, match="cannot be reached from this machine"):
        fetch_tokenizer_file("own/model", hub="http://127.0.0.1:1")
