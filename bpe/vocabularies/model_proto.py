"""Write a Unigram vocabulary as the model file that sentencepiece loads.

Such a file is a protocol buffer, `ModelProto`: a message per piece, then settings of the trainer (of which the
ids of special tokens count), then those of the normalizer. A message is a sequence of fields, each a key and a
value; the key holds the field's number and how its value is written. So few fields are needed that writing them
here is shorter than having the protobuf library do it, and takes a tenth of its time and memory.

Left out: what else a model file can hold (BPE, user-defined symbols, byte fallback), and reading one.

Source: sentencepiece_model.proto of SentencePiece; https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct
from collections.abc import Collection

from bpe.vocabularies.pieces import UnigramModel

__all__ = ["write_model_proto"]

# How a value is written: the low three bits of a field's key.
_VARINT, _LENGTH_FIRST, _FIXED_32 = 0, 2, 5

# Numbers of the fields that are written, as the .proto file gives them.
_MODEL_PIECE, _MODEL_TRAINER, _MODEL_NORMALIZER = 1, 2, 3
_PIECE_TEXT, _PIECE_SCORE, _PIECE_KIND = 1, 2, 3
_TRAINER_KIND, _TRAINER_UNK, _TRAINER_BOS, _TRAINER_EOS, _TRAINER_PAD = 3, 40, 41, 42, 43
_NORMALIZER_CHARSMAP = 2

_UNIGRAM = 1
_UNKNOWN, _CONTROL = 2, 3
_NO_ID = -1 % 2**64  # a negative number is written as one of 64 bits


def write_model_proto(model: UnigramModel, *, unk_id: int, control_ids: Collection[int]) -> bytes:
    """Return the model file. Control pieces are never found in a text.

    The normalizer does what SentencePiece's does unless told otherwise: it squeezes white space, drops it at both
    ends and puts one space in front. No piece is set as start, end or padding: nothing here asks for these.

    >>> import numpy as np
    >>> toy = UnigramModel(["<unk>", "a"], np.array([0, -1], dtype=np.float32), b"")
    >>> write_model_proto(toy, unk_id=0, control_ids=())[:16]
    b'\\n\\x0e\\n\\x05<unk>\\x15\\x00\\x00\\x00\\x00\\x18\\x02'
    """
    kinds = dict.fromkeys(control_ids, _CONTROL) | {unk_id: _UNKNOWN}
    score_key = _key(_PIECE_SCORE, _FIXED_32)
    fields: list[bytes] = []
    for token_id, (text, score) in enumerate(zip(model.pieces, model.scores.tolist(), strict=True)):
        piece = _message(_PIECE_TEXT, text.encode()) + score_key + struct.pack("<f", score)
        if token_id in kinds:
            piece += _number(_PIECE_KIND, kinds[token_id])
        fields.append(_message(_MODEL_PIECE, piece))
    trainer = _number(_TRAINER_KIND, _UNIGRAM) + _number(_TRAINER_UNK, unk_id)
    trainer += b"".join(_number(field, _NO_ID) for field in (_TRAINER_BOS, _TRAINER_EOS, _TRAINER_PAD))
    fields.append(_message(_MODEL_TRAINER, trainer))
    fields.append(_message(_MODEL_NORMALIZER, _message(_NORMALIZER_CHARSMAP, model.charsmap)))
    return b"".join(fields)


def _message(field: int, content: bytes) -> bytes:
    return _key(field, _LENGTH_FIRST) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value)


def _key(field: int, written_as: int) -> bytes:
    return _varint(field << 3 | written_as)


def _varint(value: int) -> bytes:
    """Return a number in groups of seven bits, lowest first; the high bit says that more follow.

    >>> _varint(300)
    b'\\xac\\x02'
    """
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
