"""Reading other people's files with suspicion: sizes, UTF-8, JSON values that know where they stand.

Every refusal is a FormatError that names the file and the line or key at fault. What the values mean is left to
the module of each format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from bpe.errors import FormatError

__all__ = ["MAX_BYTES", "Node", "check_size", "decode_lines", "decode_utf8", "is_unicode", "parse_json", "quote"]

MAX_BYTES = 100_000_000
"""Largest tokenizer file that is read. The largest published ones (262,144 tokens) have about 35 million."""


def check_size(num_bytes: int, name: str) -> None:
    """Refuse a file that is too large to be a tokenizer."""
    if num_bytes > MAX_BYTES:
        raise FormatError(
            f"{name}: a tokenizer file must have at most {MAX_BYTES:,} bytes, but this one has {num_bytes:,}; "
            "choose the tokenizer's file, not the model's weights"
        )


def decode_utf8(data: bytes, name: str) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        FormatError: the first byte that is not UTF-8, by offset and line.
    """
    check_size(len(data), name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from behind the mark, if there is one.
        at = error.start + len(data) - len(error.object)
        line = data.count(b"\n", 0, at) + 1
        raise FormatError(
            f"{name} must be UTF-8, but byte 0x{data[at]:02X} at offset {at:,} (line {line:,}) is not; "
            "get the file again, byte for byte"
        ) from None


def decode_lines(data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of a text file; what follows the last line break counts if not empty.

    Only a line feed ends a line (a carriage return before it goes too): tokens may hold U+0085 or U+2028.
    """
    lines = decode_utf8(data, name).split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix("\r")


def quote(text: object, limit: int = 40) -> str:
    """Return a value as a message shows it: repr, shortened."""
    shown = repr(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class Node:
    """A JSON value together with its place, so that a message can say `tokenizer.json: model.vocab must be ...`."""

    def __init__(self, value: object, name: str, path: str = "") -> None:
        self.value = value
        self.name = name
        self.path = path

    def refuse(self, must: str) -> FormatError:
        """Return the error that says what this value must be, and what it is."""
        what = self.path or "the file"
        return FormatError(f"{self.name}: {what} must be {must}, but is {quote(self.value)}")

    def find(self, key: str) -> Node:
        """Return a member of this object; one that is missing is null."""
        return Node(self.members().get(key), self.name, f"{self.path}.{key}" if self.path else key)

    def get(self, key: str) -> Node:
        """Return a member of this object that must be there."""
        found = self.find(key)
        if key not in self.members():
            raise FormatError(f"{self.name}: the key {found.path} must be there, but is missing; the file may be cut")
        return found

    def members(self) -> dict[str, object]:
        """Return this object as a dict."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object")
        return self.value

    def items(self) -> list[Node]:
        """Return the values of this list."""
        if not isinstance(self.value, list):
            raise self.refuse("a list")
        return [Node(value, self.name, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        """Return this string; one with half a surrogate pair could not be written as UTF-8 and is refused."""
        if not isinstance(self.value, str):
            raise self.refuse("a string")
        if not is_unicode(self.value):
            raise self.refuse("text without lone surrogates")
        return self.value

    def integer(self) -> int:
        """Return this whole number of at least 0, and below 2^31 as every token id and merge rank."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not 0 <= self.value < 2**31:
            raise self.refuse("a whole number from 0 to 2,147,483,647")
        return self.value

    def flag(self, default: bool = False) -> bool:
        """Return this true or false; `default` for null."""
        if self.value is None:
            return default
        if not isinstance(self.value, bool):
            raise self.refuse("true or false")
        return self.value

    def ids_of_texts(self) -> dict[str, int]:
        """Return this object of text -> id; no two texts may have one id.

        Checked without a Node per entry: a vocabulary has up to 262,144 of them.
        """
        texts: dict[int, str] = {}
        members = self.members()
        for text, token in members.items():
            if not isinstance(token, int) or isinstance(token, bool) or not 0 <= token < 2**31:
                raise FormatError(
                    f"{self.name}: {self.path or 'the file'}: the id of {quote(text)} must be a whole number "
                    f"from 0 on, but is {quote(token)}"
                )
            if not is_unicode(text):
                raise FormatError(f"{self.name}: {self.path or 'the file'}: {quote(text)} holds a lone surrogate")
            if token in texts:
                raise FormatError(
                    f"{self.name}: {self.path or 'the file'}: id {token:,} must belong to one token, "
                    f"but {quote(texts[token])} and {quote(text)} both have it"
                )
            texts[token] = text
        return {text: token for token, text in texts.items()}


def is_unicode(text: str) -> bool:
    """Tell whether a text can be written as UTF-8: it holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_json(data: bytes, name: str) -> Node:
    """Return a JSON file as a Node. A key that stands twice in an object is refused: one of the two would be lost.

    Raises:
        FormatError: with the line and column where the file stops being JSON.

    >>> parse_json(b'{"a": {"b": 1}}', "x.json").get("a").get("b").integer()
    1
    >>> parse_json(b'{"a": ', "x.json")
    Traceback (most recent call last):
        ...
    bpe.errors.FormatError: x.json must be JSON, but is not from line 1, column 7 on (Expecting value);
        the file may be cut
    """

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise FormatError(f"{name}: the key {quote(double)} must stand once in its object, but stands twice")
        return members

    text = decode_utf8(data, name)
    try:
        return Node(json.loads(text, object_pairs_hook=unique), name)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{name} must be JSON, but is not from line {error.lineno:,}, column {error.colno:,} on ({error.msg}); "
            "the file may be cut"
        ) from None
    except RecursionError:
        raise FormatError(f"{name} must be a tokenizer, but its JSON is nested too deeply to be one") from None
    except FormatError:
        raise
    except ValueError as error:
        # A number of thousands of digits, which Python refuses to convert.
        raise FormatError(f"{name} must be JSON of a tokenizer, but cannot be read: {error}") from None
