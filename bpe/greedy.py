"""Longest match over a BPE vocabulary, held against rank replay: where the same tokens give other cuts.

A vocabulary alone does not say how a text is cut. Byte-pair encoding replays its merges in the order they
were learned (encoder.py); longest match reads from the left and takes the longest token that fits. With the
same vocabulary the two mostly agree: `LongestMatch.differences` lists the pre-tokens where they part.
Source: Uzan et al. (2024), "Greed is All You Need", arXiv 2403.01289, compare such ways to encode.

Longest match is how WordPiece encodes, so wordpiece.py builds on the `Trie` here, and so does unigram.py.
Both make tokens without merges: `history_of_tokens` lays those out for the views. Read wordpiece.py next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bpe.encoder import encode
from bpe.errors import TokenIdError
from bpe.lifetimes import NEVER, History
from bpe.normalizing import whole_characters
from bpe.pretokenize import split
from bpe.tokenizer import UNKNOWN_ID, Tokenizer, TokenizerLike

__all__ = ["Difference", "LongestMatch", "Trie", "history_of_tokens"]


class Trie:
    """Strings with an id each, for finding those that begin at a place in a text. Ids are not negative.

    Where a string comes twice, its first id counts.

    children   for each node, the node that each character leads to; node 0 is the beginning
    id_at      for each node, the id of the string that ends there, or -1

    Size: 120 MB for the 200,000 tokens of o200k_base.

    >>> Trie([("un", 0), ("unit", 1), ("i", 2)]).matches("units", 0)
    [(2, 0), (4, 1)]
    """

    __slots__ = ("children", "id_at")

    def __init__(self, strings: Iterable[tuple[str, int]]) -> None:
        self.children: list[dict[str, int]] = [{}]
        self.id_at: list[int] = [-1]
        for string, string_id in strings:
            node = 0
            for char in string:
                child = self.children[node].get(char)
                if child is None:
                    child = len(self.children)
                    self.children[node][char] = child
                    self.children.append({})
                    self.id_at.append(-1)
                node = child
            if node and self.id_at[node] < 0:
                self.id_at[node] = string_id

    def matches(self, text: str, start: int) -> list[tuple[int, int]]:
        """Return (end, id) of every string that the text holds at this place, shortest first."""
        found = []
        children, id_at = self.children, self.id_at
        node = 0
        for end in range(start, len(text)):
            child = children[node].get(text[end])
            if child is None:
                break
            node = child
            if id_at[node] >= 0:
                found.append((end + 1, id_at[node]))
        return found

    def longest(self, text: str, start: int) -> tuple[int, int] | None:
        """Return (end, id) of the longest string that the text holds at this place, or None."""
        found = self.matches(text, start)
        return found[-1] if found else None


class Difference(NamedTuple):
    """A pre-token that the two ways of encoding cut differently."""

    pre_token: bytes
    num_occurrences: int
    """How often the text holds it."""
    ranked: tuple[int, ...]
    """Token ids by rank replay, as `encode` gives them."""
    greedy: tuple[int, ...]
    """Token ids by longest match."""


class _PreToken(NamedTuple):
    shown: bytes
    spelled: str
    """One character for each base symbol, in the alphabet of the trie."""


class LongestMatch:
    """Longest match with the vocabulary of a BPE tokenizer.

    Takes a `Tokenizer`, or any other tokenizer whose tokens are bytes, such as a real one. Merge order
    plays no part. The base symbols are tokens, so something always fits; a character that the tokenizer does
    not know stays UNKNOWN_ID.

    >>> from bpe import Tokenizer
    >>> n, i, u, t = (tokenizer_id for tokenizer_id in b"niut")
    >>> tokenizer = Tokenizer(merges=((n, i), (u, n)))  # n+i was learned before u+n
    >>> greedy = LongestMatch(tokenizer)
    >>> [tokenizer.decode([token]) for token in tokenizer.encode("unit")]
    ['u', 'ni', 't']
    >>> [tokenizer.decode([token]) for token in greedy.encode("unit")]
    ['un', 'i', 't']
    """

    def __init__(self, tokenizer: TokenizerLike) -> None:
        self.tokenizer = tokenizer
        self._trie = Trie(
            _spell_merges(tokenizer) if isinstance(tokenizer, Tokenizer) else _spell_bytes(tokenizer),
        )

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text by longest match. Cost: text times the longest token."""
        ids: list[int] = []
        cache: dict[str, list[int]] = {}
        for piece in self._pre_tokens(text):
            if piece.spelled not in cache:
                cache[piece.spelled] = self._longest_first(piece.spelled)
            ids += cache[piece.spelled]
        return ids

    def differences(self, text: str) -> list[Difference]:
        """Return the pre-tokens that rank replay cuts differently, most frequent first, then as they occur.

        >>> from bpe import Tokenizer
        >>> tokenizer = Tokenizer(split="whitespace", merges=((110, 105), (117, 110)))
        >>> LongestMatch(tokenizer).differences("unit unit bunny")
        [Difference(pre_token=b'unit', num_occurrences=2, ranked=(117, 256, 116), greedy=(257, 105, 116))]
        """
        counts = Counter(self._pre_tokens(text))
        found = []
        for piece, num_occurrences in counts.items():
            greedy = tuple(self._longest_first(piece.spelled))
            ranked = tuple(self._by_rank(piece))
            if greedy != ranked:
                found.append(Difference(piece.shown, num_occurrences, ranked, greedy))
        return sorted(found, key=lambda difference: -difference.num_occurrences)

    def _longest_first(self, spelled: str) -> list[int]:
        ids: list[int] = []
        at = 0
        while at < len(spelled):
            at, token = self._trie.longest(spelled, at) or (at + 1, UNKNOWN_ID)
            ids.append(token)
        return ids

    def _by_rank(self, piece: _PreToken) -> list[int]:
        if isinstance(self.tokenizer, Tokenizer):
            tokenizer = self.tokenizer
            return encode(_symbols(piece.spelled), tokenizer.ranks, len(tokenizer.base_symbols))[0]
        return self.tokenizer.encode(piece.shown.decode())

    def _pre_tokens(self, text: str) -> list[_PreToken]:
        text = whole_characters(text)
        if isinstance(self.tokenizer, Tokenizer):
            return _pre_tokens_of_merges(self.tokenizer, text)
        return _pre_tokens_of_bytes(self.tokenizer, text)


