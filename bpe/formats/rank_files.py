"""tiktoken rank files: a line is the base64 of a token, a space, its rank, which is its token id too.

Such a file says neither how text is split nor which special tokens there are; tiktoken has them in code. So a
second file goes along, `<name>.json`, with just what `tiktoken.Encoding` takes besides the ranks:

    ranks = tiktoken.load.load_tiktoken_bpe("my.tiktoken")
    encoding = tiktoken.Encoding(mergeable_ranks=ranks, **json.load(open("my.tiktoken.json")))

A published table is known by its hash and needs no second file: OpenAI's, Llama 3's tokenizer.model, Qwen's
qwen.tiktoken. For any other one the reader must say the split pattern: a wrong guess would give wrong ids without a
word.

Source: github.com/openai/tiktoken, tiktoken/load.py.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import tiktoken

from bpe.errors import FormatError, SettingsError
from bpe.formats.parts import covering_pattern, split_of_pattern, take_apart
from bpe.formats.reading import decode_lines, parse_json, quote
from bpe.formats.recognise import File, Files
from bpe.pretokenize import SPLIT_PATTERNS, compile_split
from bpe.rank_tokenizer import RankTokenizer
from bpe.tokenizer import TokenizerLike
from bpe.vocabularies import RANK_FILE_SHA256, rank_file
from bpe.vocabularies.openai import OPENAI_ENCODINGS
from bpe.vocabularies.packaged import PACKAGED_RANKS

__all__ = ["is_published", "library", "read", "read_ranks", "settings_file", "settings_name", "write"]

EVERYTHING = r"[\s\S]+"
"""The split pattern `none`, for a library that wants one: the whole text is one match."""


def settings_name(name: str) -> str:
    """Return the name of the second file."""
    return f"{name}.json"


def settings_file(name: str, split: str) -> dict[str, bytes]:
    """Return the second file of a rank file that came alone, once somebody has said its split pattern.

    >>> print(settings_file("my.tiktoken", "[a-z]")["my.tiktoken.json"].decode().strip())
    {"pat_str": "(?:[a-z])|(?:(?!(?:[a-z]))[\\\\s\\\\S])+", "special_tokens": {}}

    Raises:
        FormatError, SettingsError: the expression does not compile, or tiktoken does not take its kind.
    """
    settings = {"pat_str": covering_pattern(split, "tiktoken") or EVERYTHING, "special_tokens": {}}
    return {settings_name(name): (json.dumps(settings) + "\n").encode()}


def is_published(data: bytes) -> bool:
    """Tell whether a rank file is a published one, of which the split pattern is known."""
    return _published(data) is not None


def write(tokenizer: TokenizerLike, name: str) -> dict[str, bytes]:
    """Return the rank file and its settings.

    Raises:
        FormatError: a character base, two tokens of equal bytes, or merges that a rank table does otherwise.
    """
    parts = take_apart(tokenizer)
    parts.need_plain_bytes("a tiktoken rank file")
    parts.need_distinct_names("a tiktoken rank file")
    if not isinstance(tokenizer, RankTokenizer):
        parts.need_rank_order("a tiktoken rank file")
    _need_prefix_free(parts.special_tokens)
    num_ids = len(parts.names) + len(parts.special_tokens)
    settings: dict[str, object] = {
        "name": name.removesuffix(".tiktoken"),
        "pat_str": covering_pattern(parts.split, "tiktoken") or EVERYTHING,
        "special_tokens": dict(parts.special_tokens),
    }
    if max([*parts.names, *parts.special_tokens.values()]) == num_ids - 1:
        settings["explicit_n_vocab"] = num_ids  # tiktoken checks it, and so notices a table that was cut
    return {
        name: rank_file({token: token_id for token_id, token in parts.names.items()}),
        settings_name(name): (json.dumps(settings, ensure_ascii=False, indent=1) + "\n").encode(),
    }


def _need_prefix_free(special_tokens: Mapping[str, int]) -> None:
    """Refuse a special token that begins with another one: which of the two tiktoken finds is left to chance."""
    for shorter, longer in pairwise(sorted(special_tokens)):
        if longer.startswith(shorter):
            raise FormatError(
                f"tiktoken takes special tokens of which none begins with another, but {quote(longer)} begins with "
                f"{quote(shorter)}; choose tokenizer-json"
            )


def read(files: Files, split: str | None = None) -> RankTokenizer:
    """Return the tokenizer of a rank file: with its second file, with `split`, or of a published table.

    Raises:
        FormatError: the line or key at fault; or nothing says the split pattern.
    """
    file = files["ranks"]
    if "ranks-settings" in files:
        settings = _read_settings(files["ranks-settings"])
        return _build(file, settings.split if split is None else split, settings)

    published = _published(file.data)
    if split is not None:
        special_tokens = {} if published is None else published.special_tokens
        return _build(file, split, _Settings(file.name, split, special_tokens))
    if published is not None:
        return _build(file, published.split, published)
    raise FormatError(
        f"{file.name}: a rank file does not hold its split pattern; give {settings_name(file.name)} along with it, "
        f"or say the pattern: split = {', '.join(SPLIT_PATTERNS)} or a regular expression"
    )


def library(files: Files) -> Callable[[str, bool], list[int]]:
    """Return what tiktoken makes of the files."""
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in files["ranks"].data.splitlines() if line)
    }
    settings = json.loads(files["ranks-settings"].data)
    try:
        encoding = tiktoken.Encoding(mergeable_ranks=ranks, **settings)
    except (ValueError, KeyError, AssertionError) as error:
        raise FormatError(f"tiktoken does not take the split pattern {quote(settings['pat_str'])}: {error}") from None

    def encode(text: str, special: bool) -> list[int]:
        return encoding.encode(text, allowed_special="all" if special else set(), disallowed_special=())

    return encode


# ---------------------------------------------------------------------- reading


@dataclass(frozen=True)
class _Settings:
    """What the second file says, or what is known of a published table.

    num_ids     ranks and special tokens together, if the file says how many there must be
    vocab_size  of a published table, where more ids belong to it than stand in the file
    """

    name: str
    split: str
    special_tokens: Mapping[str, int]
    num_ids: int | None = None
    normalizer: Literal["none", "NFC"] = "none"
    vocab_size: int = 0
    is_published: bool = False


def _read_settings(file: File) -> _Settings:
    document = parse_json(file.data, file.name)
    pattern = document.get("pat_str").text()
    name = document.find("name")
    num_ids = document.find("explicit_n_vocab")
    return _Settings(
        name=file.name if name.value is None else name.text(),
        split="none" if pattern == EVERYTHING else split_of_pattern(pattern),
        special_tokens=document.get("special_tokens").ids_of_texts(),
        num_ids=None if num_ids.value is None else num_ids.integer(),
    )


def _published(data: bytes) -> _Settings | None:
    """Return what is known of a rank file that was published; nothing of its name counts, only its bytes."""
    sha256 = hashlib.sha256(data).hexdigest()
    for found in OPENAI_ENCODINGS:
        if RANK_FILE_SHA256[found.ranks] == sha256:
            return _Settings(found.name, found.split, found.special_tokens, is_published=True)
    for table in PACKAGED_RANKS:
        if table.sha256 == sha256:
            return _Settings(
                name=table.name,
                split=table.split,
                special_tokens=table.special_tokens,
                normalizer=table.normalizer,
                vocab_size=table.vocab_size,
                is_published=True,
            )
    return None


def _build(file: File, split: str, settings: _Settings) -> RankTokenizer:
    ranks = read_ranks(file, frozenset(settings.special_tokens.values()))
    taken = {token_id: token for token, token_id in ranks.items()}
    for text, token_id in settings.special_tokens.items():
        if token_id in taken:
            raise FormatError(
                f"{file.name}: special token {quote(text)} must have an id of its own, "
                f"but rank {token_id:,} is {quote(taken[token_id])}"
            )
        if not text:
            raise FormatError(f"{file.name}: a special token must not be empty, but the one of id {token_id:,} is")
    if settings.num_ids is not None and settings.num_ids != len(ranks) + len(settings.special_tokens):
        raise FormatError(
            f"{file.name} must hold {settings.num_ids - len(settings.special_tokens):,} ranks, as its settings say, "
            f"but holds {len(ranks):,}; the file may be cut"
        )
    try:
        compile_split(split)
        # tiktoken would drop what an own pattern does not match; published ones match everything.
        is_whole = split in SPLIT_PATTERNS or settings.is_published
        return RankTokenizer(
            settings.name,
            ranks,
            split if is_whole else covering_pattern(split, "tiktoken"),
            settings.special_tokens,
            normalizer=settings.normalizer,
            vocab_size=settings.vocab_size,
        )
    except (SettingsError, ValueError) as error:
        raise FormatError(f"{file.name}: the split pattern {quote(split)} cannot be used: {error}") from None


_LINE = re.compile(r"([A-Za-z0-9+/]+={0,2}) (0|[1-9][0-9]{0,9})")


def read_ranks(file: File, special_ids: frozenset[int] = frozenset()) -> dict[bytes, int]:
    """Return the rank table of a file: ranks rise by one a line, from 0; an id of a special token may be left out.

    Raises:
        FormatError: the line at fault.

    >>> read_ranks(File("cut.tiktoken", b"YQ== 0\\nYg== 1\\nY"))
    Traceback (most recent call last):
        ...
    bpe.errors.FormatError: cut.tiktoken: line 3 must be base64, a space and a rank, but is 'Y';
        the file may be cut or of another kind
    """
    ranks: dict[bytes, int] = {}
    expected = 0
    published = _published(file.data)
    may_skip = special_ids if published is None else special_ids | set(published.special_tokens.values())
    for number, line in decode_lines(file.data, file.name):
        found = _LINE.fullmatch(line)
        if found is None:
            raise FormatError(
                f"{file.name}: line {number:,} must be base64, a space and a rank, but is {quote(line)}; "
                "the file may be cut or of another kind"
            )
        try:
            token = base64.b64decode(found[1], validate=True)
        except binascii.Error as error:
            raise FormatError(
                f"{file.name}: line {number:,} must start with base64, but {quote(found[1])} is not: {error}"
            ) from None
        if token in ranks:
            raise FormatError(
                f"{file.name}: line {number:,}: a token must stand once, "
                f"but {quote(token)} has rank {ranks[token]:,} already"
            )
        rank = int(found[2])
        while expected in may_skip and rank > expected:
            expected += 1
        if rank != expected:
            raise FormatError(
                f"{file.name}: line {number:,}: the rank must be {expected:,}, one more than the line before, "
                f"but is {rank:,}; a line may be missing or stand twice"
            )
        ranks[token] = rank
        expected = rank + 1
    for byte in range(256):
        if bytes([byte]) not in ranks:
            raise FormatError(
                f"{file.name} must hold all 256 single bytes, but ends at line {len(ranks):,} "
                f"without byte 0x{byte:02X}; the file may be cut"
            )
    return ranks
