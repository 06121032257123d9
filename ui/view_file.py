"""A view as a file, for what no link can carry: long texts, files that the reader opened, a tokenizer trained here.

Plain data in, bytes out, and back. A file is written by anybody, so reading trusts nothing: not the version, not the
sizes it names, above all not the size that it unfolds to; and nothing in it is run. Neighbour: links.py.

Layout: the line `bpe view 1` | zlib of: u32 length of the head | the head, JSON | blobs, one after the other.

head
    page        name of the page
    query       names and values of the address, as pairs
    blobs       what each blob is: ["text", key, size], ["file", key, name, size] or ["words", size]
    training    how the words were trained: settings, the corpus' title, the step; or null
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bpe import TrainSettings
from bpe.errors import BpeError

__all__ = ["MOST_VIEW_BYTES", "SavedTraining", "View", "ViewError", "check_size", "pack_view", "unpack_view"]

MOST_VIEW_BYTES = 64_000_000
"""Bytes that a file may hold when it is unfolded."""

_MAGIC = b"bpe view "
_VERSION = b"1"
_MOST_HEAD_BYTES = 1_000_000
_MOST_NAMES = 200
_LONGEST_NAME = 200


class ViewError(BpeError, ValueError):
    """A file holds no view that can be opened here."""


@dataclass(frozen=True)
class SavedTraining:
    """What a tokenizer was trained from: enough to train it again.

    words    pre-tokens with their counts, in corpus order;   step   where its reader looks
    """

    corpus: str
    words: Mapping[str, int]
    settings: TrainSettings
    step: int


@dataclass(frozen=True)
class View:
    """What a reader sees: a page, what its address holds, and what its address cannot hold.

    texts   key of a text area -> text;   files   key of an upload -> name -> content
    """

    page: str
    query: Sequence[tuple[str, str]] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    training: SavedTraining | None = None


def pack_view(view: View) -> bytes:
    """Return a view as a file.

    >>> unpack_view(pack_view(View("train", [("merges", "20")], {"corpus-paste": "low lower"}))).texts
    {'corpus-paste': 'low lower'}

    Raises:
        ViewError: it holds more than a file may.
    """
    kinds: list[list[Any]] = []
    blobs: list[bytes] = []

    def add(content: bytes, *kind: str) -> None:
        kinds.append([*kind, len(content)])
        blobs.append(content)

    for key, text in view.texts.items():
        add(text.encode(), "text", key)
    for key, files in view.files.items():
        for name, content in files.items():
            add(content, "file", key, name)
    training = view.training
    if training is not None:
        add(_json({"words": list(training.words), "counts": list(training.words.values())}), "words")
    head: dict[str, Any] = {"page": view.page, "query": [list(pair) for pair in view.query], "blobs": kinds}
    head["training"] = training and {
        "corpus": training.corpus,
        "step": training.step,
        "settings": asdict(training.settings),
    }
    _check_names(view)
    packed_head = _json(head)
    _check_bytes(4 + len(packed_head) + sum(map(len, blobs)))
    packer = zlib.compressobj(6)
    parts = [packer.compress(part) for part in (struct.pack("<I", len(packed_head)), packed_head, *blobs)]
    return b"".join([_MAGIC, _VERSION, b"\n", *parts, packer.flush()])


def check_size(view: View) -> None:
    """Check that a view fits into a file, without packing it.

    Raises:
        ViewError: it holds more than a file may.
    """
    _check_names(view)
    num_bytes = sum(len(text.encode()) for text in view.texts.values())
    num_bytes += sum(len(content) for files in view.files.values() for content in files.values())
    if view.training is not None:
        num_bytes += sum(len(word.encode()) + 16 for word in view.training.words)
    _check_bytes(num_bytes + _MOST_HEAD_BYTES)


def _check_names(view: View) -> None:
    """Check what reading checks too, so that whatever is saved also opens."""
    names = [name for files in view.files.values() for name in files]
    num_blobs = len(view.texts) + len(names) + (view.training is not None)
    if max(num_blobs, len(view.query)) > _MOST_NAMES:
        raise ViewError(
            f"a view as a file may hold {_MOST_NAMES} files and texts and {_MOST_NAMES} settings, but this one has "
            f"{num_blobs:,} and {len(view.query):,}: open fewer files, or choose less"
        )
    longest = max(names, key=len, default="")
    if len(longest) > _LONGEST_NAME:
        raise ViewError(
            f"the name of a file in a view may have {_LONGEST_NAME} characters, but {longest[:40]!r}... has "
            f"{len(longest):,}: give it a shorter name and open it again"
        )
    title = "" if view.training is None else view.training.corpus
    if len(_json([list(view.query), names, title])) > _MOST_HEAD_BYTES // 2:
        raise ViewError("this view has more settings than a file may hold: choose less")


def _check_bytes(num_bytes: int) -> None:
    if num_bytes > MOST_VIEW_BYTES:
        raise ViewError(
            f"a view as a file may hold {MOST_VIEW_BYTES:,} bytes, but this one has {num_bytes:,}: open smaller files"
        )


def unpack_view(data: bytes) -> View:
    """Return the view of a file, from this version and every one before.

    Raises:
        ViewError: the file is no view, was cut or changed, was made by a newer version, or unfolds to too much.
    """
    line = data[:32].partition(b"\n")[0]
    if not line.startswith(_MAGIC):
        raise ViewError("this file is no view that was saved here")
    if line != _MAGIC + _VERSION:
        raise ViewError("this view was saved by another version of this app and cannot be opened here")
    content = _unfold(data[len(line) + 1 :])
    try:
        head, rest = _take_head(content)
        return _read(head, rest)
    except (ValueError, KeyError, TypeError, IndexError, struct.error, RecursionError, OverflowError) as error:
        if isinstance(error, BpeError):
            raise
        raise _damaged() from None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _damaged() -> ViewError:
    return ViewError("this view was cut or changed on its way here and cannot be opened")


def _unfold(packed: bytes) -> memoryview:
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(packed, MOST_VIEW_BYTES)
    except zlib.error:
        raise _damaged() from None
    if unpacker.unconsumed_tail:
        raise ViewError(f"this view unfolds to more than {MOST_VIEW_BYTES:,} bytes and was not opened")
    if not unpacker.eof or unpacker.unused_data:
        raise _damaged()
    return memoryview(content)


def _take_head(content: memoryview) -> tuple[dict[str, Any], memoryview]:
    (length,) = struct.unpack_from("<I", content)
    if length > min(_MOST_HEAD_BYTES, len(content) - 4):
        raise _damaged()
    head = json.loads(bytes(content[4 : 4 + length]))
    _json(head)  # half a surrogate pair, which JSON can hold, fails here and not on a page
    if not isinstance(head, dict):
        raise _damaged()
    return head, content[4 + length :]


def _read(head: Mapping[str, Any], rest: memoryview) -> View:
    texts: dict[str, str] = {}
    files: dict[str, dict[str, bytes]] = {}
    words: dict[str, int] | None = None
    at = 0
    for *kind, size in _some(head["blobs"]):
        end = at + _number(size)
        if end > len(rest):
            raise _damaged()
        content = bytes(rest[at:end])
        at = end
        match kind:
            case ["text", str(key)]:
                texts[key] = content.decode()
            case ["file", str(key), str(name)] if len(name) <= _LONGEST_NAME:
                files.setdefault(key, {})[name] = content
            case ["words"]:
                words = _read_words(content)
            case _:
                raise _damaged()
    if at != len(rest):
        raise _damaged()
    query = [(_text(name), _text(value)) for name, value in _some(head["query"])]
    return View(_text(head["page"]), query, texts, files, _read_training(head["training"], words))


def _read_words(content: bytes) -> dict[str, int]:
    table = json.loads(content)
    _json(table)
    words = dict(zip(table["words"], table["counts"], strict=True))
    if not all(isinstance(word, str) and word for word in words) or len(words) != len(table["words"]):
        raise _damaged()
    for count in words.values():
        if _number(count) < 1:
            raise _damaged()
    return words


def _read_training(about: Any, words: dict[str, int] | None) -> SavedTraining | None:
    """Return how to train again. What the settings must be, `TrainSettings` says itself."""
    if about is None or words is None:
        return None
    settings = TrainSettings(**about["settings"])
    return SavedTraining(_text(about["corpus"]), words, settings, _number(about["step"]))


def _some(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST_NAMES:
        raise _damaged()
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _damaged()
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _damaged()
    return value