_UNKNOWN_SPELLED = chr(0x10FFFF)  # no base id is so high


def _spell(symbols: Iterable[int]) -> str:
    return "".join(chr(symbol) if symbol != UNKNOWN_ID else _UNKNOWN_SPELLED for symbol in symbols)


def _symbols(spelled: str) -> list[int]:
    return [ord(char) if char != _UNKNOWN_SPELLED else UNKNOWN_ID for char in spelled]


def _spell_merges(tokenizer: Tokenizer) -> list[tuple[str, int]]:
    """Return each token as a string of its base ids.

    Not as text: with an end mark, `low` + mark and the characters `low</w>` are the same text.
    """
    spelled = [chr(base_id) for base_id in range(len(tokenizer.base_symbols))]
    for left, right in tokenizer.merges:
        spelled.append(spelled[left] + spelled[right])
    return [(string, token) for token, string in enumerate(spelled)]


def _pre_tokens_of_merges(tokenizer: Tokenizer, text: str) -> list[_PreToken]:
    words = _words_in_order(tokenizer, text)
    made = {word: _PreToken(word.encode(), _spell(tokenizer.symbols(word))) for word in set(words)}
    return [made[word] for word in words]


def _words_in_order(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the pre-tokens of a text as the tokenizer encodes them: with an end mark, without white space."""
    pieces = split(text, tokenizer.split)
    if tokenizer.end_of_word == "none":
        return pieces
    return [word for piece in pieces if (word := piece.strip())]


def _spell_bytes(tokenizer: TokenizerLike) -> list[tuple[str, int]]:
    """Return each token as a string with one character for each of its bytes; ids not in use are passed over."""
    special = set(tokenizer.special_tokens.values())
    spelled = []
    for token in range(tokenizer.vocab_size):
        if token in special:
            continue
        try:
            spelled.append((tokenizer.token_bytes(token).decode("latin-1"), token))
        except TokenIdError:
            continue
    return spelled


def _pre_tokens_of_bytes(tokenizer: TokenizerLike, text: str) -> list[_PreToken]:
    """Return the stretches between the walls of the history."""
    history = tokenizer.history(text)
    if history.num_symbols == 0:
        return []
    ends = history.offsets[1:][np.append(history.walls, True)].tolist()
    pieces = [history.text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return [_PreToken(piece, piece.decode("latin-1")) for piece in pieces]


def history_of_tokens(words: Iterable[tuple[Iterable[bytes], Iterable[int]]]) -> History:
    """Lay out finished tokens as a history without steps: the base symbols are the tokens.

    Each word gives the bytes shown of each of its tokens, and their ids. No boundary ever goes: all
    lifetimes are NEVER, and those between two words are walls.

    >>> history = history_of_tokens([((b"un", b"it"), (1, 2)), ((b" a",), (3,))])
    >>> history.tokens(0), history.walls.tolist()
    ([b'un', b'it', b' a'], [False, True])
    """
    shown: list[bytes] = []
    ids: list[int] = []
    first_of_word: list[int] = []
    for names, word_ids in words:
        first_of_word.append(len(shown))
        shown += names
        ids += word_ids
    lengths = np.array([len(name) for name in shown], dtype=np.int64)
    walls = np.zeros(len(shown), dtype=np.bool_)
    walls[[first for first in first_of_word if first < len(shown)]] = True
    return History(
        text=b"".join(shown),
        offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        lifetimes=np.full(max(len(shown) - 1, 0), NEVER, dtype=np.int32),
        walls=walls[1:],
        num_merges=0,
        final_ids=np.array(ids, dtype=np.int64),
    )
