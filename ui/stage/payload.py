"""Packs texts with their boundary lifetimes, and the merges, into the bytes that the stage draws from.

Plain data in, bytes out: nothing here knows Streamlit, and the browser needs nothing but these bytes to show
any step. js/model.js is the reading end.

Layout: u32 length of the head | the head, JSON padded with spaces to a multiple of 8 | sections, each starting
at a multiple of 8, little-endian.

head
    version, id      `id` is a digest of everything below: the same id is the same drawing
    step, options    where the stage opens; not part of the id
    num_merges       the slider runs from 0 to this number; 0 is a tokenizer without merges
    views            one entry a view: its title
    sections         name -> [offset, num_bytes, type]; offsets count from the end of the head

sections of view v (0 is the main text, 1 the reader's own sentence)
    text{v}          u1, UTF-8
    lifetimes{v}     i2 or i4, one a byte boundary: -1 inside a base symbol, the largest value for a boundary that
                     stays, the one below it for a wall between pre-tokens, else a merge rank
    final_ids{v}     i4, one token id a token after all merges; -1 is unknown

sections of the tokenizer
    base_ids, base_ends, base_bytes    ids of the base symbols, where each name ends, and the names joined
    rank, left, right, token           i4, a row for each merge that is listed; ranks ascend and may have gaps
    count, num_tied, num_replaced, num_tokens_after    f8 (counts can exceed 32 bits); absent if not known
    names            names of the code points in the texts (names.py)
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe.errors import SettingsError
from bpe.lifetimes import NEVER, WALL, History
from ui.stage.names import pack_names

__all__ = [
    "SPEEDS",
    "SWITCHES",
    "MergeColumns",
    "StageOptions",
    "StageView",
    "build_payload",
    "pack_payload",
    "read_head",
    "with_head",
]

_VERSION = 1
_SMALL_NEVER = 2**15 - 1
_SMALL_WALL = _SMALL_NEVER - 1
_MOST_SMALL_MERGES = 32_000
_COUNT_COLUMNS = ("count", "num_tied", "num_replaced", "num_tokens_after")


class MergeColumns(Protocol):
    """Merges as columns, one entry a row; `bpe.tokenizer.MergeRows` has this shape.

    `rank` ascends and holds 0-based ranks of the whole tokenizer. Rows may be left out that act on none of the
    texts drawn; the rows that made the parents of a listed token are listed too. The other columns are int64 of
    the same length, or None.
    """

    @property
    def rank(self) -> NDArray[np.int64]: ...
    @property
    def left(self) -> NDArray[np.int64]: ...
    @property
    def right(self) -> NDArray[np.int64]: ...
    @property
    def token(self) -> NDArray[np.int64]: ...
    @property
    def count(self) -> NDArray[np.int64] | None: ...
    @property
    def num_tied(self) -> NDArray[np.int64] | None: ...
    @property
    def num_replaced(self) -> NDArray[np.int64] | None: ...
    @property
    def num_tokens_after(self) -> NDArray[np.int64] | None: ...


SWITCHES = ("marks", "walls", "bytes", "ids")
"""The options that are on or off."""

SPEEDS = (1, 4, 15, 60)
"""Merges a second, to choose from."""


@dataclass(frozen=True)
class StageOptions:
    """What the stage shows besides the coloured text, and how fast it plays; the reader sets each.

    marks  a sign for every character without ink: spaces, tabs, line breaks, zero-width characters
    walls  boundaries between pre-tokens, which no merge crosses, as double lines
    bytes  the bytes in hex, under characters that several tokens share
    ids    the token id under every token
    speed  merges a second while it plays, one of SPEEDS
    """

    marks: bool = False
    walls: bool = False
    bytes: bool = False
    ids: bool = False
    speed: int = 15


@dataclass(frozen=True)
class StageView:
    """A text to draw: its history under the tokenizer, and a title shown above it."""

    history: History
    title: str = ""


def build_payload(
    views: Sequence[StageView],
    merges: MergeColumns,
    base_names: Mapping[int, bytes],
    *,
    num_merges: int,
    step: int,
    options: StageOptions | None = None,
) -> bytes:
    """Return the bytes that the stage draws: one text, or a text and a sentence under the same tokenizer.

    `base_names` names every token id that no merge made: base symbols, special tokens, and for a tokenizer
    without merges every token of the texts. A text of no bytes is drawn as an empty state. Linear in the texts.

    Raises:
        SettingsError: not one or two views, a step outside 0..num_merges, or a history of another tokenizer.
    """
    _check(views, num_merges, step)
    sections: dict[str, NDArray[Any]] = {}
    for number, view in enumerate(views):
        history = view.history
        sections[f"text{number}"] = np.frombuffer(history.text, dtype=np.uint8)
        sections[f"lifetimes{number}"] = _pack_lifetimes(history.byte_lifetimes(), num_merges)
        sections[f"final_ids{number}"] = history.final_ids.astype("<i4")
    sections |= _base_sections(base_names)
    sections |= _merge_sections(merges)
    names = pack_names(view.history.text.decode() for view in views)
    sections["names"] = np.frombuffer(names, dtype=np.uint8)

    head: dict[str, Any] = {
        "version": _VERSION,
        "step": step,
        "options": asdict(options or StageOptions()),
        "num_merges": num_merges,
        "views": [{"title": view.title} for view in views],
    }
    return pack_payload(head, sections, identity=[head["num_merges"], head["views"]])


def pack_payload(head: Mapping[str, Any], sections: Mapping[str, NDArray[Any]], *, identity: Sequence[Any]) -> bytes:
    """Return a head and sections in the layout above; `sections` and `id` are added to the head.

    The id is a digest of the sections and of `identity`, the entries of the head that belong to the drawing.
    """
    table, body = _join_sections(sections)
    digest = hashlib.sha256(body)
    digest.update(json.dumps([*identity, table]).encode())
    return _join_head({**head, "id": digest.hexdigest()[:16], "sections": table}, body)


def read_head(payload: bytes) -> dict[str, Any]:
    """Return the head of a payload: its id, step, options and table of sections."""
    head: dict[str, Any] = json.loads(payload[4 : _body_start(payload)])
    return head


def with_head(payload: bytes, **changes: Any) -> bytes:
    """Return the payload with some entries of its head replaced or added; the sections stay as they are."""
    return _join_head(read_head(payload) | changes, payload[_body_start(payload) :])


def _check(views: Sequence[StageView], num_merges: int, step: int) -> None:
    if not 1 <= len(views) <= 2:
        raise SettingsError(
            f"the stage draws one or two views, got {len(views)}; pass the main text, and a sentence if there is one"
        )
    if not 0 <= step <= num_merges:
        raise SettingsError(
            f"step must be 0 to {num_merges} (the merges of this tokenizer), got {step}; clip it before drawing"
        )
    for view in views:
        if view.history.num_merges != num_merges:
            raise SettingsError(
                f"every history must come from the tokenizer of {num_merges} merges, got one of "
                f"{view.history.num_merges}; compute the history again with this tokenizer"
            )


def _pack_lifetimes(lifetimes: NDArray[np.int32], num_merges: int) -> NDArray[Any]:
    """Two bytes a boundary where the ranks fit: half of what is sent for most texts."""
    if num_merges >= _MOST_SMALL_MERGES:
        return lifetimes.astype("<i4")
    small = np.where(lifetimes == NEVER, _SMALL_NEVER, lifetimes)
    small = np.where(lifetimes == WALL, _SMALL_WALL, small)
    return small.astype("<i2")


def _base_sections(base_names: Mapping[int, bytes]) -> dict[str, NDArray[Any]]:
    ids = sorted(base_names)
    names = [base_names[token_id] for token_id in ids]
    return {
        "base_ids": np.array(ids, dtype="<i4"),
        "base_ends": np.cumsum([len(name) for name in names], dtype="<i4"),
        "base_bytes": np.frombuffer(b"".join(names), dtype=np.uint8),
    }


def _merge_sections(merges: MergeColumns) -> dict[str, NDArray[Any]]:
    sections: dict[str, NDArray[Any]] = {
        name: np.asarray(getattr(merges, name)).astype("<i4") for name in ("rank", "left", "right", "token")
    }
    for name in _COUNT_COLUMNS:
        column = getattr(merges, name)
        if column is not None:
            sections[name] = np.asarray(column).astype("<f8")
    return sections


def _join_sections(sections: Mapping[str, NDArray[Any]]) -> tuple[dict[str, list[Any]], bytes]:
    table: dict[str, list[Any]] = {}
    parts = []
    offset = 0
    for name, values in sections.items():
        data = values.tobytes()
        table[name] = [offset, len(data), f"{values.dtype.kind}{values.dtype.itemsize}"]
        padding = -len(data) % 8
        parts.append(data + bytes(padding))
        offset += len(data) + padding
    return table, b"".join(parts)


def _join_head(head: Mapping[str, Any], body: bytes) -> bytes:
    text = json.dumps(head, ensure_ascii=True, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return struct.pack("<I", len(text)) + text + body


def _body_start(payload: bytes) -> int:
    return 4 + int(struct.unpack_from("<I", payload)[0])
