"""bpe-json: the one format that keeps everything a trained tokenizer of this package is.

One JSON object: `format` and `version`; `base`, `end_of_word`, `split` as in TrainSettings (split: a name of
SPLIT_PATTERNS or the expression); `base_symbols`, the characters in id order, or null for the 256 bytes;
`special_tokens`, text to id; `merges`, pairs of ids in rank order. Merge r makes token `num_base + r`.

Left out: how it was trained (tie rule, stop, counts). That belongs to `Training`, not to the tokenizer.
"""

from __future__ import annotations

import json
from typing import Literal, cast, get_args

from bpe.errors import FormatError, SettingsError
from bpe.formats.parts import add_merge, take_apart
from bpe.formats.reading import Node, parse_json
from bpe.formats.recognise import File, Files
from bpe.pretokenize import compile_split
from bpe.settings import Base, EndOfWord
from bpe.tokenizer import END_OF_WORD, Tokenizer, TokenizerLike

__all__ = ["library", "read", "write"]

VERSION = 1
KEYS = ("format", "version", "base", "end_of_word", "split", "base_symbols", "special_tokens", "merges")


def write(tokenizer: TokenizerLike, name: str) -> dict[str, bytes]:
    """Return the one file of this format.

    Raises:
        FormatError: the tokenizer was not trained here, and its ids are in an order of their own.
    """
    parts = take_apart(tokenizer)
    parts.need_ids_in_order("bpe-json")
    parts.need_known_merges("bpe-json")
    document = {
        "format": "bpe-json",
        "version": VERSION,
        "base": parts.base,
        "end_of_word": parts.end_of_word,
        "split": parts.split,
        "base_symbols": None if parts.base == "bytes" else [parts.names[i].decode() for i in parts.base_ids],
        "special_tokens": dict(parts.special_tokens),
        "merges": [[left, right] for left, right, _token in parts.merges],
    }
    return {name: (json.dumps(document, ensure_ascii=False) + "\n").encode()}


def read(files: Files, split: str | None = None) -> Tokenizer:
    """Return the tokenizer of a bpe-json file; `split` is for formats that do not hold it, and not used here.

    Raises:
        FormatError: the key at fault.
    """
    return _read_document(files["bpe-json"])


def library(files: Files) -> None:
    """There is none: this package is the owner of the format, and reading back is the check."""
    return


def _read_document(file: File) -> Tokenizer:
    document = parse_json(file.data, file.name)
    for key in document.members():
        if key not in KEYS:
            raise FormatError(f"{file.name}: a key must be one of {', '.join(KEYS)}, but is {key!r}")
    version = document.get("version")
    if version.integer() != VERSION:
        raise version.refuse(f"{VERSION}, the version this program knows")

    base = cast(Base, _choice(document.get("base"), Base))
    end_of_word = cast(EndOfWord, _choice(document.get("end_of_word"), EndOfWord))
    if end_of_word != "none" and base != "chars":
        raise document.get("end_of_word").refuse("none where base is bytes")
    split = document.get("split")
    _check_split(split)
    symbols = _read_symbols(document.get("base_symbols"), base, end_of_word)
    merges = _read_merges(document.get("merges"), len(symbols))
    special = document.get("special_tokens")
    special_tokens = special.ids_of_texts()
    for text, token in special_tokens.items():
        if not text:
            raise special.refuse("an object of token texts that are not empty")
        if token < len(symbols) + len(merges):
            raise FormatError(
                f"{file.name}: special_tokens: the id of {text!r} must be at least {len(symbols) + len(merges):,}, "
                f"after base symbols and merges, but is {token:,}"
            )
    return Tokenizer(base, end_of_word, split.text(), symbols, merges, special_tokens)


def _choice(node: Node, values: object) -> str:
    if node.value not in get_args(values):
        raise node.refuse("one of " + ", ".join(get_args(values)))
    return node.text()


def _check_split(node: Node) -> None:
    try:
        compile_split(node.text())
    except SettingsError as error:
        raise FormatError(f"{node.name}: {error}") from None


def _read_symbols(node: Node, base: Base, end_of_word: Literal["none", "separate", "attached"]) -> tuple[bytes, ...]:
    """Return the base symbols: characters in order, each once, the end mark where it belongs."""
    if base == "bytes":
        if node.value is not None:
            raise node.refuse("null where base is bytes")
        return Tokenizer().base_symbols

    symbols = [item.text() for item in node.items()]
    plain = symbols[:]
    marked: list[str] = []
    if end_of_word == "separate" and symbols:
        if plain.pop() != END_OF_WORD:
            raise node.refuse(f"a list that ends with {END_OF_WORD}, as end_of_word is separate")
    elif end_of_word == "attached":
        plain = [symbol for symbol in symbols if len(symbol) == 1]
        marked = [symbol.removesuffix(END_OF_WORD) for symbol in symbols[len(plain) :]]
        if any(symbol.removesuffix(END_OF_WORD) == symbol for symbol in symbols[len(plain) :]):
            raise node.refuse(f"a list of characters, then of characters with {END_OF_WORD}")
    for characters in (plain, marked):
        if any(len(symbol) != 1 for symbol in characters) or characters != sorted(set(characters)):
            raise node.refuse("a list of single characters, each once, in code point order")
    return tuple(symbol.encode() for symbol in symbols)


def _read_merges(node: Node, num_base: int) -> tuple[tuple[int, int], ...]:
    """Return the merges: pairs of ids that exist by then, each pair once."""
    if not isinstance(node.value, list):
        raise node.refuse("a list of pairs of ids")
    place_of: dict[tuple[int, int], str] = {}
    for rank, pair in enumerate(node.value):
        place = Node(pair, node.name, f"{node.path}[{rank}]")
        if not isinstance(pair, list) or len(pair) != 2:
            raise place.refuse("a pair of ids")
        left, right = (item.integer() for item in place.items())
        add_merge((left, right), place.path, place_of, num_base, place.refuse)
    return tuple(place_of)
