"""minbpe .model files: plain text with the split pattern, special tokens and merges as pairs of ids.

    minbpe v1
    <split pattern, empty for none>
    <number of special tokens>
    <text> <id>             one line each
    <left id> <right id>    one line each, in rank order; the merge of rank r makes token 256 + r

minbpe has no package, so the check reads the file as minbpe does and encodes by the textbook loop. Reading here
is stricter than there: what minbpe skips or lets pass is refused. minbpe drops text that its pattern does not
match; this package never drops text.

Source: github.com/karpathy/minbpe, minbpe/base.py and minbpe/regex.py. Its `RegexTokenizer` must be built with
the same pattern before it loads a file: it reads the pattern, but goes on with the one it was built with.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import regex

from bpe.encoder import encode_reference
from bpe.errors import FormatError, SettingsError
from bpe.formats.parts import add_merge, covering_pattern, split_of_pattern, take_apart
from bpe.formats.reading import decode_lines, quote
from bpe.formats.recognise import File, Files
from bpe.pretokenize import compile_split
from bpe.tokenizer import Tokenizer, TokenizerLike

__all__ = ["library", "read", "write"]

HEADER = "minbpe v1"


def write(tokenizer: TokenizerLike, name: str) -> dict[str, bytes]:
    """Return the .model file.

    Raises:
        FormatError: a character base, ids of its own, a split pattern or special token that a line cannot hold.
    """
    parts = take_apart(tokenizer)
    parts.need_plain_bytes("a minbpe model")
    parts.need_ids_in_order("a minbpe model")
    pattern = covering_pattern(parts.split, "minbpe")
    if pattern.strip() != pattern or len(pattern.splitlines()) > 1:
        raise FormatError(
            f"a minbpe model holds the split pattern on one line, without space around it, but it is {quote(pattern)}; "
            r"write \n for a line break, or choose bpe-json"
        )
    for text in parts.special_tokens:
        if len(text.split()) != 1 or text.split() != [text]:
            raise FormatError(
                f"a minbpe model holds special tokens without white space, but one is {quote(text)}; choose bpe-json"
            )
    lines = [HEADER, pattern, str(len(parts.special_tokens))]
    # minbpe tries them in this order; where one begins with another, the longer one must come first.
    for text in sorted(parts.special_tokens, key=len, reverse=True):
        lines.append(f"{text} {parts.special_tokens[text]}")
    lines += [f"{left} {right}" for left, right, _token in parts.merges]
    return {name: ("\n".join(lines) + "\n").encode()}


def read(files: Files, split: str | None = None) -> Tokenizer:
    """Return the tokenizer of a .model file; `split` is for formats that do not hold it, and not used here.

    Raises:
        FormatError: the line at fault.
    """
    file = files["minbpe"]
    lines = list(decode_lines(file.data, file.name))
    if lines[0][1].strip() != HEADER:
        raise _refuse(file, *lines[0], f"{HEADER!r}, the only version there is")
    if len(lines) < 3:
        raise FormatError(f"{file.name} must go on with pattern and special tokens, but ends at line {len(lines)}")

    pattern = lines[1][1].strip()
    own_name = split_of_pattern(pattern)
    try:
        compile_split(own_name)
    except SettingsError as error:
        raise FormatError(f"{file.name}: line 2: {error}") from None
    if not re.fullmatch(r"[0-9]{1,6}", lines[2][1].strip()):
        raise _refuse(file, *lines[2], "the number of special tokens")
    num_special = int(lines[2][1])
    if len(lines) < 3 + num_special:
        raise FormatError(
            f"{file.name} must hold {num_special:,} special tokens, but ends at line {len(lines):,}; it may be cut"
        )

    merges = _read_merges(file, lines[3 + num_special :])
    special_tokens: dict[str, int] = {}
    for number, line in lines[3 : 3 + num_special]:
        found = re.fullmatch(r"(\S+) ([0-9]{1,9})", line.strip())
        if found is None:
            raise _refuse(file, number, line, "a special token, a space and its id")
        text, token = found[1], int(found[2])
        if text in special_tokens or token in special_tokens.values():
            raise _refuse(file, number, line, "a special token with a text and an id of its own")
        if token < 256 + len(merges):
            raise _refuse(file, number, line, f"a special token with an id of at least {256 + len(merges):,}")
        special_tokens[text] = token
    return Tokenizer(split=own_name, merges=merges, special_tokens=special_tokens)


def _read_merges(file: File, lines: list[tuple[int, str]]) -> tuple[tuple[int, int], ...]:
    place_of: dict[tuple[int, int], str] = {}
    for number, line in lines:
        found = re.fullmatch(r"([0-9]{1,9}) ([0-9]{1,9})", line.strip())
        if found is None:
            raise _refuse(file, number, line, "two token ids")
        pair = (int(found[1]), int(found[2]))
        add_merge(pair, f"line {number:,}", place_of, 256, partial(_refuse, file, number, line))
    return tuple(place_of)


def _refuse(file: File, number: int, line: str, must: str) -> FormatError:
    return FormatError(f"{file.name}: line {number:,} must be {must}, but is {quote(line)}; the file may be cut")


def library(files: Files) -> Callable[[str, bool], list[int]]:
    """Return what minbpe makes of the file: its way of reading, its way of encoding."""
    lines = files["minbpe"].data.decode().split("\n")[:-1]
    pattern = lines[1].strip()
    num_special = int(lines[2])
    special_tokens = {}
    for line in lines[3 : 3 + num_special]:
        text, token = line.split()
        special_tokens[text] = int(token)
    ranks = {}
    for rank, line in enumerate(lines[3 + num_special :]):
        left, right = line.split()
        ranks[int(left), int(right)] = rank

    def encode(text: str, special: bool) -> list[int]:
        stretches = [text]
        if special and special_tokens:
            stretches = regex.split("(" + "|".join(map(regex.escape, special_tokens)) + ")", text)
        ids: list[int] = []
        for stretch in stretches:
            if special and stretch in special_tokens:
                ids.append(special_tokens[stretch])
                continue
            chunks = regex.findall(pattern, stretch) if pattern else [stretch]
            for chunk in chunks:
                ids += encode_reference(list(chunk.encode()), ranks, 256)
        return ids

    return encode
