"""Counting a text unit by unit: tokens, bytes, characters, grapheme clusters, words.

Totals come last (estimates.py), because a bootstrap over the units needs the count of every one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.errors import SettingsError
from bpe.metrics.tokens import count_tokens
from bpe.metrics.words import whole_word_test, words_of, writes_spaces
from bpe.tokenizer import TokenizerLike

__all__ = ["Quantity", "count_quantity"]

Quantity = Literal["tokens", "bytes", "characters", "graphemes", "words", "space words", "continued words"]
"""What can be counted unit by unit. `space words` splits at white space whatever the script."""

_GRAPHEME = regex.compile(r"\X")

_OF_TEXT: dict[str, Callable[[str], int]] = {
    "bytes": lambda text: len(text.encode()),
    "characters": len,
    "graphemes": lambda text: sum(1 for _ in _GRAPHEME.finditer(text)),
    "space words": lambda text: len(text.split()),
}


def count_quantity(
    quantity: Quantity, units: Sequence[str], *, tag: str = "und", tokenizer: TokenizerLike | None = None
) -> NDArray[np.int64]:
    """Return int64[num_units]: how often something occurs in each unit.

    tag         BCP 47 tag, which ICU finds words by
    tokenizer   needed for tokens and continued words

    Raises:
        SettingsError: the quantity needs a tokenizer.
        UnavailableError: words of a script without spaces, and ICU is not installed.

    >>> text = ["नमस्ते", "é"]
    >>> count_quantity("graphemes", text).tolist(), count_quantity("bytes", text).tolist()
    ([3, 1], [18, 2])
    """
    if quantity in _OF_TEXT:
        return _integers([_OF_TEXT[quantity](unit) for unit in units])
    if quantity == "words":
        return _integers([len(words) for words in words_of(units, tag)])
    if tokenizer is None:
        raise SettingsError(f"counting {quantity} needs a tokenizer: pass tokenizer=")
    if quantity == "tokens":
        return count_tokens(tokenizer, units).num_tokens
    is_whole = whole_word_test(tokenizer, writes_spaces(units))
    return _integers([sum(not is_whole(word) for word in words) for words in words_of(units, tag)])


def _integers(counts: list[int]) -> NDArray[np.int64]:
    return np.array(counts, dtype=np.int64)
