"""The result of a training run: merges, counts at every step, and what was close at each.

Everything here follows from two things the trainer records: one row a merge, and one lifetime a boundary
(lifetimes.py). So any step can be looked at without training again. Read trainer.py for how they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from bpe.counting import PreTokenCounts
from bpe.errors import SettingsError
from bpe.lifetimes import History, cut
from bpe.settings import Descending, TrainSettings
from bpe.tokenizer import MergeRows, Tokenizer, build_history

__all__ = ["Contest", "Merge", "Stopped", "Training"]

Stopped = Literal["num_merges", "vocab_size", "min_pair_count", "no_pairs", "cancelled"]


class Merge(NamedTuple):
    """One learned rule and what was counted when it was chosen."""

    rank: int
    """0-based place in learning order."""
    left: int
    right: int
    token: int
    """Ids of the two symbols and of the token they make."""
    pair_count: int
    """Adjacent occurrences over the corpus, overlaps included: `aaa` holds two of (a, a)."""
    num_tied: int
    """Other pairs that had the same count."""
    num_replaced: int
    """Occurrences that were replaced: `aaa` gives one."""
    num_tokens: int
    """Tokens of the corpus after this merge."""


class Merges(Sequence[Merge]):
    """The merges of a training run, stored as columns, read as `Merge` rows."""

    def __init__(self, rows: MergeRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows.rank)

    @overload
    def __getitem__(self, index: int) -> Merge: ...
    @overload
    def __getitem__(self, index: slice) -> list[Merge]: ...
    def __getitem__(self, index: int | slice) -> Merge | list[Merge]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Merge(*(int(column[index]) for column in self._rows.columns()))

    def __iter__(self) -> Iterator[Merge]:
        return map(Merge._make, zip(*(column.tolist() for column in self._rows.columns()), strict=True))


@dataclass(frozen=True, eq=False)
class Contest:
    """The leading pairs after k merges, most frequent first; within a count in the order of the tie rule.

    left, right   int64[num_shown], token ids        count   int64[num_shown], occurrences over the corpus
    num_tied      pairs that share the highest count, the winner included; all of them are among the shown
                  unless there are more than the number asked for
    num_pairs     distinct pairs in all
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    count: NDArray[np.int64]
    num_tied: int
    num_pairs: int


