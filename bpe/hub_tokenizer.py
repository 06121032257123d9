"""HubTokenizer: WordPiece and Unigram through Hugging Face's `tokenizers` (BERT, and what tokenizer.json files hold).

Both stand behind a normalizer, so decoding does not give the text back, and both can meet something unknown:
`changes` says what was done to a text, `unknown_share` how much of it was lost. The library says for every token
which characters of the original text it came from; here these become cuts in bytes.

It leaves out how the two algorithms work: read wordpiece.py and unigram.py for that, mergeless.py for the verbs.
Its neighbour model_tokenizer.py has Unigram through `sentencepiece`.

Source: Wu et al. 2016 (arXiv 1609.08144), WordPiece; Kudo 2018 (arXiv 1804.10959), Unigram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe.mergeless import SPACE_MARK, MergelessTokenizer
from bpe.normalizing import Unit, normalize_by_cluster

if TYPE_CHECKING:
    import tokenizers

__all__ = ["HubTokenizer", "cuts_of_spans"]

Span = tuple[int, int]


class HubTokenizer(MergelessTokenizer):
    """A `tokenizers.Tokenizer` that drops white space, with this package's verbs.

    pieces      as the vocabulary writes them; where U+2581 starts a word, it counts as a space
    normalize   what the library does to a text first, as `normalize_str`
    adds_space  whether a space is put in front of a text

    The library's tokenizer must hold no added tokens: it would find them in any text. Special tokens are found
    here instead, when they are asked for.

    >>> from bpe.pretrained import load_pretrained
    >>> bert = load_pretrained("bert-uncased")
    >>> [bert.token_name(i) for i in bert.encode("Tokenizing Café")]
    ['token', '##izing', 'cafe']
    >>> [change.what for change in bert.changes("Tokenizing Café")]
    ['lower-cased', 'lower-cased', 'accents dropped']
    """

    def __init__(
        self,
        name: str,
        pieces: Sequence[str],
        tokenizer: tokenizers.Tokenizer,
        *,
        special_tokens: Mapping[str, int],
        unknown_id: int | None,
        normalize: Callable[[str], str],
        adds_space: bool,
    ) -> None:
        super().__init__(name, pieces, special_tokens, unknown_id=unknown_id)
        self.adds_space = adds_space
        self._tokenizer = tokenizer
        self._normalize = normalize
        self._marks = frozenset(token_id for token_id, piece in enumerate(pieces) if piece == SPACE_MARK)

    def _encode_ordinary(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _cut_ordinary(self, text: str) -> tuple[list[int], NDArray[np.int64]]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids: list[int] = encoding.ids
        spans: list[Span] = encoding.offsets
        if self._marks:
            spans = [
                (start, start) if token_id in self._marks and not text[start:end].isspace() else (start, end)
                for token_id, (start, end) in zip(ids, spans, strict=True)
            ]
        return ids, cuts_of_spans(spans, text)

    def _units(self, text: str) -> list[Unit]:
        """Return what the normalizer does, and what becomes of white space: one space between words, none around."""
        units: list[Unit] = []
        for before, after in normalize_by_cluster(text, self._normalize):
            if before.isspace():
                units.append((before, " "))
            else:
                units.append((before, after if self.adds_space else after.strip()))
        for end in (0, -1):
            if units and units[end][0].isspace():
                units[end] = (units[end][0], "")
        if self.adds_space and any(after for _before, after in units):
            units.insert(0, ("", " "))
        return units

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the text of the tokens as the library writes it: normalized, one space between words.

        Raises:
            TokenIdError: no token has one of these ids.
        """
        ids = list(ids)
        self._check(ids)
        decoder = self._tokenizer.decoder
        text: str = decoder.decode([self._pieces[token_id] for token_id in ids])
        return text.encode()


def cuts_of_spans(spans: Sequence[Span], text: str) -> NDArray[np.int64]:
    """Return int64[num_tokens]: the byte of the text where each token ends, from spans in characters.

    A token ends where its span does, so what lies between two spans belongs to the second token. Tokens with
    characters in common divide these evenly, or when the tokens are more, their bytes; if these are too few as
    well, the first tokens get none. An empty span is a token that is not in the text.

    >>> cuts_of_spans([(0, 2), (3, 4)], "ab c").tolist()
    [2, 4]
    >>> cuts_of_spans([(0, 1), (0, 1), (0, 1), (1, 2)], "안a").tolist()
    [1, 2, 3, 4]
    """
    code_points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    widths = 1 + (code_points > 0x7F).astype(np.int64) + (code_points > 0x7FF) + (code_points > 0xFFFF)
    byte_of = [0, *np.cumsum(widths).tolist()]

    cuts: list[int] = []
    i = 0
    while i < len(spans):
        end = spans[i][1]
        last = i  # the last token that begins before this one ends
        while last + 1 < len(spans) and spans[last + 1][0] < end:
            last += 1
        if last == i:
            cuts.append(byte_of[end])
            i += 1
            continue
        cuts += _divide(spans[last][0], end, last - i + 1, byte_of)
        i = last
    if cuts:
        cuts[-1] = byte_of[-1]
    return np.maximum.accumulate(np.array(cuts, dtype=np.int64))


def _divide(start: int, end: int, num_parts: int, byte_of: Sequence[int]) -> list[int]:
    """Return the bytes between which some characters are divided: between characters if they suffice.

    If not even the bytes do, the first parts get none.
    """
    first_byte, num_bytes = byte_of[start], byte_of[end] - byte_of[start]
    if end - start >= num_parts:
        return [byte_of[start + nth * (end - start) // num_parts] for nth in range(1, num_parts)]
    if num_bytes >= num_parts:
        return [first_byte + nth * num_bytes // num_parts for nth in range(1, num_parts)]
    return [first_byte + max(0, nth - (num_parts - num_bytes)) for nth in range(1, num_parts)]
