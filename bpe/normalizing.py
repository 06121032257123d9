"""Normalization: what a tokenizer does to a text before it splits it, and where everything came from.

Byte-level BPE takes every text as it is; its neighbours do not. BERT lower-cases and drops accents, XLM-R
replaces compatibility characters (NFKC) and squeezes white space, Llama 2 puts a space in front, Qwen composes
(NFC). Such a tokenizer does not give a text back, and its tokens lie in another text than the reader's. So two
things are kept here: `Change`, what was done and where; and alignments, which lead from every byte of the
normalized text to a byte of the original one.

The unit of both is a pair (before, after): a stretch of the original and what became of it. This module leaves
out how texts are encoded: read rank_tokenizer.py, piece_tokenizer.py and hub_tokenizer.py next.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.lifetimes import INSIDE, NEVER, WALL, History

__all__ = [
    "AlignedHistory",
    "Change",
    "Unit",
    "align",
    "list_changes",
    "normalize_by_cluster",
    "token_history",
    "whole_characters",
    "write_out_added",
]

Unit = tuple[str, str]
"""A stretch of the original text, and what became of it."""

# White space in runs, for normalizers that squeeze it; else what a reader sees as one character.
_CLUSTER = regex.compile(r"\s+|\X")


@dataclass(frozen=True)
class Change:
    """One thing that normalization did to a text.

    start, end  in bytes of the original text; equal where something was added
    before      the stretch as it was;  after   as it became
    what        the same in words: `lower-cased`, `accents dropped`, `dropped`, `added`, `NFC`, `NFKC`,
                `decomposed (NFD)`, `decomposed (NFKD)`, `white space`, `replaced`
    """

    start: int
    end: int
    before: str
    after: str
    what: str


def whole_characters(text: str) -> str:
    """Join surrogate pairs and replace what is left of them, as tiktoken does: UTF-8 has no surrogates.

    >>> whole_characters("a\\ud83d")
    'a\\ufffd'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def normalize_by_cluster(text: str, normalize: Callable[[str], str]) -> list[Unit]:
    """Return the units of a text, a user-perceived character or a run of white space each.

    Each distinct one is normalized once. A normalizer that looks beyond a cluster gives something else for the
    whole text; then everything between the first and the last difference is one unit: true, if coarse.

    >>> normalize_by_cluster("Né", str.lower)
    [('N', 'n'), ('é', 'é')]
    """
    clusters: list[str] = _CLUSTER.findall(text)
    after = {cluster: normalize(cluster) for cluster in set(clusters)}
    units = [(cluster, after[cluster]) for cluster in clusters]
    whole = normalize(text)
    if "".join(new for _old, new in units) == whole:
        return units
    return _differing_middle(text, whole)


