"""ModelTokenizer: a SentencePiece model as the `sentencepiece` library runs it (XLM-R, and what .model files hold).

It stands behind a normalizer (NFKC and white space), so decoding does not give the text back, and characters may be
unknown: `changes` says what was done to a text, `unknown_share` how much of it was lost. The library tells for
every token, and for every normalized character, where in the original text it came from.

It leaves out how Unigram works: read unigram.py for that, mergeless.py for the verbs. The neighbour hub_tokenizer.py
does the same through `tokenizers`, which reads such models from tokenizer.json files but keeps them in three times
the memory, and normalizes a little differently: it takes a letter with all its marks at once where its table has
them, and else forgets that single marks have entries as well.

Source: Kudo 2018 (arXiv 1804.10959), Unigram; Kudo and Richardson 2018 (arXiv 1808.06226), SentencePiece.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe.hub_tokenizer import Span, cuts_of_spans
from bpe.mergeless import SPACE_MARK, MergelessTokenizer
from bpe.normalizing import Unit

if TYPE_CHECKING:
    import sentencepiece

__all__ = ["ModelTokenizer"]


class ModelTokenizer(MergelessTokenizer):
    """A SentencePiece model, Unigram or BPE, as `sentencepiece` runs it.

    pieces      as the vocabulary writes them, spaces as U+2581
    processor   the library's, with the model in it; its control tokens are never found in a text
    adds_space  whether one space is put in front of a text
    first_byte  id of the piece for byte 0, where unknown characters are written in bytes

    >>> from bpe.pretrained import load_pretrained
    >>> xlmr = load_pretrained("xlm-r")
    >>> [xlmr.token_name(i) for i in xlmr.encode("Tokenizing ﬁsh ")]
    ['▁To', 'ken', 'izing', '▁fish']
    >>> [(change.what, change.before) for change in xlmr.changes("Tokenizing ﬁsh ")]
    [('added', ''), ('NFKC', 'ﬁ'), ('dropped', ' ')]
    """

    def __init__(
        self,
        name: str,
        pieces: Sequence[str],
        processor: sentencepiece.SentencePieceProcessor,
        *,
        special_tokens: Mapping[str, int],
        unknown_id: int | None,
        adds_space: bool = True,
        first_byte: int | None = None,
    ) -> None:
        super().__init__(name, pieces, special_tokens, unknown_id=unknown_id, first_byte=first_byte)
        self.adds_space = adds_space
        self._processor = processor
        self._control_ids = self._special_ids - {unknown_id}

    def _encode_ordinary(self, text: str) -> list[int]:
        ids: list[int] = self._processor.EncodeAsIds(text)
        return ids

    def _cut_ordinary(self, text: str) -> tuple[list[int], NDArray[np.int64]]:
        found = self._processor.EncodeAsOffsetMapping(text)
        spans: list[Span] = found["offsets"]
        adds_token = self.adds_space and found["pieces"][:1] == [SPACE_MARK]
        return found["ids"], cuts_of_spans(_share_characters(spans, first=int(adds_token)), text)

    def _units(self, text: str) -> list[Unit]:
        """Return the text in stretches, each with what it is normalized to, as the library lines them up.

        The space in front is what became of the white space there; of none, it is added.
        """
        marked, places = self._processor.Normalize(text, with_offsets=True)
        written: str = marked.replace(SPACE_MARK, " ")
        if not written:
            return [(text, "")]
        units: list[Unit] = [(text[: places[0]], " " if self.adds_space else "")]
        i = 0
        if self.adds_space:
            units.append((text[places[0] : places[1]], ""))
            i = 1
        while i < len(written):
            end = i + 1  # behind the last character that came from the same place
            while end < len(written) and places[end] == places[i]:
                end += 1
            units += _part_from_dropped(text[places[i] : places[end]], written[i:end])
            i = end
        units.append((text[places[-1] :], ""))
        return units

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens, without the space that `encode` may put in front of a text.

        What was unknown comes back as `<unk>`.

        Raises:
            TokenIdError: no token has one of these ids.
        """
        ids = list(ids)
        self._check(ids)
        names = [self._name(token_id) for token_id in ids]
        for i, token_id in enumerate(ids):
            starts_text = i == 0 or ids[i - 1] in self._control_ids
            if self.adds_space and starts_text and token_id not in self._control_ids:
                names[i] = names[i].removeprefix(b" ")
        return b"".join(names)


def _part_from_dropped(before: str, after: str) -> list[Unit]:
    r"""Return a unit in two, if a stretch stayed and the characters behind it were dropped.

    >>> _part_from_dropped("a\x01", "a"), _part_from_dropped("\n\n", " ")
    ([('a', 'a'), ('\x01', '')], [('\n\n', ' ')])
    """
    if before == after or before.isspace() or not before.startswith(after):
        return [(before, after)]
    return [(after, after), (before.removeprefix(after), "")]


def _share_characters(spans: Sequence[Span], *, first: int) -> list[Span]:
    """Return spans in which tokens inside one character all have it; sentencepiece gives it to the last of them.

    first  where such tokens can begin: not with a token that is nothing but the added space

    >>> _share_characters([(0, 0), (0, 0), (0, 1), (1, 2)], first=1)
    [(0, 0), (0, 1), (0, 1), (1, 2)]
    """
    shared = list(spans)
    for i in range(len(shared) - 2, first - 1, -1):
        start, end = shared[i]
        if start == end == shared[i + 1][0]:
            shared[i] = shared[i + 1]
    return shared
