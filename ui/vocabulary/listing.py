"""The list of tokens: one Streamlit component that holds a whole vocabulary and draws the rows in sight.

Streamlit's own table was tried with 262,144 rows: 15.6 MB go to the browser and 9 s pass before it stands there.
Here the rows travel as columns of bytes, deflated (200,000 tokens of o200k: 1.9 MB), and text is made of them
row by row. The browser keeps them, so scrolling asks the server nothing.

As with the stage, a payload is large and what the reader picks is small: a pick of the reader's own is not sent
back, so the payload stays the same and Streamlit sends a hash instead. js/listing.js is the reading end.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe.vocabulary import SCRIPTS, Vocabulary
from ui.stage import bundle
from ui.vocabulary.words import KIND_WORDS, REASON_WORDS

__all__ = ["build_listing", "listing_js", "token_list"]

_FOLDER = Path(__file__).parent
_DEFLATE_LEVEL = 1


def build_listing(vocabulary: Vocabulary, rows: NDArray[np.int64], reasons: NDArray[np.uint8] | None = None) -> bytes:
    """Return some rows of a vocabulary, in this order, as the browser reads them.

    Layout: u32 length of the head | the head, JSON | sections, deflated. Each section is a column: `ids` as
    differences (i4), `lengths` of the names (u4), `scripts`, `kinds`, `reasons` (u1), `names` joined.

    `reasons` of reachability.py, one a row of the vocabulary; None while they are not known.
    """
    names = [vocabulary.names[row] for row in rows.tolist()]
    ids = vocabulary.ids[rows]
    columns: dict[str, NDArray[Any]] = {
        "ids": np.diff(ids, prepend=0).astype("<i4"),
        "lengths": vocabulary.num_bytes[rows].astype("<u4"),
        "scripts": vocabulary.scripts[rows],
        "kinds": vocabulary.kinds[rows].astype(np.uint8),
        "reasons": np.zeros(len(rows), np.uint8) if reasons is None else reasons[rows].astype(np.uint8),
        "names": np.frombuffer(b"".join(names), dtype=np.uint8),
    }
    body = b"".join(column.tobytes() for column in columns.values())
    head = {
        "id": hashlib.sha256(body).hexdigest()[:16],
        "num_rows": len(rows),
        "num_name_bytes": len(columns["names"]),
        "scripts": list(SCRIPTS),
        "kinds": {str(int(kind)): words for kind, words in KIND_WORDS.items()},
        "reasons": {str(int(reason)): words for reason, words in REASON_WORDS.items()},
    }
    return _join(head, zlib.compress(body, _DEFLATE_LEVEL))


def _join(head: Mapping[str, Any], body: bytes) -> bytes:
    text = json.dumps(head, ensure_ascii=True, separators=(",", ":")).encode()
    return struct.pack("<I", len(text)) + text + body


def _split(payload: bytes) -> tuple[dict[str, Any], bytes]:
    start = 4 + struct.unpack_from("<I", payload)[0]
    return json.loads(payload[4:start]), payload[start:]


# ---------------------------------------------------------------------------------------------- component


@cache
def listing_js() -> str:
    """Return the scripts as one module; how bytes become visible is the stage's."""
    folders: Sequence[Path] = (Path(bundle.__file__).parent / "js", _FOLDER / "js")
    sources = {path.name: path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.js")}
    return bundle.join_modules(sources, "listing.js")


_mount = st.components.v2.component(
    "token_list",
    html=(_FOLDER / "listing.html").read_text(encoding="utf-8"),
    css=(_FOLDER / "listing.css").read_text(encoding="utf-8"),
    js=listing_js(),
)


@dataclass(frozen=True)
class Given:
    """What the mounted list was last given: the payload's id, and the token it was asked to show."""

    id: str
    token: int


def token_list(payload: bytes, token: int, *, key: str, on_pick: Callable[[int], None], height: int = 420) -> None:
    """Draw a payload of `build_listing`, with one token picked out if it is among the rows.

    `on_pick` is called with the id of the token that the reader picks, before the rerun that this causes.
    """
    head, body = _split(payload)
    record = f"_{key}_given"
    last: Given | None = st.session_state.get(record) if key in st.session_state else None
    given = next_given(head["id"], token, last, st.session_state.get(key))
    st.session_state[record] = given

    def picked() -> None:
        pick = picked_token(given, st.session_state.get(key))
        if pick is not None:
            on_pick(pick)

    data = _join(head | {"token": given.token, "height": height}, body)
    _mount(data=data, key=key, on_picked_change=picked)


def next_given(payload_id: str, token: int, last: Given | None, state: Any) -> Given:
    """Return what to give: the same as before while the page only follows the reader's own pick."""
    if last is not None and last.id == payload_id and token in (last.token, picked_token(last, state)):
        return last
    return Given(payload_id, token)


def picked_token(given: Given, state: Any) -> int | None:
    """Return what the reader picked in this payload. The report comes from outside: nothing is taken for granted."""
    report = state.get("picked") if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping) or report.get("of") != given.id:
        return None
    token = report.get("token")
    return token if isinstance(token, int) and not isinstance(token, bool) and token >= 0 else None
