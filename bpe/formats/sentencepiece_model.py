"""SentencePiece models (`spiece.model`, `tokenizer.model`): read, and run by `sentencepiece` itself.

The file is a protobuf message: the pieces with their scores, then how they were trained, then how a text is
normalized. Its ids are whatever `sentencepiece` makes of it, so that library keeps the model and this package shows
what it does (model_tokenizer.py): Unigram (T5, ALBERT, XLM-R) and BPE (Llama, with byte fallback) alike.

This module leaves out writing: a model that was trained here has no scores in the sense of the format. What is
checked is that the message is whole, because protobuf takes one that ends between two pieces for a shorter one.

Source: github.com/google/sentencepiece, src/sentencepiece_model.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bpe.errors import FormatError, UnavailableError
from bpe.formats.reading import quote
from bpe.formats.recognise import File, Files
from bpe.mergeless import SPACE_MARK
from bpe.model_tokenizer import ModelTokenizer

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

__all__ = ["read"]

PIECES, TRAINER_SPEC, NORMALIZER_SPEC = 1, 2, 3
"""Fields of the message, in the order in which they are written."""

LENGTH_DELIMITED = 2
"""The wire type of protobuf for messages and strings: every field of a model is one."""


def read(files: Files, split: str | None = None) -> ModelTokenizer:
    """Return the tokenizer of a model file; `split` is for formats that do not hold it, and not used here.

    Raises:
        FormatError: the file is cut, or says what is not read here.
        UnavailableError: `sentencepiece` is not installed.
    """
    file = files["sentencepiece"]
    _check_whole(file)
    processor, pieces = _open(file)
    ids = range(len(pieces))
    special_tokens = {
        piece: token_id
        for token_id, piece in enumerate(pieces)
        if processor.IsControl(token_id) or processor.IsUnknown(token_id)
    }
    return ModelTokenizer(
        file.name,
        pieces,
        processor,
        special_tokens=special_tokens,
        unknown_id=processor.unk_id(),
        adds_space=_adds_space(processor, file),
        first_byte=_first_byte([token_id for token_id in ids if processor.IsByte(token_id)], pieces, file),
    )


def _open(file: File) -> tuple[SentencePieceProcessor, list[str]]:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise UnavailableError(
            f"{file.name} is a sentencepiece model, which needs the package sentencepiece: pip install sentencepiece"
        ) from None
    try:
        processor = SentencePieceProcessor(model_proto=file.data)
        return processor, [processor.IdToPiece(token_id) for token_id in range(processor.GetPieceSize())]
    except UnicodeDecodeError as error:  # of a piece, or of a message that quotes one
        raise FormatError(
            f"{file.name} must hold its pieces as UTF-8, but one is not ({quote(error.object, 60)}); "
            "the file may be altered, get it again"
        ) from None
    except RuntimeError as error:
        raise FormatError(
            f"{file.name} must be a model that sentencepiece can load, but it answers {quote(str(error), 120)}; "
            "the file may be cut or altered"
        ) from None


def _adds_space(processor: SentencePieceProcessor, file: File) -> bool:
    """Tell whether a space is put in front of a text. The library does not say, so it is asked with a text."""
    marked: str = processor.Normalize("a a")
    if " " in marked or marked.endswith(SPACE_MARK):
        raise FormatError(
            f"{file.name} must write spaces as U+2581, in front of words, but makes {quote(marked)} of 'a a'; "
            "such models are not read yet, take the tokenizer.json of the same model"
        )
    return marked.startswith(SPACE_MARK)


def _first_byte(byte_ids: list[int], pieces: list[str], file: File) -> int | None:
    """Return the id of the piece for byte 0; None without byte fallback."""
    if not byte_ids:
        return None
    first = byte_ids[0]
    in_order = [f"<0x{byte:02X}>" for byte in range(256)]
    if pieces[first : first + 256] != in_order or len(byte_ids) != 256:
        raise FormatError(
            f"{file.name} must have its 256 pieces for bytes in order, <0x00> to <0xFF>, but has "
            f"{len(byte_ids)} of them, from id {first:,} on, in another order; such models are not read"
        )
    return first


# ---------------------------------------------------------------------- whole or cut


def _check_whole(file: File) -> None:
    found = {number for number, _content in _fields(file)}
    for number, what in ((PIECES, "pieces"), (TRAINER_SPEC, "training"), (NORMALIZER_SPEC, "normalization")):
        if number not in found:
            raise FormatError(
                f"{file.name} must hold the {what} of a sentencepiece model (field {number}), but does not; "
                "the file may be cut, get it again"
            )


def _fields(file: File) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of the message, each as (number, content).

    Raises:
        FormatError: the offset where the file stops being such a message.
    """
    data, at = file.data, 0
    while at < len(data):
        start = at
        tag, at = _read_varint(data, at)
        length, at = _read_varint(data, at)
        if at > len(data):
            raise FormatError(
                f"{file.name} must go on, for its field from offset {start:,} has no end, but ends at byte "
                f"{len(data):,}; the file is cut, get it again"
            )
        if tag & 7 != LENGTH_DELIMITED:
            raise FormatError(
                f"{file.name} must be a sentencepiece model, but holds no field of one at offset {start:,}; "
                "the file may be altered, get it again"
            )
        if at + length > len(data):
            raise FormatError(
                f"{file.name} must go on to byte {at + length:,}, where its field from offset {start:,} ends, "
                f"but ends at byte {len(data):,}; the file is cut, get it again"
            )
        yield tag >> 3, data[at : at + length]
        at += length


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and the place behind it: seven bits a byte, the lowest first, the eighth says that more follow.

    Where the file ends inside a number, the place is behind the end.

    >>> _read_varint(b"\\x96\\x01", 0)
    (150, 2)
    """
    number, shift = 0, 0
    while at < len(data):
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80 or shift > 63:
            return number, at
    return number, at + 1
