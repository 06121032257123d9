"""A vocabulary as columns: every token with its id, bytes, text, length, script and kind; searching in it.

Columns, because a vocabulary has up to 262,144 rows: a search or a filter is one pass over a column, and a
histogram is one `bincount`. `list_vocabulary` makes them from any tokenizer, `find_tokens` returns row numbers.

It leaves out what a token is made of (merge_tree.py) and whether its own text leads to it (reachability.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.errors import SettingsError, TokenIdError
from bpe.tokenizer import TokenizerLike

__all__ = [
    "MIXED",
    "NO_SCRIPT",
    "NO_TEXT",
    "SCRIPTS",
    "Order",
    "SearchBy",
    "TokenFilter",
    "TokenKind",
    "Vocabulary",
    "count_lengths",
    "count_scripts",
    "find_tokens",
    "list_vocabulary",
]

NO_SCRIPT, MIXED, NO_TEXT = "no letters", "several scripts", "part of a character"
"""In place of a script: only signs, digits and blanks; letters of more than one; bytes that are no text."""

# Unicode scripts in the order of the code charts; rarer ones count as `Other`. The first three are no scripts.
SCRIPTS = (
    NO_SCRIPT,
    MIXED,
    NO_TEXT,
    *(  # noqa: SIM905 - one script a line would be fifty lines
        "Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Nko Devanagari Bengali Gurmukhi Gujarati Oriya "
        "Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee "
        "Canadian_Aboriginal Ogham Runic Tagalog Khmer Mongolian Balinese Sundanese Ol_Chiki Tifinagh Coptic "
        "Glagolitic Hiragana Katakana Bopomofo Han Yi Vai Javanese Meetei_Mayek Gothic Deseret Cuneiform "
        "Egyptian_Hieroglyphs Braille"
    ).split(),
    "Other",
)
"""What `Vocabulary.scripts` counts in."""

_FIRST_SCRIPT = SCRIPTS.index("Latin")
_OTHER = len(SCRIPTS) - 1
_NEUTRAL = 255  # a character that belongs to no script: blanks, digits, signs, and marks that take any letter
_SEARCH_SECONDS = 2.0
_SEARCHED_AT_ONCE = 16
_CODE_POINTS = 0x110000


class TokenKind(IntFlag):
    """What a token is, as bits: a token can be of several kinds."""

    SPECIAL = 1
    """It stands for no text; `<|endoftext|>` and its like."""
    PARTIAL = 2
    """Its bytes are not whole characters."""
    BASE = 4
    """A base symbol of a tokenizer with merges: none makes it."""
    LEADING_SPACE = 8
    """It begins with a space and goes on."""
    BLANK = 16
    """Only white space."""
    DIGITS = 32
    """It holds a decimal digit, of any script."""


NO_KIND = TokenKind(0)
SearchBy = Literal["text", "regex", "hex", "id"]
Order = Literal["id", "longest", "shortest", "text"]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All tokens of a tokenizer, one row a token in use, in order of id. Nobody changes it.

    vocab_size  highest id plus one, as models count it; some ids below may be unused
    ids         int64[num_tokens]
    names       the bytes of each token
    texts       its text, empty where the bytes are not whole characters
    num_bytes   int32[num_tokens]
    scripts     uint8[num_tokens], places in SCRIPTS
    kinds       uint16[num_tokens], bits of TokenKind
    ranks       int64[num_tokens], the merge rank that makes the token, -1 where no merge does

    >>> from bpe.pretrained import load_pretrained
    >>> gpt2 = list_vocabulary(load_pretrained("gpt2"))
    >>> len(gpt2.ids), gpt2.texts[41236], SCRIPTS[gpt2.scripts[41236]]
    (50257, ' strawberry', 'Latin')
    """

    vocab_size: int
    ids: NDArray[np.int64]
    names: Sequence[bytes]
    texts: Sequence[str]
    num_bytes: NDArray[np.int32]
    scripts: NDArray[np.uint8]
    kinds: NDArray[np.uint16]
    ranks: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def joined(self) -> NDArray[np.uint8]:
        """The bytes of all tokens one after the other, uint8[sum of num_bytes]."""
        return np.frombuffer(b"".join(self.names), dtype=np.uint8)

    def row_of(self, token_id: int) -> int:
        """Return the row of a token id.

        Raises:
            TokenIdError: no token has this id.
        """
        row = int(np.searchsorted(self.ids, token_id))
        if not 0 <= token_id < self.vocab_size:
            raise TokenIdError(f"a token id must be from 0 to {self.vocab_size - 1:,}, but is {token_id:,}")
        if row == len(self.ids) or self.ids[row] != token_id:
            near = [int(self.ids[place]) for place in (row - 1, row) if 0 <= place < len(self.ids)]
            raise TokenIdError(
                f"the token id must be in use, but {token_id:,} is not; next to it are "
                f"{' and '.join(f'{near_id:,}' for near_id in near)}"
            )
        return row

    def is_kind(self, kind: TokenKind) -> NDArray[np.bool_]:
        """Return bool[num_tokens]: whether each token is of all these kinds."""
        is_all: NDArray[np.bool_] = (self.kinds & kind) == kind
        return is_all


