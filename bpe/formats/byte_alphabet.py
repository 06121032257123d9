"""The byte alphabet of GPT-2: one printable character for each of the 256 bytes.

vocab.json, merges.txt and tokenizer.json are text, and a token may be half a character. GPT-2 (Radford et al.
2019) writes byte b as the character with code b where that is printable and no space, and as U+0100, U+0101, ...
elsewhere, in the order of the bytes: a space is `Ġ`, a line feed `Ċ`.

Source: github.com/openai/gpt-2 src/encoder.py, `bytes_to_unicode`.
"""

from __future__ import annotations

__all__ = ["BYTE_OF_CHAR", "CHAR_OF_BYTE", "to_bytes", "to_chars"]


def _characters() -> list[str]:
    as_they_are = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = [byte for byte in range(256) if byte not in as_they_are]
    return [chr(byte) if byte in as_they_are else chr(0x100 + moved.index(byte)) for byte in range(256)]


CHAR_OF_BYTE: tuple[str, ...] = tuple(_characters())
BYTE_OF_CHAR: dict[str, int] = {char: byte for byte, char in enumerate(CHAR_OF_BYTE)}

_TABLE = dict(enumerate(CHAR_OF_BYTE))


def to_chars(token: bytes) -> str:
    """Write bytes in the byte alphabet.

    >>> to_chars(" né".encode())
    'ĠnÃ©'
    """
    return token.decode("latin-1").translate(_TABLE)


def to_bytes(text: str) -> bytes | None:
    """Return the bytes that a text in the byte alphabet stands for; None if it holds another character.

    >>> to_bytes("ĠnÃ©").decode()
    ' né'
    """
    try:
        return bytes([BYTE_OF_CHAR[char] for char in text])
    except KeyError:
        return None
