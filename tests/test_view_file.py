"""Views as files: packed, opened, bounded, and never trusted."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest

from bpe import TrainSettings
from bpe.errors import BpeError
from ui import view_file
from ui.view_file import SavedTraining, View, ViewError, check_size, pack_view, unpack_view

OLD_FILE = base64.b64decode(
    "YnBlIHZpZXcgMQp4nD2KQQ6DMAwE8xTL5564tV9BHIJqgkXkUNug0qp/J1SI065mhkMIX5xjInwAeplI+EN4A3wtpFuFbXthPXiavcGuq6/Ppbez"
    "oLcf8tzm/g9cIwtLqo0sOf+igY8EA6s5rKTGRcDiSk9g3wF5uixb"
)
"""A view as the first version saved it. It must open for ever."""

VIEWS = [
    View("tokenize"),
    View("train", [("merges", "20"), ("shown", "marks"), ("shown", "ids")], {"corpus-paste": "안녕 \ud7ff\n👩‍👩‍👧‍👦"}),
    View("languages", (), {}, {"parallel-upload": {"de.txt": b"\x00\xff", "ko.txt": b""}, "upload": {"a": b"x"}}),
    View(
        "compare",
        [("compare", "yours")],
        {"text": ""},
        {},
        SavedTraining("a corpus", {"low": 5, "est": 2}, TrainSettings(num_merges=7, base="chars", split="none"), 3),
    ),
]


def packed_by_hand(head: object, blobs: bytes = b"", *, length: int | None = None) -> bytes:
    packed_head = json.dumps(head).encode() if not isinstance(head, bytes) else head
    content = struct.pack("<I", len(packed_head) if length is None else length) + packed_head + blobs
    return b"bpe view 1\n" + zlib.compress(content)


def head(**changes: object) -> dict[str, object]:
    return {"page": "tokenize", "query": [], "blobs": [], "training": None} | changes


SETTINGS = {"base": "bytes", "num_merges": 5}
TRAINING = {"corpus": "mine", "step": 1, "settings": SETTINGS}
WORDS = json.dumps({"words": ["low"], "counts": [3]}).encode()


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_comes_back(view):
    again = unpack_view(pack_view(view))
    assert (again.page, list(again.query), again.texts, again.files) == (
        view.page,
        list(view.query),
        view.texts,
        view.files,
    )
    assert again.training == view.training
    if view.training is not None:
        assert again.training is not None
        assert list(again.training.words) == list(view.training.words)


def test_a_file_of_the_first_version_opens():
    view = unpack_view(OLD_FILE)
    assert (view.page, list(view.query), view.texts) == (
        "tokenize",
        [("tokenizer", "gpt2")],
        {"text": "as the first version saved it"},
    )


def test_a_file_made_by_hand_as_the_layout_says_opens():
    blobs = [["text", "text", 5], ["file", "upload", "a.txt", 2], ["words", len(WORDS)]]
    view = unpack_view(packed_by_hand(head(blobs=blobs, training=TRAINING), b"hello" + b"hi" + WORDS))
    assert view.texts == {"text": "hello"}
    assert view.files == {"upload": {"a.txt": b"hi"}}
    assert view.training == SavedTraining("mine", {"low": 3}, TrainSettings(num_merges=5), 1)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no view that was saved here"),
        (b"PK\x03\x04", "no view that was saved here"),
        (b"bpe view 2\nabc", "another version"),
        (b"bpe view 1", "cut or changed"),
        (b"bpe view 1\n", "cut or changed"),
        (b"bpe view 1\nno zlib", "cut or changed"),
        (pack_view(VIEWS[1])[:-3], "cut or changed"),
        (pack_view(VIEWS[1]) + b"more", "cut or changed"),
        (packed_by_hand(b"no JSON"), "cut or changed"),
        (packed_by_hand(b"[" * 100_000), "cut or changed"),
        (packed_by_hand([]), "cut or changed"),
        (packed_by_hand({}), "cut or changed"),
        (packed_by_hand(head(), length=2**32 - 1), "cut or changed"),
        (packed_by_hand(head(page=3)), "cut or changed"),
        (packed_by_hand(head(page="\ud800")), "cut or changed"),
        (packed_by_hand(head(query=[["a", "\ud800"]])), "cut or changed"),
        (packed_by_hand(head(blobs=[["file", "upload", "\ud800", 1]]), b"x"), "cut or changed"),
        (packed_by_hand(head(blobs=[["file", "upload", "n" * 201, 1]]), b"x"), "cut or changed"),
        (packed_by_hand(head(query=[["a"]])), "cut or changed"),
        (packed_by_hand(head(query=[["a", 1]])), "cut or changed"),
        (packed_by_hand(head(query=[["a", "b"]] * 1_000)), "cut or changed"),
        (packed_by_hand(head(blobs=[["text", "text", 5]]), b"four"), "cut or changed"),
        (packed_by_hand(head(blobs=[["text", "text", -1]]), b"four"), "cut or changed"),
        (packed_by_hand(head(blobs=[["text", "text", True]]), b"f"), "cut or changed"),
        (packed_by_hand(head(blobs=[["text", "text", 1]]), b"\xff"), "cut or changed"),
        (packed_by_hand(head(blobs=[["code", "text", 1]]), b"x"), "cut or changed"),
        (packed_by_hand(head(), b"left over"), "cut or changed"),
        (packed_by_hand(head(blobs=[["words", len(WORDS)]], training={**TRAINING, "step": -1}), WORDS), "cut or"),
        (packed_by_hand(head(blobs=[["words", 2]], training=TRAINING), b"{}"), "cut or changed"),
        (
            packed_by_hand(head(blobs=[["words", len(WORDS)]], training={**TRAINING, "settings": {"run": "x"}}), WORDS),
            "cut or changed",
        ),
        (
            packed_by_hand(
                head(blobs=[["words", len(WORDS)]], training={**TRAINING, "settings": {"num_merges": -5}}), WORDS
            ),
            "num_merges must be",
        ),
    ],
)
def test_a_damaged_or_hostile_file_is_refused(data, says):
    with pytest.raises(BpeError, match=says):
        unpack_view(data)


@pytest.mark.parametrize(
    "words",
    [
        {"words": ["low"], "counts": [0]},
        {"words": ["low"], "counts": [1.5]},
        {"words": [""], "counts": [1]},
        {"words": [3], "counts": [1]},
        {"words": ["\ud800"], "counts": [1]},
        {"words": ["a", "a"], "counts": [1, 1]},
        {"words": ["a"], "counts": []},
    ],
)
def test_a_table_of_words_that_is_none_is_refused(words):
    blob = json.dumps(words).encode()
    with pytest.raises(ViewError, match="cut or changed"):
        unpack_view(packed_by_hand(head(blobs=[["words", len(blob)]], training=TRAINING), blob))


def test_every_cut_of_a_file_is_refused():
    data = pack_view(VIEWS[3])
    for length in range(len(data)):
        with pytest.raises(ViewError):
            unpack_view(data[:length])


def test_a_file_that_unfolds_to_too_much_is_not_opened(monkeypatch):
    monkeypatch.setattr(view_file, "MOST_VIEW_BYTES", 100_000)
    with pytest.raises(ViewError, match="unfolds to more than 100,000 bytes"):
        unpack_view(packed_by_hand(head(), b"x" * 10_000_000))


def test_a_view_too_large_for_a_file_is_said_before_it_is_packed(monkeypatch):
    monkeypatch.setattr(view_file, "MOST_VIEW_BYTES", 2_000_000)
    view = View("tokenize", (), {}, {"upload": {"a.txt": b"x" * 2_000_000}})
    for step in (check_size, pack_view):
        with pytest.raises(ViewError, match="may hold 2,000,000 bytes"):
            step(view)
    check_size(View("tokenize", (), {"text": "short"}))


@pytest.mark.parametrize(
    ("view", "says"),
    [
        (View("languages", [("languages", "x")] * 201), "200 settings"),
        (View("languages", (), {}, {"parallel-upload": {f"{number}.txt": b"" for number in range(201)}}), "has 201"),
        (View("tokenize", (), {}, {"upload": {"n" * 201: b""}}), "200 characters"),
        (View("tokenize", [("find", "\x00" * 100_000)]), "more settings"),
    ],
)
def test_what_would_not_open_again_is_not_saved(view, says):
    for step in (check_size, pack_view):
        with pytest.raises(ViewError, match=says):
            step(view)


def test_what_is_just_within_the_limits_comes_back():
    files = {"parallel-upload": {f"{number:0200}": b"x" for number in range(200)}}
    view = View("languages", [("languages", "x")] * 200, {}, files)
    check_size(view)
    assert unpack_view(pack_view(view)).files == files