@dataclass(frozen=True)
class TokenFilter:
    """Which tokens to find, and in which order. All conditions must hold; the default finds every token.

    query      what to search for; empty finds all.  by   what it is: text that the token holds (bytes of
               tokens that are part of a character count too), a regular expression in the token's text,
               bytes in hex, or an id or a range of ids such as 100-200
    scripts    places in SCRIPTS that may occur; empty allows all
    kinds      kinds that each token must be of
    min_bytes, max_bytes   limits of the length
    order      id; longest or shortest first, then id; text: by bytes

    Raises:
        SettingsError: a length limit or the name of a search or an order is out of range.
    """

    query: str = ""
    by: SearchBy = "text"
    scripts: tuple[int, ...] = ()
    kinds: TokenKind = NO_KIND
    min_bytes: int = 0
    max_bytes: int | None = None
    order: Order = "id"

    def __post_init__(self) -> None:
        for name, allowed in (("by", SearchBy), ("order", Order)):
            if getattr(self, name) not in get_args(allowed):
                raise SettingsError(
                    f"{name} must be one of {', '.join(get_args(allowed))}, but is {getattr(self, name)!r}"
                )
        if self.max_bytes is not None and self.max_bytes < self.min_bytes:
            raise SettingsError(
                f"the greatest length must be at least the smallest, {self.min_bytes:,} bytes, "
                f"but is {self.max_bytes:,}; swap them"
            )


# ---------------------------------------------------------------------------------------------- making one


def list_vocabulary(tokenizer: TokenizerLike) -> Vocabulary:
    """Return the vocabulary of a tokenizer, trained or real. Cost: about 1 s for 200,000 tokens."""
    ids: list[int] = []
    names: list[bytes] = []
    for token_id in range(tokenizer.vocab_size):
        try:
            names.append(tokenizer.token_bytes(token_id))
        except TokenIdError:  # an unused id
            continue
        ids.append(token_id)

    id_column = np.array(ids, dtype=np.int64)
    texts, partial = _decode_all(names)
    special = _is_in(id_column, tokenizer.special_tokens.values())
    base = _is_in(id_column, tokenizer.base_names()) & ~special & (tokenizer.num_merges > 0)
    scripts, kinds = _describe_texts(texts)
    scripts[partial] = SCRIPTS.index(NO_TEXT)
    for kind, column in ((TokenKind.SPECIAL, special), (TokenKind.PARTIAL, partial), (TokenKind.BASE, base)):
        kinds[column] |= np.uint16(kind)
    is_merged = ~(special | base) if tokenizer.num_merges else np.zeros(len(ids), dtype=np.bool_)
    return Vocabulary(
        vocab_size=tokenizer.vocab_size,
        ids=id_column,
        names=tuple(names),
        texts=tuple(texts),
        num_bytes=np.array([len(name) for name in names], dtype=np.int32),
        scripts=scripts,
        kinds=kinds,
        ranks=np.where(is_merged, np.cumsum(is_merged) - 1, -1),
    )


