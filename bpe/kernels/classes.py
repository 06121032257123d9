"""Classes of characters, one byte a code point: what the scanners look up.

Unicode grows, and engines differ in how far they follow. A table here is made from the engine that it must equal:
`regex`, which the twins split with, or `tiktoken`, whose ids the encoder gives. The tables that were current
when the kernels were built are shipped, packed; for another version of an engine they are made on the spot.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray

__all__ = ["PACKED_TABLES", "ClassSource", "class_table", "make_table", "pack_tables", "splits_alike"]

ClassSource = Literal["regex", "tiktoken"]

PACKED_TABLES = Path(__file__).parent / "built" / "classes.bin"

# Class numbers as in source/scan.py.
_LETTERS = ((1, r"\p{L}"), (2, r"\p{N}"), (3, r"\s"))
_CASES = ((1, r"\p{Ll}"), (6, r"[\p{Lu}\p{Lt}]"), (7, r"[\p{Lm}\p{Lo}]"), (8, r"\p{M}"), (2, r"\p{N}"), (3, r"\s"))
_NEWLINE = 4
_BLANK = 5


@lru_cache(maxsize=4)
def class_table(source: ClassSource, with_cases: bool) -> NDArray[np.uint8]:
    """Return uint8[0x110000]: the class of each code point, as an engine sees it.

    with_cases   tell letters apart, and marks from other characters, as o200k needs

    >>> class_table("regex", False)[ord("a")], class_table("regex", True)[ord("A")]
    (np.uint8(1), np.uint8(6))
    """
    packed = _packed_tables().get(f"{source} {_version(source)} {with_cases}")
    if packed is None:
        return make_table(source, with_cases)
    lengths = np.array(packed[0::2], dtype=np.int64)
    return np.repeat(np.array(packed[1::2], dtype=np.uint8), lengths)


def splits_alike(text: str, *, with_cases: bool) -> bool:
    """Tell whether a text holds only characters of the same class for `regex` and tiktoken: they split it alike.

    >>> splits_alike("Any naïve text", with_cases=True)
    True
    """
    if text.isascii():
        return True
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    return not _differing(with_cases)[codes].any()


@lru_cache(maxsize=2)
def _differing(with_cases: bool) -> NDArray[np.bool_]:
    differing: NDArray[np.bool_] = class_table("regex", with_cases) != class_table("tiktoken", with_cases)
    return differing


def make_table(source: ClassSource, with_cases: bool) -> NDArray[np.uint8]:
    """Ask the engine about every character. Takes a tenth of a second for regex, half a second for tiktoken."""
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    matches = _regex_matches if source == "regex" else _tiktoken_matches
    table = np.zeros(0x110000, dtype=np.uint8)
    for number, pattern in _CASES if with_cases else _LETTERS:
        found = matches(pattern + "+")(every)
        table[np.frombuffer(found.encode("utf-32-le"), dtype=np.uint32)] = number
    table[[10, 13]] = _NEWLINE
    table[32] = _BLANK
    return table


def pack_tables() -> bytes:
    """Return all tables as run lengths, for the build."""
    packed: dict[str, list[int]] = {}
    for source in ("regex", "tiktoken"):
        for with_cases in (False, True):
            table = make_table(source, with_cases)
            at = np.concatenate(([0], np.flatnonzero(np.diff(table)) + 1, [len(table)]))
            runs = np.column_stack((np.diff(at), table[at[:-1]])).ravel()
            packed[f"{source} {_version(source)} {with_cases}"] = runs.tolist()
    return zlib.compress(json.dumps(packed).encode(), 9)


@lru_cache(maxsize=1)
def _packed_tables() -> dict[str, list[int]]:
    try:
        data = PACKED_TABLES.read_bytes()
    except OSError:
        return {}
    tables: dict[str, list[int]] = json.loads(zlib.decompress(data))
    return tables


def _version(source: ClassSource) -> str:
    if source == "regex":
        return str(regex.__version__)
    import tiktoken

    return str(tiktoken.__version__)


def _regex_matches(pattern: str) -> Callable[[str], str]:
    compiled = regex.compile(pattern)
    return lambda text: "".join(compiled.findall(text))


def _tiktoken_matches(pattern: str) -> Callable[[str], str]:
    """tiktoken drops what its pattern does not match; with single bytes as tokens, the rest comes out."""
    import tiktoken

    single_bytes = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("classes", pat_str=pattern, mergeable_ranks=single_bytes, special_tokens={})

    def matches(text: str) -> str:
        blocks = (text[start : start + 4096] for start in range(0, len(text), 4096))
        return b"".join(bytes(encoding.encode_ordinary(block)) for block in blocks).decode()

    return matches
