"""PieceTokenizer: byte-pair encoding as SentencePiece does it (Llama 2, Mistral v1, Gemma).

A space is written U+2581 (▁) and is a character like any other, so merges run over whole words with the space in
front of them; there is no split pattern. A character that is no piece is encoded as its bytes (byte fallback),
so nothing is unknown. Llama 2 and Mistral put a space in front of every text; Gemma does not. And Gemma has
symbols that are found in any text before all merging, as `<h1>` or a run of line breaks.

Ids come from the library that holds the vocabulary. The pieces lead back to the text byte by byte, because
apart from the space in front, and U+2581 in the text itself, nothing is changed.

Source: Kudo and Richardson 2018, SentencePiece (arXiv 1808.06226). Read mergeless.py first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.mergeless import SPACE_MARK, MergelessTokenizer
from bpe.normalizing import Unit, align

__all__ = ["PieceTokenizer"]

# Symbols of a vocabulary that are found in any text look like this. Brackets do not nest, so the symbols cannot
# overlap, and taking candidates from the left finds what SentencePiece finds.
_SYMBOL = regex.compile(r"(<[^<>\[\]]+>|\[[^<>\[\]]+\])")


class PieceTokenizer(MergelessTokenizer):
    """A SentencePiece BPE vocabulary with byte fallback.

    pieces           as the vocabulary writes them, spaces as U+2581
    first_byte       id of the piece for byte 0; the 255 others follow
    encode_ordinary  the library's encoding of a text in which nothing is special
    adds_space       whether it puts a space in front of a text
    symbols          text -> id of what is found in any text before merging

    >>> from bpe.pretrained import load_pretrained
    >>> llama2 = load_pretrained("llama2")
    >>> [llama2.token_name(i) for i in llama2.encode("Hello  1")]
    ['▁Hello', '▁▁', '1']
    >>> load_pretrained("gemma2").encode("<h1>Hello")
    [185, 4521]
    """

    def __init__(
        self,
        name: str,
        pieces: Sequence[str],
        first_byte: int,
        encode_ordinary: Callable[[str], list[int]],
        *,
        special_tokens: Mapping[str, int],
        adds_space: bool,
        symbols: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(name, pieces, special_tokens, unknown_id=None, first_byte=first_byte)
        self.adds_space = adds_space
        widths = map(len, map(self._name, range(self.vocab_size)))
        self._num_bytes = np.fromiter(widths, dtype=np.int32, count=self.vocab_size)
        self._encode_stretch = encode_ordinary
        self._symbols = dict(symbols or {})

    def _encode_ordinary(self, text: str) -> list[int]:
        if not self._symbols:
            return self._encode_stretch(text)
        ids: list[int] = []
        ordinary = ""
        # A candidate that is no symbol stays part of the stretch around it, which is encoded as one.
        for part in _SYMBOL.split(text):
            if part not in self._symbols:
                ordinary += part
                continue
            ids += self._encode_stretch(ordinary)
            ids.append(self._symbols[part])
            ordinary = ""
        return ids + self._encode_stretch(ordinary)

    def _cut_ordinary(self, text: str) -> tuple[list[int], NDArray[np.int64]]:
        ids = self._encode_ordinary(text)
        ends = np.cumsum(self._num_bytes[ids], dtype=np.int64)
        place = align(self._units(text))
        assert ends[-1] == len(place) - 1, f"the pieces of {self.name} must make up the text"
        return ids, place[ends]

    def _units(self, text: str) -> list[Unit]:
        added = [("", " ")] if self.adds_space else []
        if SPACE_MARK not in text:
            return [*added, (text, text)]
        parts = regex.split(f"({SPACE_MARK})", text)
        return [*added, *((part, " " if part == SPACE_MARK else part) for part in parts)]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens, without the space that `encode` puts in front of a text.

        So it gives back exactly what was encoded, a U+2581 in it as a space. A slice of the ids may lose a
        space that `token_bytes` keeps.

        Raises:
            TokenIdError: no token has one of these ids.
        """
        ids = list(ids)
        self._check(ids)
        names = [self._name(token_id) for token_id in ids]
        if self.adds_space:
            for i, token_id in enumerate(ids):
                starts_text = i == 0 or ids[i - 1] in self._special_ids
                if starts_text and token_id not in self._special_ids:
                    names[i] = names[i].removeprefix(b" ")
        return b"".join(names)
