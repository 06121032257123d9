"""Packed vocabularies of BERT (WordPiece) and XLM-R (Unigram): what they are made of, checked by sha256.

A rank table is all there is to a byte-level BPE; these two need more. BERT is a list of tokens, `##` before those
that continue a word. XLM-R is a list of pieces, a score for each, and the table of characters that SentencePiece
normalizes with (NFKC and some more).

Left out: turning these into tokenizers (pretrained.py, model_proto.py), and how the packed files come about
(build.py).
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from bpe.errors import FormatError
from bpe.vocabularies import compress, pack, unpack

__all__ = ["BERT_SHA256", "XLMR_SHA256", "UnigramModel", "load_bert", "load_xlmr", "pack_unigram", "unpack_unigram"]

BERT_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""sha256 of vocab.txt as Google published it with bert-base-uncased."""

XLMR_SHA256 = "fd804785bbf4c9d20427b15810ada961ac0a8cd584f625fb5499aea3d85ea2e8"
"""sha256 of the pieces, scores and character table of XLM-R, laid out as `UnigramModel.to_bytes` does."""


@dataclass(frozen=True, eq=False)
class UnigramModel:
    """A Unigram vocabulary.

    pieces    in order of id, spaces as U+2581
    scores    float32[num_pieces], logarithms of probabilities
    charsmap  SentencePiece's compiled normalization table
    """

    pieces: Sequence[str]
    scores: NDArray[np.float32]
    charsmap: bytes

    def to_bytes(self) -> bytes:
        """Return everything behind one another: pieces with a line break after each, scores, table."""
        lines = "".join(f"{piece}\n" for piece in self.pieces).encode()
        return lines + self.scores.astype("<f4").tobytes() + self.charsmap


def load_bert() -> list[str]:
    """Return the tokens of BERT uncased in order of id.

    >>> tokens = load_bert()
    >>> len(tokens), tokens[2088], tokens[2075]
    (30522, 'world', '##ing')

    Raises: FormatError (the packed file was changed).
    """
    tokens = [token.decode() for token in unpack(_read("bert.xz"), "bert.xz")]
    _check("bert.xz", "".join(f"{token}\n" for token in tokens).encode(), BERT_SHA256)
    return tokens


def load_xlmr() -> UnigramModel:
    """Return the vocabulary of XLM-R.

    >>> model = load_xlmr()
    >>> len(model.pieces), model.pieces[8999]
    (250002, '▁world')

    Raises: FormatError (a packed file was changed).
    """
    model = unpack_unigram(_read("xlmr.xz"), _read("xlmr-scores.xz"), _read("xlmr-charsmap.xz"))
    _check("xlmr.xz", model.to_bytes(), XLMR_SHA256)
    return model


def pack_unigram(model: UnigramModel) -> tuple[bytes, bytes, bytes]:
    """Pack pieces, scores and character table.

    The scores fall with the id, so as bit patterns they differ little from one to the next: the differences,
    all lowest bytes first, then all second ones and so on, pack to three quarters of the plain scores.

    Raises: FormatError.
    """
    pieces = pack({piece.encode(): token_id for token_id, piece in enumerate(model.pieces)})
    bits = model.scores.astype("<f4").view("<u4")
    differences = np.diff(bits, prepend=np.uint32(0)).astype("<u4")
    planes = differences.view(np.uint8).reshape(-1, 4).T.tobytes()
    return pieces, compress(planes), compress(model.charsmap)


def unpack_unigram(pieces: bytes, scores: bytes, charsmap: bytes) -> UnigramModel:
    """Undo `pack_unigram`.

    Raises: FormatError.
    """
    names = [piece.decode() for piece in unpack(pieces, "the packed pieces")]
    try:
        planes, table = lzma.decompress(scores), lzma.decompress(charsmap)
    except lzma.LZMAError as error:
        raise FormatError(f"scores and character table must be xz files, but: {error}. Restore them.") from error
    if len(planes) != 4 * len(names):
        raise FormatError(f"there must be {len(names):,} scores, one a piece, but {len(planes):,} bytes are there.")
    differences = np.frombuffer(planes, dtype=np.uint8).reshape(4, -1).T.copy().view("<u4").ravel()
    bits = np.cumsum(differences, dtype=np.uint32)
    return UnigramModel(names, bits.view(np.float32), table)


def _read(name: str) -> bytes:
    return resources.files("bpe.vocabularies").joinpath(name).read_bytes()


def _check(name: str, data: bytes, expected: str) -> None:
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != expected:
        raise FormatError(
            f"bpe/vocabularies/{name} must give a vocabulary with sha256 {expected}, but gives {sha256}. Restore the "
            "file, or make it again with python -m bpe.vocabularies.build."
        )