def _differing_middle(before: str, after: str) -> list[Unit]:
    """Return the common start and end character by character, and what lies between as one unit."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    most -= start
    end = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    middle = (before[start : len(before) - end], after[start : len(after) - end])
    same_start = [(char, char) for char in before[:start]]
    same_end = [(char, char) for char in before[len(before) - end :]]
    return [*same_start, middle, *same_end]


# ---------------------------------------------------------------------- what was changed


def list_changes(units: Iterable[Unit]) -> list[Change]:
    """Return what was changed, in order; neighbours to which the same was done are one change.

    >>> list_changes([("N", "n"), ("É", "e"), ("!", "!")])
    [Change(start=0, end=1, before='N', after='n', what='lower-cased'),
     Change(start=1, end=3, before='É', after='e', what='lower-cased, accents dropped')]
    """
    changes: list[Change] = []
    at = 0
    for before, after in units:
        end = at + len(before.encode())
        if before != after:
            change = Change(at, end, before, after, _name_change(before, after))
            last = changes[-1] if changes else None
            if last is not None and last.end == at and last.what == change.what:
                change = Change(last.start, end, last.before + before, last.after + after, change.what)
                changes.pop()
            changes.append(change)
        at = end
    return changes


def _name_change(before: str, after: str) -> str:
    if not before:
        return "added"
    if not after:
        return "dropped"
    if before.isspace() and after.isspace():
        return "white space"
    if after == before.lower():
        return "lower-cased"
    if after == unicodedata.normalize("NFC", before):
        return "NFC"
    if after == unicodedata.normalize("NFD", before):  # first: of Hangul it is all that BERT does, it has no accents
        return "decomposed (NFD)"
    if after == _without_marks(before):
        return "accents dropped"
    if after == _without_marks(before.lower()):
        return "lower-cased, accents dropped"
    for form, what in (("NFKC", "NFKC"), ("NFKD", "decomposed (NFKD)")):
        if after == unicodedata.normalize(form, before):  # type: ignore[arg-type]
            return what
    return "replaced"


def _without_marks(text: str) -> str:
    """Return the text without nonspacing marks, decomposed: what BERT makes of accents."""
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(char for char in decomposed if unicodedata.category(char) != "Mn")


# ---------------------------------------------------------------------- where everything came from


def align(units: Sequence[Unit]) -> NDArray[np.int64]:
    """Return int64[num_normalized_bytes + 1]: the byte of the original that each normalized byte came from.

    Places between two units lead to the earlier end, so what was dropped belongs to what follows; the last
    place leads to the end. Inside a unit that changed its length, places are spread evenly: by convention,
    nothing better is known.

    >>> align([("", " "), ("e\\u0301", "é"), ("x", "x")]).tolist()
    [0, 0, 1, 3, 4]
    """
    old = np.fromiter((len(before.encode()) for before, _after in units), dtype=np.int64, count=len(units))
    new = np.fromiter((len(after.encode()) for _before, after in units), dtype=np.int64, count=len(units))
    old_starts, new_starts = np.cumsum(old) - old, np.cumsum(new) - new
    inside = np.arange(int(new.sum()), dtype=np.int64) - np.repeat(new_starts, new)
    starts = np.repeat(old_starts, new)
    places = starts + inside * np.repeat(old, new) // np.maximum(np.repeat(new, new), 1)

    # A unit that comes after a dropped one starts where that one did.
    kept_end = np.concatenate(([0], (old_starts + old)[new > 0]))[:-1]
    first = new_starts[new > 0]
    places[first] = kept_end
    return np.concatenate((places, [old.sum()]))


class AlignedHistory(History):
    """A history whose base symbols lie in another text than the one shown, so that some may cover no byte of it.

    A token that normalization added (the space in front of a text that starts with a digit) has an empty span,
    `offsets[i] == offsets[i + 1]`. Such a token counts, and has its id, but no byte boundary can show it.
    """

    def byte_lifetimes(self) -> NDArray[np.int32]:
        """Return int32[max(num_bytes - 1, 0)] as `History` does; of boundaries in one place the longest-lived."""
        out = np.full(max(len(self.text) - 1, 0), INSIDE, dtype=np.int32)
        places = self.offsets[1:-1]
        shown = (places > 0) & (places < len(self.text))
        values = np.where(self.walls, WALL, self.lifetimes).astype(np.int32)
        np.maximum.at(out, places[shown] - 1, values[shown])
        return out


def token_history(text: str, cuts: NDArray[np.int64], ids: Sequence[int]) -> History:
    """Return the history of a text under a tokenizer without merges: its base symbols are its tokens.

    `cuts` is int64[num_tokens + 1], bytes of the text, ascending, from 0 to its end; a token between two equal
    cuts is one that normalization added. A text of which nothing was left has an empty history.

    >>> token_history(" 10", np.array([0, 0, 1, 3]), [5, 6, 7]).tokens(0)
    [b'', b' ', b'10']
    """
    num_boundaries = max(len(ids) - 1, 0)
    kind = AlignedHistory if np.any(cuts[1:] == cuts[:-1]) else History
    return kind(
        text=text.encode() if ids else b"",
        offsets=cuts.astype(np.int64) if ids else np.zeros(1, dtype=np.int64),
        lifetimes=np.full(num_boundaries, NEVER, dtype=np.int32),
        walls=np.zeros(num_boundaries, dtype=np.bool_),
        num_merges=0,
        final_ids=np.array(ids, dtype=np.int64),
    )


def write_out_added(history: History, token_bytes: Callable[[int], bytes]) -> History:
    """Return a history without steps in which added tokens are written out, for views that need bytes to draw.

    The text is then no longer the reader's: ` 10` for Llama 2, which puts a space in front of `10`. Every token
    has bytes, so cuts and ids agree. Other histories come back as they are.

    >>> history = token_history("10", np.array([0, 0, 1, 2]), [5, 6, 7])
    >>> write_out_added(history, lambda token_id: b" ").tokens(0)
    [b' ', b'1', b'0']
    """
    if history.num_merges or not isinstance(history, AlignedHistory):
        return history
    pieces = zip(history.tokens(0), history.final_ids.tolist(), strict=True)
    tokens = [token or token_bytes(token_id) for token, token_id in pieces]
    ends = np.cumsum([len(token) for token in tokens], dtype=np.int64)
    return replace(history, text=b"".join(tokens), offsets=np.concatenate((np.zeros(1, dtype=np.int64), ends)))
