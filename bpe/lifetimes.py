"""Boundary lifetimes: the whole history of a training run or an encoding as one integer per boundary.

A text of n base symbols has n - 1 boundaries. A merge removes boundaries and never brings one back. So
the state after *any* number of merges follows from one number per boundary: the merge rank at which it
disappears, or `NEVER`. The tokens after k merges are what lies between the boundaries whose lifetime is
at least k (ranks are 0-based, so k = 0 gives the base symbols).

It holds for encoding because ranks are replayed lowest first, and a pair that contains the token made at
rank r has a rank above r: merges with a rank below k are all done before the first one with rank k or more.

`History` carries these numbers together with the text they speak of. This module leaves out how lifetimes
come about: read trainer.py (while learning merges) and encoder.py (while applying them) next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["INSIDE", "NEVER", "WALL", "History", "LaidOut", "count_tokens", "cut", "special_token_boundaries"]

NEVER = 2**31 - 1
"""Lifetime of a boundary that no merge removes."""

WALL = NEVER - 1
"""In byte lifetimes: a boundary between two pre-tokens, which no merge may remove."""

INSIDE = -1
"""In byte lifetimes: not a boundary at all, but a place inside a base symbol of several bytes."""


def cut(lifetimes: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    """Return int64[num_tokens + 1]: where tokens start after k merges, in base symbols, and the end.

    A text of no symbols cannot be told from one of one symbol here (both have no boundary), so the caller
    handles the empty text.

    >>> cut(np.array([1, NEVER, 0], dtype=np.int32), 1)
    array([0, 1, 2, 4])
    """
    inner = np.flatnonzero(lifetimes >= k) + 1
    return np.concatenate(([0], inner, [len(lifetimes) + 1])).astype(np.int64)


def count_tokens(lifetimes: NDArray[np.int32], num_merges: int) -> NDArray[np.int64]:
    """Return int64[num_merges + 1]: the number of tokens after 0, 1, ..., num_merges merges.

    Every boundary that goes is a token fewer, so this is a cumulative histogram of the lifetimes: one pass
    over the text for all steps at once.

    >>> count_tokens(np.array([1, NEVER, 0], dtype=np.int32), 2)
    array([4, 3, 2])
    """
    going = np.bincount(lifetimes[lifetimes < num_merges], minlength=num_merges)[:num_merges]
    return len(lifetimes) + 1 - np.concatenate(([0], np.cumsum(going))).astype(np.int64)


def special_token_boundaries(data: bytes) -> NDArray[np.int32]:
    """Return what becomes of the boundary after each byte of a special token, which is one base symbol.

    >>> special_token_boundaries(b"<s>").tolist() == [INSIDE, INSIDE, WALL]
    True
    """
    after = np.full(len(data), INSIDE, dtype=np.int32)
    after[-1] = WALL
    return after


class LaidOut(NamedTuple):
    """A pre-token or a special token, to be put into a history as often as it occurs."""

    shown: bytes
    widths: NDArray[np.int64]
    """Bytes that each base symbol covers."""
    lifetimes: NDArray[np.int32]
    """One a symbol: of the boundary after it, NEVER after the last."""
    ids: NDArray[np.int64]

    @classmethod
    def of_lists(cls, shown: bytes, widths: Sequence[int], lifetimes: Sequence[int], ids: Sequence[int]) -> LaidOut:
        """Return one from lists; `lifetimes` of the boundaries inside."""
        return cls(
            shown=shown,
            widths=np.array(widths, dtype=np.int64),
            lifetimes=np.array([*lifetimes, NEVER], dtype=np.int32),
            ids=np.array(ids, dtype=np.int64),
        )


@dataclass(frozen=True, eq=False)
class History:
    """A text under one tokenizer, at every number of merges.

    text        the bytes shown; the base symbols tile them. Equal to the source text in UTF-8, except with
                an end-of-word mark, which is then written into it (`low</w> lower</w>`).
    offsets     int64[num_symbols + 1], the byte in `text` where each base symbol starts, and the end
    lifetimes   int32[max(num_symbols - 1, 0)], merge ranks or NEVER
    walls       bool, of the same length: True where the boundary separates two pre-tokens
    num_merges  merges of the tokenizer; steps run from 0 to this number
    final_ids   int64[num_tokens], token ids after all merges; -1 for an unknown symbol
    """

    text: bytes
    offsets: NDArray[np.int64]
    lifetimes: NDArray[np.int32]
    walls: NDArray[np.bool_]
    num_merges: int
    final_ids: NDArray[np.int64]

    @classmethod
    def from_boundaries(
        cls, text: bytes, after: NDArray[np.int32], final_ids: NDArray[np.integer[Any]], *, num_merges: int
    ) -> Self:
        """Return the history of a text from what becomes of the boundary after each of its bytes.

        after   int32[num_bytes]: the inverse of `byte_lifetimes`, with the end of the text as one more WALL

        >>> after = np.array([0, WALL, INSIDE, WALL], dtype=np.int32)
        >>> History.from_boundaries("abé".encode(), after, np.array([256, 233]), num_merges=1).tokens(1)
        [b'ab', b'\\xc3\\xa9']
        """
        boundaries = np.flatnonzero(after[:-1] != INSIDE)
        walls = after[boundaries] == WALL
        ends = np.append(boundaries + 1, len(text)) if text else boundaries
        return cls(
            text=text,
            offsets=np.concatenate((np.zeros(1, dtype=np.int64), ends)).astype(np.int64),
            lifetimes=np.where(walls, NEVER, after[boundaries]).astype(np.int32),
            walls=walls,
            num_merges=num_merges,
            final_ids=final_ids.astype(np.int64),
        )

    @classmethod
    def of_parts(cls, parts: Sequence[LaidOut], *, num_merges: int) -> Self:
        """Return the history of a text from its pre-tokens in order, each laid out; walls stand between them.

        >>> low = LaidOut.of_lists(b"low", [1, 1, 1], [0, NEVER], [256, 119])
        >>> history = History.of_parts([low, low], num_merges=1)
        >>> history.tokens(1), history.walls.tolist()
        ([b'lo', b'w', b'lo', b'w'], [False, False, True, False, False])
        """
        no_ints, no_lifetimes = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        widths = np.concatenate([no_ints, *(part.widths for part in parts)])
        ends = np.cumsum(np.fromiter((len(part.widths) for part in parts), dtype=np.int64, count=len(parts)))
        walls = np.zeros(len(widths), dtype=np.bool_)
        walls[ends - 1] = True
        return cls(
            text=b"".join([part.shown for part in parts]),
            offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(widths))),
            lifetimes=np.concatenate([no_lifetimes, *(part.lifetimes for part in parts)])[:-1],
            walls=walls[:-1],
            num_merges=num_merges,
            final_ids=np.concatenate([no_ints, *(part.ids for part in parts)]),
        )

    @classmethod
    def joined(cls, histories: Sequence[History]) -> History:
        """Return the history of texts behind one another, of one tokenizer; a wall stands between two of them.

        >>> from bpe import Tokenizer
        >>> parts = [Tokenizer().history(text) for text in ("ab", "", "c")]
        >>> joined = History.joined(parts)
        >>> joined.tokens(0), joined.walls.tolist()
        ([b'a', b'b', b'c'], [False, True])
        """
        kind = next((type(history) for history in histories if type(history) is not History), History)
        there = [history for history in histories if history.num_symbols]
        if not there:
            return histories[0]
        starts = np.cumsum([0, *(len(history.text) for history in there)])
        offsets = [history.offsets[:-1] + start for history, start in zip(there, starts[:-1], strict=True)]
        between = [(np.append(history.lifetimes, NEVER), np.append(history.walls, True)) for history in there]
        return kind(
            text=b"".join([history.text for history in there]),
            offsets=np.concatenate([*offsets, starts[-1:]]).astype(np.int64),
            lifetimes=np.concatenate([lifetimes for lifetimes, _walls in between])[:-1].astype(np.int32),
            walls=np.concatenate([walls for _lifetimes, walls in between])[:-1].astype(np.bool_),
            num_merges=there[0].num_merges,
            final_ids=np.concatenate([history.final_ids for history in there]),
        )

    @property
    def num_symbols(self) -> int:
        """Base symbols in the text: the number of tokens at step 0."""
        return len(self.offsets) - 1

    @cached_property
    def num_tokens(self) -> NDArray[np.int64]:
        """int64[num_merges + 1]: tokens of the text after k merges, for every k."""
        if self.num_symbols == 0:
            return np.zeros(self.num_merges + 1, dtype=np.int64)
        return count_tokens(self.lifetimes, self.num_merges)

    def token_offsets(self, k: int) -> NDArray[np.int64]:
        """Return int64[num_tokens + 1]: the byte where each token starts after k merges, and the end."""
        if self.num_symbols == 0:
            return np.zeros(1, dtype=np.int64)
        return self.offsets[cut(self.lifetimes, k)]

    def tokens(self, k: int) -> list[bytes]:
        """Return the bytes of each token after k merges; joined, they are `text`.

        >>> from bpe import TrainSettings, train
        >>> tokenizer = train("aaabdaaabac", TrainSettings(num_merges=3, split="none")).tokenizer
        >>> tokenizer.history("aaab").tokens(1)
        [b'aa', b'a', b'b']
        """
        at = self.token_offsets(k).tolist()
        return [self.text[a:b] for a, b in pairwise(at)]

    def byte_lifetimes(self) -> NDArray[np.int32]:
        """Return int32[max(num_bytes - 1, 0)]: one lifetime per *byte* boundary of `text`.

        INSIDE (-1) inside a base symbol of several bytes, WALL between pre-tokens, NEVER where no merge
        reaches, else the merge rank. `>= k` still cuts correctly for every k from 0 on.
        """
        out = np.full(max(len(self.text) - 1, 0), INSIDE, dtype=np.int32)
        out[self.offsets[1:-1] - 1] = np.where(self.walls, WALL, self.lifetimes)
        return out
