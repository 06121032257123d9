"""Reads the key-value part of a GGUF file: where llama.cpp keeps vocabularies.

Only what the build needs: little-endian files of version 2 or 3, no tensors.

Source: github.com/ggml-org/ggml, docs/gguf.md.
"""

from __future__ import annotations

import struct
from typing import Any

from bpe.errors import FormatError

__all__ = ["read_gguf"]

_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_gguf(data: bytes) -> dict[str, Any]:
    """Return key -> value: strings as bytes, arrays as lists.

    Raises: FormatError.
    """
    try:
        return _Reader(data).read()
    except (struct.error, KeyError) as error:
        raise FormatError(f"the file must be a whole GGUF file, but cannot be read: {error}") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def read(self) -> dict[str, Any]:
        if self.data[:4] != b"GGUF":
            raise FormatError(f"a GGUF file must begin with GGUF, but begins with {self.data[:4]!r}")
        self.at = 4
        version = self.number("I")
        if version not in (2, 3):
            raise FormatError(f"the GGUF version must be 2 or 3, but is {version}")
        self.number("Q")  # tensors
        num_keys = self.number("Q")
        values = {}
        for _ in range(num_keys):
            key = self.string().decode()
            values[key] = self.value(self.number("I"))
        return values

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.data, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def string(self) -> bytes:
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.number(_NUMBERS[kind])
        kind = self.number("I")
        length = self.number("Q")
        if kind in (_STRING, _ARRAY):
            return [self.value(kind) for _ in range(length)]
        code = f"<{length}{_NUMBERS[kind]}"
        values = list(struct.unpack_from(code, self.data, self.at))
        self.at += struct.calcsize(code)
        return values
