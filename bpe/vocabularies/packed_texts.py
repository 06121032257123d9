"""PackedTexts: a long list of short texts in one piece of memory.

A list of 256,000 Python strings takes some 20 MB; the same texts behind one another take 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np

__all__ = ["PackedTexts"]


class PackedTexts(Sequence[str]):
    """An unchangeable sequence of texts, decoded one by one as they are asked for.

    >>> texts = PackedTexts(["▁the", "##ing", ""])
    >>> len(texts), texts[1], texts[-3], list(texts[1:])
    (3, '##ing', '▁the', ['##ing', ''])
    """

    def __init__(self, texts: Iterable[str]) -> None:
        encoded = [text.encode() for text in texts]
        self._joined = b"".join(encoded)
        self._ends = np.cumsum([0, *map(len, encoded)], dtype=np.uint32)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"place must be from 0 to {len(self) - 1:,}, but is {place:,}")
        place %= len(self)
        return self._joined[self._ends[place] : self._ends[place + 1]].decode()
