"""One text under many tokenizers: a row each, kept by text and tokenizer, and how the rows agree."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe import UNKNOWN_ID, History, TokenizerLike
from bpe.agreement import Agreement, compare_cuts
from bpe.byte_axis import PlacedTokens, original_offsets, place_tokens
from bpe.errors import BpeError, StoppedError
from bpe.in_pieces import Progress, history_in_pieces
from bpe.normalizing import Change
from bpe.tokenizer import Special
from ui.choosing import Chosen
from ui.jobs import Job, JobBoard
from ui.kept import kept
from ui.state import OWN_NAME

__all__ = [
    "Comparison",
    "Row",
    "compare",
    "comparison_key",
    "comparisons",
    "own_at_step",
    "row_of",
]


@dataclass(frozen=True, eq=False)
class Row:
    """A text under one tokenizer.

    placed       its tokens on the bytes of the text
    find_changes gives what normalization did to the text; it takes as long as the tokens, so it is asked later
    num_unknown  tokens that stand for something unknown
    names        id -> name, where a token's name is not the text it covers (`##ing`, `▁the`)
    history, offsets
                 of the own tokenizer: the text at every step, and its base symbols on the bytes of the text
    problem      why there are no tokens
    """

    name: str
    placed: PlacedTokens
    find_changes: Callable[[], Sequence[Change]] = tuple
    num_unknown: int = 0
    names: dict[int, str] = field(default_factory=dict)
    history: History | None = None
    offsets: NDArray[np.int64] | None = None
    problem: str = ""

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What normalization did to the text, in order."""
        return tuple(self.find_changes())

    @property
    def has_cuts(self) -> bool:
        """Whether its tokens can be shown on the axis."""
        return self.placed.ends is not None and not self.problem


@dataclass(frozen=True, eq=False)
class Comparison:
    """All rows, in the order asked for, and the agreement of those that are on the axis.

    num_bytes, num_chars    of the text
    on_axis                 the rows that `agreement` counts, in its order
    """

    text: str
    num_bytes: int
    num_chars: int
    rows: tuple[Row, ...]
    on_axis: tuple[Row, ...]
    agreement: Agreement | None


@st.cache_resource(show_spinner=False)
def comparisons() -> JobBoard[tuple[Row, ...]]:
    """Return the rows computed last, for all sessions."""
    return JobBoard(num_kept=16)


def comparison_key(text: str, special: Special, contenders: Sequence[Chosen]) -> str:
    """Return a digest of everything that the rows depend on."""
    asked = (special, [(contender.name, contender.key) for contender in contenders], text)
    return hashlib.sha256(repr(asked).encode()).hexdigest()  # not joined: a text may hold whatever would stand between


def rows_of(text: str, special: Special, contenders: Sequence[Chosen], job: Job[tuple[Row, ...]]) -> tuple[Row, ...]:
    """Return the rows, one after another; a row that is known costs nothing.

    Raises:
        StoppedError: the reader asked to stop.
    """
    return tuple(_known_row(text, special, contenders, number, job) for number in range(len(contenders)))


def _known_row(
    text: str, special: Special, contenders: Sequence[Chosen], number: int, job: Job[tuple[Row, ...]]
) -> Row:
    contender = contenders[number]

    def goes_on(done: int, asked: int) -> bool:
        return job.report(number * asked + done, len(contenders) * asked)

    if not goes_on(0, 1):
        raise StoppedError("the comparison was stopped before it was done: start it again")
    return row_of(text, special, contender, goes_on)


@kept(num_kept=64)
def row_of(text: str, special: Special, contender: Chosen, _progress: Progress | None = None) -> Row:
    """Return a text under one tokenizer; of the own one, at its last step.

    Raises:
        StoppedError: the progress function said so.
    """
    tokenizer = contender.get()
    try:
        placed = place_tokens(tokenizer, text, special=special, progress=_progress)
    except StoppedError:
        raise
    except BpeError as error:
        return Row(contender.name, PlacedTokens(np.zeros(0, dtype=np.int64), None), problem=str(error))
    history = None
    if contender.name == OWN_NAME:
        history = history_in_pieces(tokenizer, text, special=special, progress=_progress)
    return Row(
        name=contender.name,
        placed=placed,
        find_changes=partial(tokenizer.changes, text),
        num_unknown=_num_unknown(tokenizer, placed.ids),
        names=_names(tokenizer, placed.ids),
        history=history,
        offsets=None if history is None else original_offsets(history, text.encode()),
    )


def compare(text: str, rows: Sequence[Row], step: int) -> Comparison:
    """Return the rows with the own one at a step, and how they agree."""
    at_step = tuple(own_at_step(row, step) for row in rows)
    on_axis = tuple(row for row in at_step if row.has_cuts)
    return Comparison(
        text=text,
        num_bytes=len(text.encode()),
        num_chars=len(text),
        rows=at_step,
        on_axis=on_axis,
        agreement=compare_cuts([row.placed.cuts for row in on_axis]) if on_axis else None,
    )


def own_at_step(row: Row, step: int) -> Row:
    """Return the row of the own tokenizer as it is after so many merges; other rows as they are.

    The ids are left out at earlier steps: only the places are looked at.
    """
    history, offsets = row.history, row.offsets
    if history is None or offsets is None or step >= history.num_merges or history.num_symbols == 0:
        return row
    is_cut = np.append(history.lifetimes >= step, True)
    ends = offsets[1:][is_cut]
    ids = np.full(len(ends), UNKNOWN_ID, dtype=np.int64)
    return Row(
        name=row.name,
        placed=PlacedTokens(ids, ends),
        num_unknown=row.num_unknown,
        history=history,
        offsets=offsets,
    )


def _num_unknown(tokenizer: TokenizerLike, ids: NDArray[np.int64]) -> int:
    unknown = [UNKNOWN_ID] if tokenizer.unknown_id is None else [UNKNOWN_ID, tokenizer.unknown_id]
    return int(np.isin(ids, unknown).sum())


def _names(tokenizer: TokenizerLike, ids: NDArray[np.int64]) -> dict[int, str]:
    if tokenizer.num_merges:
        return {}
    return {token: tokenizer.token_name(token) for token in np.unique(ids).tolist() if token != UNKNOWN_ID}