def _decode_all(names: Sequence[bytes]) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the text of each token, and which of them have none."""
    texts: list[str] = []
    partial = np.zeros(len(names), dtype=np.bool_)
    for row, name in enumerate(names):
        try:
            texts.append(name.decode())
        except UnicodeDecodeError:
            texts.append("")
            partial[row] = True
    return texts, partial


def _is_in(ids: NDArray[np.int64], some: object) -> NDArray[np.bool_]:
    return np.isin(ids, np.fromiter(some, dtype=np.int64))  # type: ignore[call-overload]


def _describe_texts(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return the script of each text and the kinds that follow from its characters.

    All texts are joined and looked up character by character in tables over the code points: for 200,000
    tokens 0.2 s instead of 2 s with a regular expression for each.
    """
    joined = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
    script_of, is_blank_of, is_digit_of = _character_tables(joined)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)))[:-1]
    rows = np.flatnonzero(lengths)
    at = starts[rows]

    scripts = np.zeros(len(texts), dtype=np.uint8)
    kinds = np.zeros(len(texts), dtype=np.uint16)
    if len(rows) == 0:
        return scripts, kinds
    script = script_of[joined]
    lowest = np.minimum.reduceat(script, at)
    highest = np.maximum.reduceat(np.where(script == _NEUTRAL, 0, script), at)
    scripts[rows] = np.where(
        lowest == _NEUTRAL,
        SCRIPTS.index(NO_SCRIPT),
        np.where(lowest == highest, lowest, SCRIPTS.index(MIXED)),
    )
    blank = np.logical_and.reduceat(is_blank_of[joined], at)
    digit = np.logical_or.reduceat(is_digit_of[joined], at)
    spaced = (joined[at] == ord(" ")) & (lengths[rows] > 1) & ~blank
    for kind, column in ((TokenKind.BLANK, blank), (TokenKind.DIGITS, digit), (TokenKind.LEADING_SPACE, spaced)):
        kinds[rows[column]] |= np.uint16(kind)
    return scripts, kinds


