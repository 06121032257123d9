"""Published rank tables, packed into this folder, so that real tokenizers need no download.

A rank table maps the bytes of each token to its token id, and the order of the ids is the order of the
merges (tiktoken calls it `mergeable_ranks`). `load_ranks` unpacks a table, writes out the rank file that was
published for it and compares sha256: a table that loads is the published one, to the byte.

Every table is kept once: GPT-2 and r50k share theirs, and p50k is r50k with runs of spaces behind it.

Left out: split patterns and special tokens, which make an encoding out of a table (openai.py, next), and how
the packed files come about (build.py). Sources and licences: README.md in this folder.
"""

from __future__ import annotations

import hashlib
import lzma
from binascii import b2a_base64
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import accumulate, pairwise
from operator import itemgetter
from types import MappingProxyType

from bpe.errors import FormatError, UnknownTokenizerError

__all__ = ["RANK_FILE_SHA256", "compress", "load_ranks", "pack", "rank_file", "token_ids", "unpack"]

RANK_FILE_SHA256: Mapping[str, str] = MappingProxyType(
    {
        "r50k": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        "p50k": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "cl100k": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }
)
"""Table name -> sha256 of the rank file that tiktoken downloads under this name."""


def compress(data: bytes) -> bytes:
    """Pack with xz. Decoding needs a buffer of the dictionary's size: one that holds the data whole, not 64 MiB.

    lc=4 is worth 0.2 % here; the tables are bytes of text without any alignment, hence pb=0.
    """
    dict_size = max(2**21, 1 << (len(data) - 1).bit_length()) if data else 2**21
    filters = [
        {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": dict_size, "lc": 4, "pb": 0},
    ]
    return lzma.compress(data, filters=filters)


def load_ranks(name: str) -> dict[bytes, int]:
    """Return the rank table of that name as a new dict, ids ascending, after checking its sha256.

    Costs about 0.1 s per 100,000 tokens; keep what it returns.

    >>> ranks = load_ranks("r50k")
    >>> len(ranks), ranks[b" strawberry"]
    (50256, 41236)

    Raises: UnknownTokenizerError, FormatError (a packed file was changed).
    """
    if name not in RANK_FILE_SHA256:
        known = ", ".join(RANK_FILE_SHA256)
        raise UnknownTokenizerError(f"A rank table must be one of {known}, but got {name!r}.")

    packed_name = "r50k" if name == "p50k" else name
    packed = resources.files(__package__).joinpath(f"{packed_name}.xz").read_bytes()
    tokens = unpack(packed, f"{packed_name}.xz")
    ranks = dict(zip(tokens, token_ids(len(tokens)), strict=True))
    if name == "p50k":
        ranks.update(_runs_of_spaces())

    sha256 = hashlib.sha256(rank_file(ranks)).hexdigest()
    if sha256 != RANK_FILE_SHA256[name]:
        raise FormatError(
            f"bpe/vocabularies/{packed_name}.xz must give the rank file of {name} with sha256 "
            f"{RANK_FILE_SHA256[name]}, but gives {sha256}. Restore the file, or make it again with "
            "python -m bpe.vocabularies.build."
        )
    return ranks


_token_ids: list[int] = []


def token_ids(num_ids: int) -> list[int]:
    """Return 0, 1, 2, ...: at least so many, the same objects at every call.

    A table has an integer per token. When all nine that this package knows share theirs, that is 38 MB less.

    >>> token_ids(300)[299] is token_ids(400)[299]
    True
    """
    global _token_ids
    if len(_token_ids) < num_ids:
        _token_ids = [*_token_ids, *range(len(_token_ids), num_ids)]
    return _token_ids[:num_ids]


def rank_file(ranks: Mapping[bytes, int]) -> bytes:
    """Write a rank table as it is published: base64 of the token, a space, the id, a line for each.

    >>> rank_file({b"a": 0, b"ab": 1})
    b'YQ== 0\\nYWI= 1\\n'
    """
    rows = sorted(ranks.items(), key=itemgetter(1))
    return b"".join([b"%s %d\n" % (b2a_base64(token, newline=False), token_id) for token, token_id in rows])


def pack(ranks: Mapping[bytes, int]) -> bytes:
    """Pack a rank table whose ids are 0, 1, 2, ...: the ids are left out, the order says them.

    The layout, before xz: one length byte per token, a zero byte, then all tokens behind one another.
    Lengths apart from text compress 2-4 % better than lengths between the tokens.

    Raises: FormatError.
    """
    if sorted(ranks.values()) != list(range(len(ranks))):
        raise FormatError("A table to pack must have the ids 0, 1, 2, ... without gap; this one has others.")
    tokens = sorted(ranks, key=ranks.__getitem__)
    lengths = [len(token) for token in tokens]
    if not all(1 <= length <= 255 for length in lengths):
        raise FormatError(f"A token to pack must have 1 to 255 bytes; here they have {min(lengths)} to {max(lengths)}.")
    return compress(bytes(lengths) + b"\0" + b"".join(tokens))


def unpack(packed: bytes, file_name: str = "the packed table") -> list[bytes]:
    """Return the tokens of a packed table, in order of their ids.

    >>> unpack(pack({b"a": 0, b"ab": 1}))
    [b'a', b'ab']

    Raises: FormatError.
    """
    try:
        lengths, separator, text = lzma.decompress(packed).partition(b"\0")
    except lzma.LZMAError as error:
        raise FormatError(f"{file_name} must be an xz file, but: {error}. Restore the file.") from error
    if not separator or sum(lengths) != len(text):
        raise FormatError(
            f"{file_name} must hold the length of each token, a zero byte and then the tokens, but its lengths "
            f"add up to {sum(lengths):,} bytes and {len(text):,} follow. Restore the file."
        )
    return [text[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]


def _runs_of_spaces() -> Iterator[tuple[bytes, int]]:
    """Yield what p50k adds to r50k for code: 2 to 25 spaces. Id 50256 stays free for <|endoftext|>."""
    for num_spaces in range(2, 26):
        yield b" " * num_spaces, 50257 + num_spaces - 2
