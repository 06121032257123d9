"""Packs a text and the cuts of every row into the bytes that the aligned rows are drawn from.

The layout is the stage's (ui/stage/payload.py); js/rows_data.js is the reading end. A row that stands still is one
bit a byte boundary: a hundred kilobytes under ten tokenizers are 125 kB of cuts. The own tokenizer's row brings its
boundary lifetimes, so that the browser can show any step of it.

head
    rows    name, num_tokens, num_unseen, and for the own one num_merges
    step    where the own row opens; not part of the id
    names   one entry a row: id -> name, where names are not the text
sections
    text        u1, UTF-8
    cuts{r}     u1, bits, least first: bit i is set if a token ends after byte i; absent for the own row
    lifetimes{r}    i4, one a byte boundary: -1 inside a base symbol, else a merge rank or the largest value
    ids{r}      i4, one a token that covers a byte; absent for the own row
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.lifetimes import INSIDE
from ui.compare.compute import Row
from ui.stage.payload import pack_payload

__all__ = ["MOST_DRAWN_BYTES", "build_rows", "drawn_bytes"]

MOST_DRAWN_BYTES = 200_000
"""So much of a text is drawn; everything is counted over the whole."""


def drawn_bytes(text: str) -> int:
    """Return how much of a text is drawn: up to the limit, whole characters.

    >>> drawn_bytes("abc")
    3
    """
    return len(text.encode()[:MOST_DRAWN_BYTES].decode(errors="ignore").encode())


def build_rows(text: str, rows: Sequence[Row], step: int) -> bytes:
    """Return what the browser draws: rows that have cuts, in this order."""
    num_bytes = drawn_bytes(text)
    sections: dict[str, NDArray[Any]] = {"text": np.frombuffer(text.encode()[:num_bytes], dtype=np.uint8)}
    heads = []
    for number, row in enumerate(rows):
        head: dict[str, Any] = {
            "name": row.name,
            "num_tokens": row.placed.num_tokens,
            "num_unseen": row.placed.num_unseen,
            "num_merges": 0,
        }
        if row.history is not None:
            head["num_merges"] = row.history.num_merges
            # At which step the row was counted is not part of the drawing: the browser counts for itself.
            head["num_tokens"] = head["num_unseen"] = 0
            sections[f"lifetimes{number}"] = _own_lifetimes(row, num_bytes)
        else:
            sections[f"cuts{number}"] = _pack_cuts(row.placed.cuts, num_bytes)
            sections[f"ids{number}"] = _drawn_ids(row, num_bytes).astype("<i4")
        heads.append(head)
    names = [{str(token): name for token, name in row.names.items()} for row in rows]
    head = {"version": 1, "step": step, "rows": heads, "names": names, "is_clipped": num_bytes < len(text.encode())}
    return pack_payload(head, sections, identity=[heads, names])


def _pack_cuts(cuts: NDArray[np.int64], num_bytes: int) -> NDArray[np.uint8]:
    bits = np.zeros(max(num_bytes - 1, 0), dtype=np.bool_)
    bits[cuts[cuts < num_bytes] - 1] = True
    return np.packbits(bits, bitorder="little")


def _drawn_ids(row: Row, num_bytes: int) -> NDArray[np.int64]:
    ends = row.placed.ends
    assert ends is not None
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    return row.placed.ids[(ends > starts) & (starts < num_bytes)]


def _own_lifetimes(row: Row, num_bytes: int) -> NDArray[np.int32]:
    """Lifetimes on the bytes of the text; of boundaries in one place, around an end-of-word mark, the longest."""
    assert row.history is not None
    assert row.offsets is not None
    out = np.full(max(num_bytes - 1, 0), INSIDE, dtype="<i4")
    places = row.offsets[1:-1]
    shown = (places > 0) & (places < num_bytes)
    np.maximum.at(out, places[shown] - 1, row.history.lifetimes[shown])
    return out
