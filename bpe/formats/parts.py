"""A tokenizer taken apart into what files hold, and the questions that several formats ask of the parts.

Writers see only `Parts`, so a trained tokenizer and a real rank table (`RankTokenizer`) take the same way. A
tokenizer that was read from a tokenizer.json is not taken apart: it may hold what no other format can say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import regex

from bpe.encoder import rank_lifetimes
from bpe.errors import FormatError
from bpe.formats.reading import is_unicode, quote
from bpe.pretokenize import SPLIT_PATTERNS, compile_split
from bpe.rank_tokenizer import NO_PARENT, RankTokenizer
from bpe.tokenizer import Tokenizer, TokenizerLike
from bpe.unigram import UnigramTokenizer
from bpe.wordpiece import WordPieceTokenizer

__all__ = ["Parts", "add_merge", "as_expression", "covering_pattern", "split_of_pattern", "take_apart"]


@dataclass(frozen=True, eq=False)
class Parts:
    """What a tokenizer consists of.

    names           token id -> bytes, of every token but the special ones, ids ascending
    base_ids        ids of the base symbols, ascending
    find_merges     what gives the merges; called once, when they are asked for: for a rank table it takes seconds
    """

    base: Literal["bytes", "chars"]
    end_of_word: Literal["none", "separate", "attached"]
    split: str
    names: Mapping[int, bytes]
    base_ids: Sequence[int]
    find_merges: Callable[[], Iterable[tuple[int, int, int]]]
    special_tokens: Mapping[str, int]

    @cached_property
    def merges(self) -> tuple[tuple[int, int, int], ...]:
        """(left id, right id, token id), in rank order."""
        return tuple(self.find_merges())

    # Each of these refuses what a format cannot say; `format` is how the message calls it.

    def need_plain_bytes(self, format: str) -> None:
        """Refuse a character base and end-of-word marks."""
        if self.base != "bytes":
            raise FormatError(
                f"{format} holds tokenizers over bytes, but this one is over characters; "
                "choose bpe-json or tokenizer-json, or train with base='bytes'"
            )

    def need_distinct_names(self, format: str) -> None:
        """Refuse two tokens of equal text, special tokens included: the format knows a token by its text."""
        owner: dict[bytes, int] = {}
        every = [*self.names.items(), *((token, text.encode()) for text, token in self.special_tokens.items())]
        for token, name in every:
            if name in owner:
                raise FormatError(
                    f"{format} knows a token by its text, but tokens {owner[name]:,} and {token:,} are both "
                    f"{quote(name)}; choose bpe-json, or stop the training before merge {self._rank_of(token):,}"
                )
            owner[name] = token

    def _rank_of(self, token: int) -> int:
        return next((rank for rank, merge in enumerate(self.merges) if merge[2] == token), 0)

    def need_known_merges(self, format: str) -> None:
        """Refuse a token of which nobody knows the merge that makes it."""
        for left, _right, token in self.merges:
            if left == NO_PARENT:
                raise FormatError(
                    f"{format} needs the merge of each token, but no merge makes {quote(self.names[token])} "
                    f"(id {token:,}); choose tiktoken"
                )

    def need_rank_order(self, format: str) -> None:
        """Refuse merges that a rank table would not replay as they are.

        A rank table merges two neighbours whenever their concatenation is a token, in order of the ids. It
        does the same as the merges if each token, replayed alone, ends in the very pair that its merge
        names: inside a text, the bytes of a token go through the same states as alone, until it is made.
        """
        ranks = {name: token for token, name in self.names.items()}
        for left, right, token in self.merges:
            name = self.names[token]
            cuts = np.flatnonzero(rank_lifetimes(name, ranks) >= token) + 1
            if cuts.tolist() != [len(self.names[left])]:
                raise FormatError(
                    f"{format} merges any two tokens that make a third, in order of id, but here id {token:,} is made "
                    f"only from {quote(self.names[left])} and {quote(self.names[right])}, and the table would make it "
                    "otherwise; choose bpe-json or tokenizer-json"
                )

    def need_ids_in_order(self, format: str) -> None:
        """Refuse ids other than base symbols from 0 on (bytes by value), then one per merge in rank order."""
        num_base = len(self.base_ids)
        by_value = self.base != "bytes" or [self.names[i] for i in self.base_ids] == [bytes([i]) for i in range(256)]
        in_order = list(self.base_ids) == list(range(num_base)) and by_value
        if not in_order or any(token != num_base + rank for rank, (_, _, token) in enumerate(self.merges)):
            raise FormatError(
                f"{format} numbers the base symbols from 0 on and then the merges in order, but this tokenizer has "
                "ids of its own; choose tiktoken or tokenizer-json"
            )


def take_apart(tokenizer: TokenizerLike) -> Parts:
    """Return the parts of a trained tokenizer or of a rank table.

    Raises:
        FormatError: a tokenizer of another kind.
    """
    split = tokenizer.split if isinstance(tokenizer, Tokenizer | RankTokenizer) else ""
    for text in (split, *tokenizer.special_tokens):
        if not is_unicode(text):
            raise FormatError(
                f"split pattern and special tokens must be writable as UTF-8, but {quote(text)} holds a lone surrogate"
            )
    if isinstance(tokenizer, Tokenizer):
        num_base = len(tokenizer.base_symbols)
        num_tokens = num_base + tokenizer.num_merges
        return Parts(
            base=tokenizer.base,
            end_of_word=tokenizer.end_of_word,
            split=tokenizer.split,
            names={token: tokenizer.token_bytes(token) for token in range(num_tokens)},
            base_ids=range(num_base),
            find_merges=lambda: ((left, right, num_base + i) for i, (left, right) in enumerate(tokenizer.merges)),
            special_tokens=tokenizer.special_tokens,
        )
    if isinstance(tokenizer, RankTokenizer):
        if tokenizer.normalizer != "none":
            raise FormatError(
                f"a rank table to write must take texts as they are, but {tokenizer.name} normalizes them; "
                "no format here holds both"
            )
        ranks = tokenizer.mergeable_ranks
        return Parts(
            base="bytes",
            end_of_word="none",
            split=tokenizer.split,
            names={token: name for name, token in sorted(ranks.items(), key=lambda item: item[1])},
            base_ids=sorted(ranks[bytes([byte])] for byte in range(256)),
            find_merges=lambda: _merges_of(tokenizer),
            special_tokens=tokenizer.special_tokens,
        )
    if isinstance(tokenizer, WordPieceTokenizer | UnigramTokenizer):
        kind = "WordPiece" if isinstance(tokenizer, WordPieceTokenizer) else "Unigram"
        raise FormatError(f"this format holds merges, but a {kind} tokenizer has none; choose tokenizer-json")
    raise FormatError(
        "a tokenizer to write must be trained here or come from a rank table, but this one was read from "
        "another kind of file; use that file"
    )


def _merges_of(tokenizer: RankTokenizer) -> Iterable[tuple[int, int, int]]:
    rows = tokenizer.merge_rows()
    return zip(rows.left.tolist(), rows.right.tolist(), rows.token.tolist(), strict=True)


# ---------------------------------------------------------------------- merges in files


def add_merge(
    pair: tuple[int, int],
    place: str,
    place_of: dict[tuple[int, int], str],
    num_base: int,
    refuse: Callable[[str], FormatError],
) -> None:
    """Add a merge to those read so far: its ids exist by then, and its pair was not merged before.

    place_of    pair -> where it stands in the file, in rank order;  refuse: makes the error from what must be

    Raises:
        FormatError: else.
    """
    first_missing = num_base + len(place_of)
    if max(pair) >= first_missing:
        raise refuse(f"a pair of ids below {first_missing:,}, made before it")
    if pair in place_of:
        raise refuse(f"a pair that was not merged before; {place_of[pair]} is the same")
    place_of[pair] = place


# ---------------------------------------------------------------------- split patterns in files


def covering_pattern(split: str, format: str) -> str:
    """Return an expression whose matches are the pre-tokens: tiktoken and minbpe drop what does not match.

    The named patterns match every character. To a reader's own pattern comes a second branch: the stretch up
    to where the pattern matches next.

    >>> covering_pattern("[a-z]", "tiktoken")
    '(?:[a-z])|(?:(?!(?:[a-z]))[\\\\s\\\\S])+'
    """
    if split in SPLIT_PATTERNS:
        return SPLIT_PATTERNS[split]
    compiled = compile_split(split)
    assert compiled is not None
    if compiled.groups:
        raise FormatError(
            f"{format} takes a split pattern without groups that capture, but {quote(split)} has "
            f"{compiled.groups}; write (?:...) for (...), or choose bpe-json"
        )
    if compiled.match(""):
        raise FormatError(
            f"{format} takes a split pattern that never matches the empty text, but {quote(split)} does; "
            "write + for *, or choose bpe-json"
        )
    return rf"(?:{split})|(?:(?!(?:{split}))[\s\S])+"


_COVERING = regex.compile(r"\(\?:(?P<own>.+)\)\|\(\?:\(\?!\(\?:(?P=own)\)\)\[\\s\\S\]\)\+", regex.DOTALL)


def split_of_pattern(pattern: str) -> str:
    """Return the shortest name for an expression in a file: a name of SPLIT_PATTERNS, or an own pattern.

    >>> split_of_pattern(covering_pattern("[a-z]", "tiktoken")), split_of_pattern(SPLIT_PATTERNS["gpt2"])
    ('[a-z]', 'gpt2')
    """
    for name, expression in SPLIT_PATTERNS.items():
        if pattern == expression:
            return name
    covering = _COVERING.fullmatch(pattern)
    return as_expression(covering["own"] if covering else pattern)


def as_expression(pattern: str) -> str:
    """Return an expression that is not mistaken for a name of SPLIT_PATTERNS.

    >>> as_expression("digits")
    '(?:digits)'
    """
    return f"(?:{pattern})" if pattern in SPLIT_PATTERNS else pattern
