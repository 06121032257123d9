"""The reader's text inside a link: compressed, versioned, and bounded on the way back.

A link is written by anybody, so unpacking trusts nothing: not the alphabet, not the version, and above all
not the size that a few bytes unfold to.
"""

from __future__ import annotations

import base64
import binascii
import zlib

from bpe.errors import BpeError

__all__ = ["LONGEST_IN_LINK", "LinkError", "pack_text", "unpack_text"]

LONGEST_IN_LINK = 6_000
"""Characters of a packed text that a link may hold: servers and proxies on the way stop at about 8 kB."""

_MOST_BYTES = 2_000_000
_VERSION = "1"


class LinkError(BpeError, ValueError):
    """A link holds a text that cannot be read."""


def pack_text(text: str) -> str | None:
    """Return the text for a link, or None when it is too long for one.

    >>> unpack_text(pack_text("How many r's?"))
    "How many r's?"
    """
    packed = _VERSION + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return packed if len(packed) <= LONGEST_IN_LINK else None


def unpack_text(packed: str) -> str:
    """Return the text of a link.

    Raises:
        LinkError: the text was cut, changed, made by a newer version, or unfolds to more than 2 MB.
    """
    if packed[:1] != _VERSION:
        raise LinkError("the text in the link was made by another version of this app and cannot be read here")
    try:
        data = base64.b64decode(packed[1:] + "=" * (-len(packed[1:]) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, _MOST_BYTES)
        if unpacker.unconsumed_tail:
            raise LinkError(f"the text in the link unfolds to more than {_MOST_BYTES:,} bytes and was not opened")
        if not unpacker.eof:
            raise LinkError("the text in the link was cut on its way here and cannot be read")
        return text.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise LinkError("the text in the link was changed on its way here and cannot be read") from None