@dataclass(frozen=True, eq=False)
class Training:
    """The result of a training run: the merges, the counts at every step, and the tokenizer.

    stopped       which stop was hit: num_merges, vocab_size, min_pair_count (pairs are left, but too rare),
                  no_pairs (every pre-token is one token), cancelled (by the progress function)
    num_tokens    int64[num_merges + 1], tokens of the corpus after k merges
    pre_tokens    distinct pre-tokens in corpus order, with counts
    """

    settings: TrainSettings
    stopped: Stopped
    rows: MergeRows
    num_tokens: NDArray[np.int64]
    tokenizer: Tokenizer
    pre_tokens: PreTokenCounts
    symbols: NDArray[np.uint8] | NDArray[np.int32] = field(repr=False)
    """[num_symbols]: base ids of all distinct pre-tokens, one after the other; uint8 where bytes are the base."""
    starts: NDArray[np.int64] = field(repr=False)
    """int64[num_pre_tokens + 1]: where each distinct pre-token starts in `symbols`, and the end."""
    lifetimes: NDArray[np.int32] = field(repr=False)
    """int32[num_symbols]: of the boundary *before* each symbol; NEVER at the start of a pre-token."""

    @property
    def merges(self) -> Merges:
        """The merges in learning order, as a sequence of `Merge`."""
        return Merges(self.rows)

    @property
    def num_merges(self) -> int:
        """Merges learned."""
        return len(self.rows.rank)

    @property
    def num_base(self) -> int:
        """Base tokens: 256 bytes, or the characters of the corpus and its end marks."""
        return len(self.tokenizer.base_symbols)

    @cached_property
    def piece_lifetimes(self) -> dict[str, NDArray[np.int32]]:
        """Distinct pre-token -> int32[num_symbols - 1]: the lifetimes of its boundaries."""
        at = self.starts.tolist()
        return {word: self.lifetimes[a + 1 : b] for word, a, b in zip(self.pre_tokens, at[:-1], at[1:], strict=True)}

    def history(self, text: str) -> History:
        """Return the history of the corpus text, or of any other, under the merges learned here.

        Pre-tokens of the corpus are looked up instead of encoded, where the kernels do not encode the text anyway.
        """
        return self.tokenizer.history(text, known=self.piece_lifetimes)

    def table_history(self) -> History:
        """Return the history of a table of word counts: each distinct word once, one a line."""
        return build_history(self.tokenizer, [(word, "\n") for word in self.pre_tokens], self.piece_lifetimes)

    def pair_counts(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (left, right, count, first) of every distinct pair after k merges, in no particular order.

        Each int64[num_pairs]: token ids, occurrences over the corpus, and the place of the first occurrence
        in corpus order (a symbol's place among the distinct pre-tokens). Cost: linear in the distinct
        pre-tokens, plus a sort of the pairs.

        Raises:
            SettingsError: k is not from 0 to num_merges.
        """
        if not 0 <= k <= self.num_merges:
            raise SettingsError(f"step must be from 0 to {self.num_merges:,}, but is {k:,}")
        if len(self.symbols) == 0:
            empty = np.zeros(0, dtype=np.int64)
            return empty, empty, empty, empty
        at = cut(self.lifetimes[1:], k)[:-1]
        youngest = np.maximum.reduceat(np.where(self.lifetimes < k, self.lifetimes, -1), at)
        tokens = np.where(youngest < 0, self.symbols[at], self.num_base + youngest)
        word = np.searchsorted(self.starts, at, side="right") - 1
        inside = word[1:] == word[:-1]
        width = np.int64(self.num_base + self.num_merges)
        keys = (tokens[:-1] * width + tokens[1:])[inside]
        pairs, first, which = np.unique(keys, return_index=True, return_inverse=True)
        totals = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(totals, which, self.pre_tokens.counts[word[:-1][inside]])
        return pairs // width, pairs % width, totals, at[:-1][inside][first]

    def contest(self, k: int, num_shown: int = 12) -> Contest:
        """Return the leading pairs after k merges, ranked as the tie rule of these settings ranks them.

        The first one is what merge k chose, unless a stop was hit before.

        Raises:
            SettingsError: k is not from 0 to num_merges, or num_shown is below 1.

        >>> from bpe import train
        >>> words = {"hug": 10, "pug": 5, "pun": 12}
        >>> contest = train(words, TrainSettings(num_merges=2, base="chars")).contest(0)
        >>> contest.count.tolist(), contest.num_tied
        ([17, 15, 12, 10], 1)
        """
        if num_shown < 1:
            raise SettingsError(f"num_shown must be at least 1, but is {num_shown:,}")
        left, right, count, first = self.pair_counts(k)
        leaders = np.flatnonzero(count >= _kth_largest(count, num_shown))
        rule = self.settings.tie_break
        name = self.tokenizer.token_bytes

        def order(i: int) -> tuple[object, ...]:
            a, b = int(left[i]), int(right[i])
            if rule == "first-seen":
                return (-int(count[i]), int(first[i]))
            if rule == "lowest-ids":
                return (-int(count[i]), a, b)
            return (-int(count[i]), Descending((name(a), name(b))), a, b)

        shown = sorted(leaders.tolist(), key=order)[:num_shown]
        tied = int(np.count_nonzero(count == count.max())) if len(count) else 0
        return Contest(left[shown], right[shown], count[shown], tied, len(count))


def _kth_largest(values: NDArray[np.int64], k: int) -> int:
    if len(values) == 0:
        return 0
    k = min(k, len(values))
    return int(np.partition(values, len(values) - k)[len(values) - k])
