"""What models are blamed for and tokenizers cause: spelling, digits, white space, case, and what Unicode adds.

Each quirk is a small question to any tokenizer, answered with counts and with the tokens themselves. The
functions take a text as it stands; nothing here knows what a model makes of the tokens.

It leaves out languages (metrics.py), single vocabularies (vocabulary.py), and how GPT-2 writes bytes as
characters (formats/byte_alphabet.py). Read claims.py next: what is said about such things, checked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.errors import SettingsError, UnknownSymbolError
from bpe.tokenizer import TokenizerLike

__all__ = [
    "CODE_VARIANTS",
    "NORMAL_FORMS",
    "Addition",
    "Integers",
    "Price",
    "Spelling",
    "TextToken",
    "case_variants",
    "count_indented_lines",
    "decode_prefixes",
    "digit_groups",
    "indent_with",
    "integers_under",
    "lay_out_addition",
    "normal_forms",
    "price_code",
    "price_space_runs",
    "spell",
    "tokens_of",
]


class TextToken(NamedTuple):
    """One token of a text: its id and the bytes of the text that it stands for."""

    token: int
    name: bytes

    @property
    def is_partial(self) -> bool:
        """Whether it holds part of a character: its bytes alone are not UTF-8."""
        try:
            self.name.decode()
        except UnicodeDecodeError:
            return True
        return False


def tokens_of(tokenizer: TokenizerLike, text: str) -> list[TextToken]:
    """Return the tokens of a text; an unknown symbol has the id -1 instead of raising an error.

    >>> from bpe.pretrained import load_pretrained
    >>> [name.decode() for _, name in tokens_of(load_pretrained("gpt2"), "strawberry")]
    ['st', 'raw', 'berry']
    """
    history = tokenizer.history(text)
    names = history.tokens(history.num_merges)
    return [TextToken(*pair) for pair in zip(history.final_ids.tolist(), names, strict=True)]


# ---------------------------------------------------------------------------------------------- spelling


@dataclass(frozen=True)
class Spelling:
    """A text in tokens, and where a letter is hidden in them.

    spans      the byte range of each occurrence of the letter
    per_token  occurrences inside each token
    num_split  occurrences that lie across a token boundary: no token holds them
    """

    tokens: tuple[TextToken, ...]
    spans: tuple[tuple[int, int], ...]
    per_token: tuple[int, ...]
    num_split: int

    @property
    def num_found(self) -> int:
        """All occurrences."""
        return len(self.spans)


def spell(tokenizer: TokenizerLike, text: str, letter: str, *, ignore_case: bool = True) -> Spelling:
    """Return how often a letter, or any short text, occurs in each token. An empty letter is found nowhere.

    >>> from bpe.pretrained import load_pretrained
    >>> spell(load_pretrained("gpt2"), "strawberry", "r").per_token
    (0, 1, 2)
    """
    tokens = tuple(tokens_of(tokenizer, text))
    data = b"".join(name for _, name in tokens)
    spelled = data.decode("utf-8", "surrogateescape")  # one surrogate for each byte that is not UTF-8
    offset = [0, *accumulate(len(char.encode("utf-8", "surrogateescape")) for char in spelled)]
    flags = regex.IGNORECASE if ignore_case else 0
    matches = regex.finditer(regex.escape(letter), spelled, flags) if letter else ()
    spans = tuple((offset[match.start()], offset[match.end()]) for match in matches)

    ends = np.cumsum([len(name) for _, name in tokens])
    per_token = [0] * len(tokens)
    num_split = 0
    for start, end in spans:
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, end - 1, side="right"))
        if first == last:
            per_token[first] += 1
        else:
            num_split += 1
    return Spelling(tokens, spans, tuple(per_token), num_split)


def case_variants(word: str) -> dict[str, str]:
    """Return a word as people write it: other cases, spelled out, a slip of the hand. What is equal comes once.

    >>> list(case_variants("red").values())
    ['red', ' red', 'Red', 'RED', 'r e d', 'r-e-d', 'der', 'erd', 'redd']
    """
    variants = {
        "as it is": word,
        "after a space": " " + word,
        "first letter large": word[:1].upper() + word[1:],
        "all large": word.upper(),
        "all small": word.lower(),
        "spelled with spaces": " ".join(word),
        "spelled with hyphens": "-".join(word),
        "backwards": word[::-1],
        "two letters swapped": word[1::-1] + word[2:],
        "last letter twice": word + word[-1:],
    }
    first_name: dict[str, str] = {}
    for name, text in variants.items():
        first_name.setdefault(text, name)
    return {name: text for text, name in first_name.items()}


# ---------------------------------------------------------------------------------------------- digits


@dataclass(frozen=True, eq=False)
class Integers:
    """The integers from 0 on under one tokenizer.

    num_tokens  int8[num_integers]
    splits      the digits of each, with a bar at each token boundary: `2|249`
    """

    num_tokens: NDArray[np.int8]
    splits: tuple[str, ...]

    @property
    def num_single(self) -> int:
        """Integers that are one token."""
        return int((self.num_tokens == 1).sum())

    @property
    def first_split(self) -> int | None:
        """The smallest integer of more than one token, None if there is none here."""
        split = np.flatnonzero(self.num_tokens > 1)
        return int(split[0]) if len(split) else None

    def shares(self) -> dict[int, int]:
        """Return number of tokens -> how many integers take so many."""
        counts, integers = np.unique(self.num_tokens, return_counts=True)
        return dict(zip(counts.tolist(), integers.tolist(), strict=True))


def integers_under(tokenizer: TokenizerLike, num_integers: int = 10_000, *, prefix: str = "") -> Integers:
    """Return how a tokenizer splits the integers from 0 on, each by itself, after a prefix such as a space.

    Each is encoded alone: in one long text a tokenizer may join digits with what stands around them. With
    10,000 integers some 0.1 to 0.2 s under a real tokenizer.

    >>> from bpe.pretrained import load_pretrained
    >>> integers = integers_under(load_pretrained("gpt2"))
    >>> integers.num_single, integers.first_split, integers.splits[2249:2253]
    (907, 521, ('2|249', '22|50', '225|1', '225|2'))
    """
    name_of = cache(tokenizer.token_bytes)
    num_tokens = np.zeros(num_integers, dtype=np.int8)
    splits = []
    for integer in range(num_integers):
        text = f"{prefix}{integer}"
        try:
            names = [name_of(token) for token in tokenizer.encode(text)]
        except UnknownSymbolError:  # a character tokenizer that was trained on no digits
            names = [name for _, name in tokens_of(tokenizer, text)]
        num_tokens[integer] = len(names)
        splits.append(b"|".join(names).decode("utf-8", "replace"))
    return Integers(num_tokens, tuple(splits))


def digit_groups(digits: str, size: int, *, from_right: bool = False) -> list[str]:
    """Cut digits into groups of one size; the group that may be short is the last, or the first.

    >>> digit_groups("1234567", 3), digit_groups("1234567", 3, from_right=True)
    (['123', '456', '7'], ['1', '234', '567'])
    """
    start = len(digits) % size if from_right else 0
    cuts = [*([0] if start else []), *range(start, len(digits), size), len(digits)]
    return [digits[a:b] for a, b in pairwise(cuts)]


@dataclass(frozen=True)
class Addition:
    """A sum as it is written down: first, second and total, each cut into groups of digits.

    rows          the groups of each number
    carries       places (0 for the ones) whose column gives a carry to the next
    num_crossing  carries that pass from one group of the total to the next
    is_aligned    whether the numbers are cut between the same places, wherever both have digits
    """

    rows: tuple[tuple[str, ...], ...]
    carries: tuple[int, ...]
    num_crossing: int
    is_aligned: bool


def lay_out_addition(first: int, second: int, cut: Callable[[str], Sequence[str]]) -> Addition:
    """Return how a way of cutting digits falls on an addition in columns.

    Raises:
        SettingsError: a number is negative.

    >>> lay_out_addition(999, 1, lambda digits: digit_groups(digits, 3))
    Addition(rows=(('999',), ('1',), ('100', '0')), carries=(0, 1, 2), num_crossing=1, is_aligned=False)
    """
    if first < 0 or second < 0:
        raise SettingsError(f"both numbers of an addition must be 0 or more, but are {first:,} and {second:,}")
    rows = tuple(tuple(cut(str(number))) for number in (first, second, first + second))
    places = [_cut_places(groups) for groups in rows]
    lengths = [sum(map(len, groups)) for groups in rows]
    carries = []
    carry = 0
    for place in range(max(lengths)):
        carry = (first // 10**place % 10 + second // 10**place % 10 + carry) // 10
        if carry:
            carries.append(place)
    aligned = all(
        _below(places[a], min(lengths[a], lengths[b])) == _below(places[b], min(lengths[a], lengths[b]))
        for a, b in ((0, 1), (0, 2), (1, 2))
    )
    crossing = sum(place + 1 in places[2] for place in carries)
    return Addition(rows, tuple(carries), crossing, aligned)


def _cut_places(groups: Sequence[str]) -> set[int]:
    """Return how many digits stand to the right of each cut."""
    return set(accumulate(len(group) for group in reversed(groups[1:])))


def _below(places: set[int], limit: int) -> set[int]:
    return {place for place in places if place < limit}


# ---------------------------------------------------------------------------------------------- white space


class Price(NamedTuple):
    """A way to write the same thing, and what it costs."""

    name: str
    text: str
    num_tokens: int
    num_bytes: int


_TAB_WIDTH = 4


def indent_with(code: str, unit: str) -> str:
    """Return code whose every level of indentation (four spaces or a tab) is written as `unit`.

    What is left of less than a level stays as spaces, unless the unit is empty. Empty lines stay empty.

    >>> indent_with("if x:\\n    y\\n      z\\n\\tw", "\\t")
    'if x:\\n\\ty\\n\\t  z\\n\\tw'
    """
    lines = []
    for line in code.split("\n"):
        body = line.lstrip(" \t")
        width = len(line[: len(line) - len(body)].expandtabs(_TAB_WIDTH))
        rest = " " * (width % _TAB_WIDTH) if unit else ""
        lines.append(unit * (width // _TAB_WIDTH) + rest + body)
    return "\n".join(lines)


CODE_VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda code: code,
    "not indented": lambda code: indent_with(code, ""),
    "tabs": lambda code: indent_with(code, "\t"),
    "two spaces a level": lambda code: indent_with(code, "  "),
    "four spaces a level": lambda code: indent_with(code, "    "),
    "eight spaces a level": lambda code: indent_with(code, "        "),
    "a space after each line": lambda code: code.replace("\n", " \n"),
    "Windows line ends (CRLF)": lambda code: code.replace("\r\n", "\n").replace("\n", "\r\n"),
}
"""Name -> the same code in other white space."""


def price_code(tokenizer: TokenizerLike, code: str) -> list[Price]:
    """Return what code costs in each of CODE_VARIANTS.

    >>> from bpe.pretrained import load_pretrained
    >>> prices = price_code(load_pretrained("gpt2"), "if x:\\n    y\\n")
    >>> [(price.name, price.num_tokens) for price in prices[:3]]
    [('as it is', 9), ('not indented', 6), ('tabs', 7)]
    """
    return [_price(tokenizer, name, rewrite(code)) for name, rewrite in CODE_VARIANTS.items()]


def _price(tokenizer: TokenizerLike, name: str, text: str) -> Price:
    return Price(name, text, len(tokens_of(tokenizer, text)), len(text.encode()))


def count_indented_lines(code: str) -> int:
    """Return the number of lines that begin with white space and hold something else.

    >>> count_indented_lines("a\\n  b\\n\\tc\\n   ")
    2
    """
    return sum(line[:1] in (" ", "\t") and not line.isspace() for line in code.split("\n"))


def price_space_runs(tokenizer: TokenizerLike, most: int, *, before: str = "x") -> NDArray[np.int64]:
    """Return int64[most + 1]: tokens of 0, 1, ..., `most` spaces together with what follows them.

    >>> from bpe.pretrained import load_pretrained
    >>> price_space_runs(load_pretrained("gpt2"), 4).tolist(), price_space_runs(load_pretrained("cl100k"), 4).tolist()
    ([1, 1, 2, 3, 4], [1, 1, 2, 2, 2])
    """
    texts = (" " * num_spaces + before for num_spaces in range(most + 1))
    return np.array([len(tokens_of(tokenizer, text)) for text in texts], dtype=np.int64)


# ---------------------------------------------------------------------------------------------- Unicode

NORMAL_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
"""The normal forms of Unicode (UAX 15): composed and decomposed, each also with look-alikes replaced (K)."""


def normal_forms(text: str) -> dict[str, str]:
    """Return the text in each normal form.

    >>> {form: len(text) for form, text in normal_forms("ﬁancé").items()}
    {'NFC': 5, 'NFD': 6, 'NFKC': 6, 'NFKD': 7}
    """
    return {form: unicodedata.normalize(form, text) for form in NORMAL_FORMS}  # type: ignore[arg-type]


def decode_prefixes(tokens: Iterable[TextToken]) -> list[tuple[str, int]]:
    """Return what the first 1, 2, ... tokens decode to as text, and how many bytes of it are no text yet.

    Those bytes are part of a character: as text they become U+FFFD, and what they were is lost. Quadratic in
    the length of the text, as is what it returns: meant for a sentence.

    >>> from bpe.pretrained import load_pretrained
    >>> decode_prefixes(tokens_of(load_pretrained("gpt2"), "a 안"))
    [('a', 0), ('a �', 1), ('a �', 2), ('a 안', 0)]
    """
    prefixes = []
    joined = b""
    for token in tokens:
        joined += token.name
        num_lost = len(joined) - len(joined.decode(errors="ignore").encode())
        prefixes.append((joined.decode(errors="replace"), num_lost))
    return prefixes