def _character_tables(
    code_points: NDArray[np.uint32],
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return, by code point, the script, whether it is white space, and whether it is a decimal digit.

    Filled for the characters that occur: Python has no table of scripts, and asking `regex` for every code
    point there is would take seconds.
    """
    characters = "".join(map(chr, np.unique(code_points).tolist()))
    script = np.full(_CODE_POINTS, _NEUTRAL, dtype=np.uint8)
    script[_places(r"[^\p{Script=Common}\p{Script=Inherited}\p{Cn}\p{Co}]", characters)] = _OTHER
    for place in range(_FIRST_SCRIPT, _OTHER):
        script[_places(rf"\p{{Script={SCRIPTS[place]}}}", characters)] = place
    blank = np.zeros(_CODE_POINTS, dtype=np.bool_)
    blank[_places(r"\s", characters)] = True
    digit = np.zeros(_CODE_POINTS, dtype=np.bool_)
    digit[_places(r"\p{Nd}", characters)] = True
    return script, blank, digit


def _places(pattern: str, characters: str) -> list[int]:
    return [ord(char) for char in regex.findall(pattern, characters)]


# ---------------------------------------------------------------------------------------------- searching


def find_tokens(vocabulary: Vocabulary, wanted: TokenFilter) -> NDArray[np.int64]:
    """Return the rows of the tokens that are wanted, in the order that is wanted.

    Raises:
        SettingsError: the query is no regular expression, runs for longer than 2 s, is no hex, or no id.
        TokenIdError: the id is not in the vocabulary.

    >>> from bpe.pretrained import load_pretrained
    >>> gpt2 = list_vocabulary(load_pretrained("gpt2"))
    >>> [gpt2.texts[row] for row in find_tokens(gpt2, TokenFilter("(?i)^ ?solidgold", by="regex"))]
    [' SolidGoldMagikarp']
    """
    chosen = _matches(vocabulary, wanted)
    if wanted.scripts:
        chosen &= np.isin(vocabulary.scripts, wanted.scripts)
    chosen &= vocabulary.is_kind(wanted.kinds) & (vocabulary.num_bytes >= wanted.min_bytes)
    if wanted.max_bytes is not None:
        chosen &= vocabulary.num_bytes <= wanted.max_bytes
    rows = np.flatnonzero(chosen)
    if wanted.order == "longest":
        return rows[np.argsort(-vocabulary.num_bytes[rows], kind="stable")]
    if wanted.order == "shortest":
        return rows[np.argsort(vocabulary.num_bytes[rows], kind="stable")]
    if wanted.order == "text":
        return np.array(sorted(rows.tolist(), key=vocabulary.names.__getitem__), dtype=np.int64)
    return rows


def _matches(vocabulary: Vocabulary, wanted: TokenFilter) -> NDArray[np.bool_]:
    """Return which tokens the query finds."""
    if not wanted.query:
        return np.ones(len(vocabulary), dtype=np.bool_)
    if wanted.by == "regex":
        return _matches_regex(vocabulary.texts, wanted.query)
    if wanted.by == "id":
        first, last = _id_range(wanted.query, vocabulary)
        return (vocabulary.ids >= first) & (vocabulary.ids <= last)
    # UTF-8 finds characters as bytes: the bytes of one character never occur inside another one.
    part = _from_hex(wanted.query) if wanted.by == "hex" else wanted.query.encode("utf-8", errors="replace")
    return _matches_bytes(vocabulary, part) if part else np.ones(len(vocabulary), dtype=np.bool_)


def _matches_bytes(vocabulary: Vocabulary, part: bytes) -> NDArray[np.bool_]:
    """Return which tokens hold some bytes, at least one.

    All names are searched as one array, a pass for each byte of `part` over the places where those before it
    were found: for 200,000 tokens about 10 ms, where asking each name takes 60.
    """
    joined, ends = vocabulary.joined, np.cumsum(vocabulary.num_bytes, dtype=np.int64)
    places = np.flatnonzero(joined[: max(len(joined) - len(part) + 1, 0)] == part[0])
    for offset, byte in enumerate(part[1:], start=1):
        places = places[joined[places + offset] == byte]
    rows = np.searchsorted(ends, places, side="right")
    found = np.zeros(len(vocabulary), dtype=np.bool_)
    found[rows[places + len(part) <= ends[rows]]] = True  # the others begin in one name and end in the next
    return found


def _matches_regex(texts: Sequence[str], query: str) -> NDArray[np.bool_]:
    """Search each text, some at a time. One alone may take an eighth of the time: all end within thrice the limit."""
    try:
        pattern = regex.compile(query)
    except (regex.error, OverflowError, RecursionError) as error:
        raise SettingsError(
            f"the search must be a regular expression, but {query[:60]!r} does not compile: {error}"
        ) from None
    seconds = _SEARCH_SECONDS * 2 / _SEARCHED_AT_ONCE
    search, now = pattern.search, time.thread_time  # not the clock: others may be at work too
    deadline = now() + _SEARCH_SECONDS
    found = np.zeros(len(texts), dtype=np.bool_)
    row = 0
    try:
        for row in range(0, len(texts), _SEARCHED_AT_ONCE):
            some = texts[row : row + _SEARCHED_AT_ONCE]
            # By place, because names cost half of the time: pos, endpos, partial, concurrent, timeout.
            found[row : row + len(some)] = [
                search(text, None, None, False, False, seconds) is not None for text in some
            ]
            if now() > deadline:
                raise TimeoutError
    except TimeoutError:
        raise SettingsError(
            f"the search must end within {_SEARCH_SECONDS:g} s, and within {seconds:g} s in one token, but "
            f"{query[:60]!r} was still running after token {row:,} of {len(texts):,}; avoid nested repeats like (a+)+"
        ) from None
    return found


def _from_hex(query: str) -> bytes:
    try:
        return bytes.fromhex(query)
    except ValueError:
        raise SettingsError(
            f"bytes in hex must be pairs of the digits 0-9 and a-f, such as e2 80, but are {query[:60]!r}"
        ) from None


def _id_range(query: str, vocabulary: Vocabulary) -> tuple[int, int]:
    """Return the first and last id that is asked for."""
    match = regex.fullmatch(r"\s*([0-9][0-9,]*)\s*(?:[-–]\s*([0-9][0-9,]*)\s*)?", query[:60])
    if match is None:
        raise SettingsError(f"an id must be a number such as 41236, or a range such as 100-200, but is {query[:60]!r}")
    first = int(match[1].replace(",", ""))
    if match[2] is None:
        vocabulary.row_of(first)
        return first, first
    last = int(match[2].replace(",", ""))
    if not first <= last < vocabulary.vocab_size:
        raise TokenIdError(
            f"a range of ids must ascend and lie within 0 to {vocabulary.vocab_size - 1:,}, but is {first:,} to "
            f"{last:,}"
        )
    return first, last


# ---------------------------------------------------------------------------------------------- counting


def count_lengths(vocabulary: Vocabulary, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[longest + 1]: how many of the rows have 0, 1, 2, ... bytes; as long for any rows."""
    longest = int(vocabulary.num_bytes.max(initial=0))
    return np.bincount(vocabulary.num_bytes[rows], minlength=longest + 1).astype(np.int64)


def count_scripts(vocabulary: Vocabulary, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[len(SCRIPTS)]: how many of the rows are of each script."""
    return np.bincount(vocabulary.scripts[rows], minlength=len(SCRIPTS)).astype(np.int64)
