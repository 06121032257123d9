"""Agreement: where several tokenizers cut the same text, and how much that is the same.

A cut is a byte offset between two tokens. Every row of a comparison is the set of its cuts on one axis, the bytes of
the text (byte_axis.py). A place is shared if all rows cut there, contested if some do and some do not, and of one
row alone if no other does. Two rows are compared as two sets:

    Jaccard   cuts of both / cuts of either          F1   2 x cuts of both / (cuts of one + cuts of the other)

F1 is what word segmentation is scored by; Jaccard punishes harder. Both are 1 for equal sets, two empty ones too.
Start and end of the text are no cuts: they would make everything look more alike than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bpe.errors import SettingsError

__all__ = ["Agreement", "compare_cuts", "first_step_below"]


@dataclass(frozen=True, eq=False)
class Agreement:
    """The cuts of several rows on one axis.

    places  int64[num_places], ascending: every byte offset where at least one row cuts
    is_cut  bool[num_rows, num_places]: whether the row cuts there
    """

    places: NDArray[np.int64]
    is_cut: NDArray[np.bool_]

    @property
    def num_rows(self) -> int:
        """Rows compared."""
        return len(self.is_cut)

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """int64[num_places]: how many rows cut there."""
        votes: NDArray[np.int64] = np.count_nonzero(self.is_cut, axis=0).astype(np.int64)
        return votes

    @property
    def shared(self) -> NDArray[np.int64]:
        """Places where all rows cut."""
        shared: NDArray[np.int64] = self.places[self.votes == self.num_rows]
        return shared

    @cached_property
    def contested(self) -> NDArray[np.int64]:
        """Places where some rows cut and some do not: the disagreements, in text order."""
        contested: NDArray[np.int64] = self.places[self.votes < self.num_rows]
        return contested

    def alone(self, row: int) -> NDArray[np.int64]:
        """Return the places where this row cuts and no other; none in a comparison of one."""
        has_others = self.num_rows > 1
        alone: NDArray[np.int64] = self.places[self.is_cut[row] & (self.votes == 1) & has_others]
        return alone

    @cached_property
    def num_common(self) -> NDArray[np.int64]:
        """int64[num_rows, num_rows]: cuts that two rows have in common; on the diagonal those of the row."""
        common = np.zeros((self.num_rows, self.num_rows), dtype=np.int64)
        for one in range(self.num_rows):
            for other in range(one, self.num_rows):
                both = int(np.count_nonzero(self.is_cut[one] & self.is_cut[other]))
                common[one, other] = common[other, one] = both
        return common

    @property
    def jaccard(self) -> NDArray[np.float64]:
        """float64[num_rows, num_rows]: Jaccard index of any two rows."""
        own = np.diagonal(self.num_common)
        return _ratio(self.num_common, own[:, None] + own[None, :] - self.num_common)

    @property
    def f1(self) -> NDArray[np.float64]:
        """float64[num_rows, num_rows]: F1 of any two rows."""
        own = np.diagonal(self.num_common)
        return _ratio(2 * self.num_common, own[:, None] + own[None, :])


def compare_cuts(rows: Sequence[NDArray[np.int64]]) -> Agreement:
    """Return how the cuts of some rows agree. A row is int64[num_cuts], ascending, without repeats.

    Raises:
        SettingsError: no row.

    >>> agreement = compare_cuts([np.array([1, 4]), np.array([1, 3])])
    >>> agreement.shared.tolist(), agreement.contested.tolist(), float(agreement.f1[0, 1])
    ([1], [3, 4], 0.5)
    """
    if not rows:
        raise SettingsError("a comparison must have at least one row of cuts, but has none; choose a tokenizer")
    places = np.unique(np.concatenate(rows)).astype(np.int64)
    is_cut = np.zeros((len(rows), len(places)), dtype=np.bool_)
    for row, cuts in enumerate(rows):
        is_cut[row, np.searchsorted(places, cuts)] = True
    return Agreement(places, is_cut)


def first_step_below(num_tokens: NDArray[np.int64], limit: int) -> int | None:
    """Return the first number of merges that leaves fewer tokens than `limit`; None if no step does.

    num_tokens  int64[num_merges + 1], never rising: `History.num_tokens`

    >>> first_step_below(np.array([9, 7, 7, 5]), 7)
    3
    """
    step = int(np.searchsorted(-num_tokens, -limit, side="right"))
    return step if step < len(num_tokens) else None


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide; nothing of nothing is everything, because two rows without cuts agree."""
    return np.where(whole == 0, 1.0, part / np.maximum(whole, 1)).astype(np.float64)
