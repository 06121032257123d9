"""Tokens of any tokenizer on one axis: the bytes of the text as the reader wrote it.

Tokenizers can only be held side by side where they speak of the same text. Most do: the bytes of their tokens,
joined, are the text. An end-of-word mark is written into the text and has to be taken out again; a normalizer makes
another text, and its history leads back (normalizing.py). What cannot be led back is counted, but has no place.

Only the last step is of interest here, so this is much cheaper than a history: read agreement.py for what is done
with the cuts, lifetimes.py for all steps at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe.errors import UnknownSymbolError
from bpe.in_pieces import Progress, encode_in_pieces, history_in_pieces
from bpe.lifetimes import History
from bpe.tokenizer import END_OF_WORD, UNKNOWN_ID, Special, TokenizerLike

__all__ = ["PlacedTokens", "original_offsets", "place_tokens"]


@dataclass(frozen=True, eq=False)
class PlacedTokens:
    """The tokens of a text, with the byte of the text where each ends.

    ids   int64[num_tokens]; UNKNOWN_ID for a symbol without an id
    ends  int64[num_tokens], ascending; None where the tokens are of another text and cannot be led back.
          A token that normalization added covers no byte: it ends where it starts.
    """

    ids: NDArray[np.int64]
    ends: NDArray[np.int64] | None

    @property
    def num_tokens(self) -> int:
        """Tokens, those included that cover no byte."""
        return len(self.ids)

    @property
    def cuts(self) -> NDArray[np.int64]:
        """int64[num_cuts]: the bytes between two tokens, ascending, each once; none without places."""
        if self.ends is None or len(self.ends) == 0:
            return np.zeros(0, dtype=np.int64)
        inner = self.ends[:-1]
        is_new = np.diff(inner, prepend=0) > 0  # np.unique takes 23 ms for 30,000 tokens, this 0.1
        cuts: NDArray[np.int64] = inner[is_new & (inner < self.ends[-1])]
        return cuts

    @property
    def num_unseen(self) -> int:
        """Tokens that cover no byte of the text."""
        return 0 if self.ends is None else int(np.count_nonzero(np.diff(self.ends, prepend=0) == 0))


def place_tokens(
    tokenizer: TokenizerLike, text: str, *, special: Special = "text", progress: Progress | None = None
) -> PlacedTokens:
    """Return the tokens of a text after all merges, on the bytes of the text.

    Raises:
        SpecialTokenError: as for `encode`.
        StoppedError: the progress function said so.

    >>> from bpe.pretrained import load_pretrained
    >>> place_tokens(load_pretrained("gpt2"), "two words").ends.tolist()
    [3, 9]
    """
    raw = text.encode()
    if tokenizer.num_merges:  # without merges, a history is as quick as the ids
        placed = _place_by_names(tokenizer, text, raw, special, progress)
        if placed is not None:
            return placed
    history = history_in_pieces(tokenizer, text, special=special, progress=progress)
    offsets = original_offsets(history, raw)
    if offsets is None:
        return PlacedTokens(history.final_ids, None)
    is_cut = np.append(history.lifetimes >= history.num_merges, True)[: history.num_symbols]
    return PlacedTokens(history.final_ids, offsets[1:][is_cut])


def _place_by_names(
    tokenizer: TokenizerLike, text: str, raw: bytes, special: Special, progress: Progress | None
) -> PlacedTokens | None:
    """Return the tokens by the lengths of their names, where the names joined are the text."""
    try:
        ids = np.array(encode_in_pieces(tokenizer, text, special=special, progress=progress), dtype=np.int64)
    except UnknownSymbolError:
        return None
    if UNKNOWN_ID in ids:
        return None
    distinct, where = np.unique(ids, return_inverse=True)
    names = [tokenizer.token_bytes(token) for token in distinct.tolist()]
    if b"".join(map(names.__getitem__, where.tolist())) != raw:
        return None
    widths = np.array([len(name) for name in names], dtype=np.int64)
    return PlacedTokens(ids, np.cumsum(widths[where], dtype=np.int64))


def original_offsets(history: History, raw: bytes) -> NDArray[np.int64] | None:
    """Return the offsets of a history's base symbols in the original text; None where they cannot be led back.

    A symbol that is only an end-of-word mark covers no byte, and white space that was not encoded belongs to the
    symbol before it, at the start to the first one.

    >>> from bpe import Tokenizer
    >>> chars = Tokenizer.base_of(["low"], base="chars", end_of_word="separate", split="whitespace")
    >>> history = chars.history("low  low")
    >>> history.text, original_offsets(history, b"low  low").tolist()
    (b'low</w>  low</w>', [0, 1, 2, 3, 5, 6, 7, 8, 8])
    """
    if history.text == raw:
        return history.offsets
    place_of = _lead_back(history, raw)
    if place_of is None:
        return None
    offsets = place_of[history.offsets]
    if len(offsets) > 1:
        offsets[0], offsets[-1] = 0, len(raw)
    return offsets


def _lead_back(history: History, raw: bytes) -> NDArray[np.int64] | None:
    """Return int64[num_shown_bytes + 1]: the byte of the original for each byte shown, or None.

    Shown and original differ in end-of-word marks and in white space only, or the text is another one. Characters
    are compared, not bytes: white space may be several bytes (U+3000 at the start of a Japanese paragraph).
    """
    shown, original = history.text.decode(), raw.decode()
    byte_of = np.cumsum([0, *(len(char.encode()) for char in original)], dtype=np.int64).tolist()
    marks = _mark_starts(history)
    place_of = np.zeros(len(history.text) + 1, dtype=np.int64)
    at = 0  # in the original, in characters
    i = start = 0  # in what is shown, in characters and in bytes
    while i < len(shown):
        if start in marks:
            place_of[start : start + len(END_OF_WORD)] = byte_of[at]
            i += len(END_OF_WORD)
            start += len(END_OF_WORD)
            continue
        char = shown[i]
        while at < len(original) and original[at] != char and original[at].isspace():
            at += 1
        width = len(char.encode())
        place_of[start : start + width] = byte_of[at]
        if at < len(original) and original[at] == char:
            at += 1
        elif not char.isspace():
            return None
        i += 1
        start += width
    if original[at:].strip():
        return None
    place_of[len(history.text)] = len(raw)
    return place_of


def _mark_starts(history: History) -> set[int]:
    """Return where the end-of-word marks are: behind the last mark of a pre-token there is only white space."""
    walls = history.offsets[1:-1][history.walls].tolist()
    starts = set()
    start = 0
    for end in [*walls, len(history.text)]:
        mark = history.text.rfind(END_OF_WORD.encode(), start, end)
        if mark >= 0 and not history.text[mark + len(END_OF_WORD) : end].decode().strip():
            starts.add(mark)
        start = end
    return starts
