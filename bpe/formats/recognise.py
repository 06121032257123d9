"""Which file is this? Told by what it holds, never by its name.

A format may be spread over two files (vocab.json and merges.txt; a rank file and its settings), so each file is
recognised as one *part*, and the parts together are a format. Files of neighbours that this package does not
read are recognised too, so that the refusal can say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from bpe.errors import FormatError
from bpe.formats.reading import check_size, parse_json

__all__ = ["File", "FilePart", "Files", "FormatName", "format_of", "recognise_files"]

FormatName = Literal["bpe-json", "tiktoken", "tokenizer-json", "vocab-merges", "minbpe", "sentencepiece", "vocab-txt"]
FilePart = Literal[
    "bpe-json",
    "ranks",
    "ranks-settings",
    "tokenizer-json",
    "vocab",
    "merges",
    "minbpe",
    "sentencepiece",
    "vocab-txt",
]


class File(NamedTuple):
    """A file in memory."""

    name: str
    data: bytes


Files = Mapping[FilePart, File]

_FORMAT_OF_PARTS: dict[frozenset[FilePart], FormatName] = {
    frozenset({"bpe-json"}): "bpe-json",
    frozenset({"ranks"}): "tiktoken",
    frozenset({"ranks", "ranks-settings"}): "tiktoken",
    frozenset({"tokenizer-json"}): "tokenizer-json",
    frozenset({"vocab", "merges"}): "vocab-merges",
    frozenset({"minbpe"}): "minbpe",
    frozenset({"sentencepiece"}): "sentencepiece",
    frozenset({"vocab-txt"}): "vocab-txt",
}

READABLE = (
    "bpe-json, tiktoken rank files, tokenizer.json, vocab.json with merges.txt, minbpe .model, "
    "sentencepiece .model, vocab.txt of BERT"
)

# The first piece, as protobuf writes it: a text and, behind tag 0x15, a score.
_SENTENCEPIECE = re.compile(rb"\x0a[\s\S]{1,3}?\x0a[\s\S]{0,24}\x15")

# A WordPiece vocabulary is a list of tokens; the one for unknown words says that it is one.
_UNKNOWN_LINE = re.compile(rb"^\[UNK\]\r?$", re.MULTILINE)

# What a file starts with -> what it is and what to do. The first that fits.
_NEIGHBOURS: tuple[tuple[bytes, str], ...] = (
    (rb"\x1f\x8b|BZh|\xfd7zXZ|PK\x03\x04|7z\xbc\xaf|\x28\xb5\x2f\xfd", "is compressed; unpack it first"),
    (rb"GGUF", "is a GGUF model; take the tokenizer.json of the same model"),
    (rb"version https://git-lfs", "is a pointer of Git LFS, not the file itself; download the file it points to"),
    (rb"\x80[\x02-\x05]", "is a Python pickle, which could run code; take the tokenizer.json of the same model"),
    (rb"(?i)\s*<(!doctype|html)", "is a web page; download the file itself ('raw')"),
    (rb"[^\s]+ [^\s]+ \d+\r?\n", "is a list of merges with counts (fastBPE), a kind that is not read yet"),
)


def recognise_files(files: Mapping[str, bytes]) -> dict[FilePart, File]:
    """Return the files by what they are.

    Raises:
        FormatError: a file is of no kind that is read here, or two are of the same kind.
    """
    if not files:
        raise FormatError("a tokenizer must come from at least one file, but none was given")
    parts: dict[FilePart, File] = {}
    for name, data in files.items():
        check_size(len(data), name)
        part = _part_of(name, data)
        if part in parts:
            raise FormatError(
                f"a tokenizer must have one file of each kind, but {parts[part].name} and {name} are the same kind"
            )
        parts[part] = File(name, data)
    return parts


def format_of(parts: Files) -> FormatName:
    """Return the format that these files together are.

    Raises:
        FormatError: they do not belong together, or one is missing.
    """
    format = _FORMAT_OF_PARTS.get(frozenset(parts))
    if format is not None:
        return format
    missing = {"vocab": "merges.txt", "merges": "vocab.json", "ranks-settings": "rank file"}
    if len(parts) == 1:
        part, file = next(iter(parts.items()))
        raise FormatError(f"{file.name} is one file of two; give the {missing[part]} that belongs to it as well")
    names = " and ".join(file.name for file in parts.values())
    raise FormatError(f"files must belong to one tokenizer, but {names} are parts of different formats")


def _part_of(name: str, data: bytes) -> FilePart:
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise FormatError(f"{name} must hold a tokenizer, but is empty ({len(data):,} bytes)")
    if _SENTENCEPIECE.match(data):  # first, and on the data: its first byte is a line feed, which `head` lost
        return "sentencepiece"
    if head.startswith(b"{"):
        return _part_of_json(name, data)
    if head.startswith(b"minbpe"):
        return "minbpe"
    if head.startswith(b"#version"):
        return "merges"
    # Two lines that end in a number, or one that starts with base64: a damaged rank file is still a rank file.
    if re.match(rb"[A-Za-z0-9+/]+=* \d+\r?(\n|$)|(\S+ \d+\r?\n){2}", head):
        return "ranks"
    for pattern, sentence in _NEIGHBOURS:
        if re.match(pattern, data[:4096]):
            raise FormatError(f"{name} {sentence}")
    if _UNKNOWN_LINE.search(data):
        return "vocab-txt"
    first_line = head.split(b"\n", 1)[0]
    if b"\n" in head and re.fullmatch(rb"[^\s\x00-\x1f]+ [^\s\x00-\x1f]+\r?", first_line):
        return "merges"
    raise FormatError(f"{name} must be one of {READABLE}, but starts with {bytes(head[:24])!r}")


def _part_of_json(name: str, data: bytes) -> FilePart:
    document = parse_json(data, name)
    members = document.members()
    # First, for a vocabulary may hold any text as a key: GPT-2's has `model` and `format`.
    if members and all(isinstance(value, int) for value in members.values()):
        return "vocab"
    if "format" in members and members["format"] == "bpe-json":
        return "bpe-json"
    if "model" in members:
        return "tokenizer-json"
    if "pat_str" in members:
        return "ranks-settings"
    if "tokenizer_class" in members:
        raise FormatError(f"{name} is a tokenizer_config.json, which holds no tokens; choose tokenizer.json")
    keys = ", ".join(list(members)[:5]) or "none"
    raise FormatError(f"{name} must be one of {READABLE}, but is JSON with the keys {keys}")
