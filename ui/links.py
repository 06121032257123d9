"""The reader's text inside a link: compressed, versioned, and bounded on the way back.

A link is written by anybody, so unpacking trusts nothing: not the alphabet, not the version, and above all
not the size that a few bytes unfold to.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping

from bpe.errors import BpeError

__all__ = ["LONGEST_IN_LINK", "LinkError", "pack_text", "pack_texts", "unpack_text", "unpack_texts"]

LONGEST_IN_LINK = 6_000
"""Characters of a packed text that a link may hold: servers and proxies on the way stop at about 8 kB."""

MOST_TEXT_BYTES = 2_000_000
"""Bytes that the texts of a link may unfold to."""

_ONE_TEXT = "1"  # the text of the first text area
_TEXTS = "2"  # a JSON object: key of the text area -> text
_FIRST_AREA = "text"


class LinkError(BpeError, ValueError):
    """A link holds a text that cannot be read."""


def pack_text(text: str) -> str | None:
    """Return the text for a link, or None when it is too long for one.

    >>> unpack_text(pack_text("How many r's?"))
    "How many r's?"
    """
    packed = _ONE_TEXT + _pack(text)
    return packed if len(packed) <= LONGEST_IN_LINK else None


def pack_texts(texts: Mapping[str, str]) -> str:
    """Return texts by their keys for a link, at any length a link can hold: a long one goes behind the `#`.

    >>> unpack_texts(pack_texts({"code": "x = 1", "text": ""}))
    {'code': 'x = 1', 'text': ''}

    Raises:
        LinkError: the texts are too long even for that.
    """
    whole = json.dumps(dict(texts), ensure_ascii=False)
    if len(whole.encode()) > MOST_TEXT_BYTES:
        raise LinkError(
            f"a link can hold texts of at most {MOST_TEXT_BYTES:,} bytes, but these have {len(whole.encode()):,}: "
            "they are left out; send them as a file"
        )
    return _TEXTS + _pack(whole)


def unpack_text(packed: str) -> str:
    """Return the text of a link that brings one text.

    Raises:
        LinkError: the text was cut, changed, made by a newer version, or unfolds to more than 2 MB.
    """
    return unpack_texts(packed).get(_FIRST_AREA, "")


def unpack_texts(packed: str) -> dict[str, str]:
    """Return the texts of a link by their keys, from this version and every one before.

    >>> unpack_texts(pack_text("hello"))
    {'text': 'hello'}

    Raises:
        LinkError: as in `unpack_text`.
    """
    if packed[:1] == _ONE_TEXT:
        return {_FIRST_AREA: _unpack(packed[1:])}
    if packed[:1] != _TEXTS:
        raise LinkError("the text in the link was made by another version of this app and cannot be read here")
    try:
        texts = json.loads(_unpack(packed[1:]))
    except (ValueError, RecursionError) as error:
        if isinstance(error, LinkError):
            raise
        texts = None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise LinkError("the text in the link was changed on its way here and cannot be read")
    return texts


def _pack(text: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def _unpack(packed: str) -> str:
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, MOST_TEXT_BYTES)
        if unpacker.unconsumed_tail:
            raise LinkError(f"the text in the link unfolds to more than {MOST_TEXT_BYTES:,} bytes and was not opened")
        if not unpacker.eof:
            raise LinkError("the text in the link was cut on its way here and cannot be read")
        return text.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise LinkError("the text in the link was changed on its way here and cannot be read") from None
