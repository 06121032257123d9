"""Tokens that encoding their own text never produces, and why.

A token is in a vocabulary because merges made it in the training text; that does not mean that encoding its text
gives it back. The split pattern may cut that text in two (a pattern that was changed after training), merges that
rank lower may take its parts elsewhere, or its bytes may not be whole characters, so that there is no such text.
Land and Bartolo (2024, arXiv 2405.05417) search such tokens for ones that a model never saw.

The result says what a tokenizer does. How a model behaves on a token is not in its vocabulary.

For a rank table the answer follows from the split pattern and from replaying the ranks over the token's bytes,
and tests hold it to `encode(decode(token))` of tiktoken on whole vocabularies. Read vocabulary.py first.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from bpe.encoder import rank_lifetimes
from bpe.errors import UnknownSymbolError
from bpe.formats.imported import ImportedTokenizer
from bpe.lifetimes import NEVER
from bpe.pretokenize import split
from bpe.rank_tokenizer import NO_PARENT, RankTokenizer
from bpe.tokenizer import Tokenizer, TokenizerLike
from bpe.vocabulary import TokenKind, Vocabulary

__all__ = [
    "GLITCH_EXAMPLES",
    "GlitchExample",
    "Progress",
    "Reachability",
    "Reason",
    "find_context",
    "find_unproduced",
    "merges_into_one",
    "occurs_in_utf8",
]

Progress = Callable[[int, int], bool]
_REPORT_EVERY = 2_000
_LONG_TOKEN = 24


class Reason(IntEnum):
    """What becomes of the token's own text."""

    PRODUCED = 0
    """Encoding it gives the token."""
    WHOLE = 1
    """It gives the token, but only because whole pre-tokens are looked up: no two tokens merge into it."""
    SPLIT = 2
    """The split pattern cuts it into several pre-tokens, which merges never cross."""
    MERGE = 3
    """It is one pre-token, but merges of lower rank take its parts elsewhere."""
    INSIDE_WORD = 4
    """The token lacks the end-of-word mark: alone its text ends a word, so it needs more of the word."""
    PARTIAL = 5
    """Its bytes are part of a character: there is no such text."""
    NOT_UTF8 = 6
    """Its bytes occur in no UTF-8 text at all: no text can ever lead to it."""
    SPECIAL = 7
    """It stands for no text: only a program puts it in."""
    UNCHECKED = 8
    """The search was cancelled before it came to this token."""
    NORMALIZED = 9
    """The tokenizer makes another text of it first: it composes, lower-cases, or puts a space in front."""
    OTHERS = 10
    """The tokenizer, which has no merges, prefers other tokens for this text."""


@dataclass(frozen=True, eq=False)
class Reachability:
    """The reason of each token of a vocabulary, by row: uint8[num_tokens]."""

    reasons: NDArray[np.uint8]

    def rows(self, *reasons: Reason) -> NDArray[np.int64]:
        """Return the rows with one of these reasons, ascending."""
        return np.flatnonzero(np.isin(self.reasons, reasons))

    def count(self, reason: Reason) -> int:
        """Return how many tokens have this reason."""
        return int(np.count_nonzero(self.reasons == reason))

    @property
    def unproduced(self) -> NDArray[np.int64]:
        """Rows of the tokens that have a text of their own which does not lead to them."""
        return self.rows(Reason.SPLIT, Reason.MERGE, Reason.INSIDE_WORD, Reason.NORMALIZED, Reason.OTHERS)

    @property
    def num_checked(self) -> int:
        """Tokens that were looked at: all of them, unless the search was cancelled."""
        return len(self.reasons) - self.count(Reason.UNCHECKED)


def find_unproduced(tokenizer: TokenizerLike, vocabulary: Vocabulary, progress: Progress | None = None) -> Reachability:
    """Return for every token whether encoding its own text gives it back, and if not, why.

    `progress(done, of)` is called every 2,000 tokens; where it returns False the search ends, and the rest stays
    UNCHECKED. Cost: about 10 microseconds a token of a rank table, which is replayed.

    >>> from bpe import Tokenizer
    >>> from bpe.vocabulary import list_vocabulary
    >>> tokenizer = Tokenizer(split="whitespace", merges=((97, 32), (98, 99), (97, 98), (258, 99)))
    >>> vocabulary = list_vocabulary(tokenizer)  # "a ", "bc", "ab", "abc": a b+c comes first
    >>> [Reason(reason).name for reason in find_unproduced(tokenizer, vocabulary).reasons[256:]]
    ['SPLIT', 'PRODUCED', 'PRODUCED', 'MERGE']
    """
    judge = _judge_ranks(tokenizer) if isinstance(tokenizer, RankTokenizer) else _judge_by_encoding(tokenizer)
    reasons = np.full(len(vocabulary), Reason.UNCHECKED, dtype=np.uint8)
    special = vocabulary.is_kind(TokenKind.SPECIAL).tolist()
    ids = vocabulary.ids.tolist()
    for row, name in enumerate(vocabulary.names):
        if row % _REPORT_EVERY == 0 and progress is not None and not progress(row, len(ids)):
            break
        reasons[row] = Reason.SPECIAL if special[row] else judge(ids[row], name)
    return Reachability(reasons)


def _judge_ranks(tokenizer: RankTokenizer) -> Callable[[int, bytes], Reason]:
    """Judge by the split pattern and a replay of the ranks. A whole pre-token in the table is that token."""
    ranks = dict(tokenizer.mergeable_ranks)
    normalizer = tokenizer.normalizer

    def judge(_token_id: int, name: bytes) -> Reason:
        try:
            text = name.decode()
        except UnicodeDecodeError:
            return Reason.PARTIAL if occurs_in_utf8(name) else Reason.NOT_UTF8
        if normalizer != "none" and unicodedata.normalize(normalizer, text) != text:
            return Reason.NORMALIZED
        if len(split(text, tokenizer.split)) > 1:
            return Reason.SPLIT
        return Reason.PRODUCED if merges_into_one(name, ranks) else Reason.WHOLE

    return judge


def merges_into_one(token: bytes, ranks: Mapping[bytes, int]) -> bool:
    """Tell whether replaying a rank table joins all bytes of a token.

    The textbook loop: join the lowest-ranked pair, leftmost first, until none is left. For the seven bytes of an
    average token it takes a fifth of the time of the heap in encoder.py, which is there for long pre-tokens and
    takes over here too for the longest tokens.

    >>> merges_into_one(b"abc", {b"ab": 0, b"abc": 1}), merges_into_one(b"abc", {b"abc": 0})
    (True, False)
    """
    if len(token) > _LONG_TOKEN:
        return not np.any(rank_lifetimes(token, ranks) == NEVER)
    rank_of = ranks.get
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 1:
        lowest, at = NEVER, 0
        left = parts[0]
        for place, right in enumerate(parts[1:]):
            rank = rank_of(left + right, NEVER)
            if rank < lowest:
                lowest, at = rank, place
            left = right
        if lowest == NEVER:
            return False
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return True


def _judge_by_encoding(tokenizer: TokenizerLike) -> Callable[[int, bytes], Reason]:
    """Judge by encoding the text of the token; the walls of its history tell a split from a merge."""
    has_mark = _has_end_mark(tokenizer)
    looked_up = _only_looked_up(tokenizer)

    def judge(token_id: int, name: bytes) -> Reason:
        shown = tokenizer.decode_bytes([token_id])
        try:
            text = shown.decode()
        except UnicodeDecodeError:
            return Reason.PARTIAL if occurs_in_utf8(shown) else Reason.NOT_UTF8
        if _encodes_to(tokenizer, text, token_id):
            return Reason.WHOLE if token_id in looked_up else Reason.PRODUCED
        # Decoding takes the mark off: where it changes nothing, the token has none. The mark alone has no text.
        if has_mark and (shown == name or not text):
            return Reason.SPLIT if tokenizer.history(text).walls.any() else Reason.INSIDE_WORD
        if tokenizer.num_merges == 0:
            return _judge_mergeless(tokenizer, name, text)
        return Reason.SPLIT if tokenizer.history(text).walls.any() else Reason.MERGE

    return judge


def _has_end_mark(tokenizer: TokenizerLike) -> bool:
    """Tell whether the tokenizer marks the end of each word."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.end_of_word != "none"
    return isinstance(tokenizer, ImportedTokenizer) and tokenizer.end_of_word != ""


def _encodes_to(tokenizer: TokenizerLike, text: str, token_id: int) -> bool:
    try:
        return tokenizer.encode(text) == [token_id]
    except UnknownSymbolError:
        return False


def _judge_mergeless(tokenizer: TokenizerLike, name: bytes, text: str) -> Reason:
    """Judge a token of WordPiece, Unigram or SentencePiece that its own text does not give."""
    if tokenizer.changes(text):
        return Reason.NORMALIZED
    # WordPiece writes ## before a token that continues a word.
    return Reason.INSIDE_WORD if name.startswith(b"##") else Reason.OTHERS


def _only_looked_up(tokenizer: TokenizerLike) -> set[int]:
    """Return the tokens for which the merges hold a row, but no pair."""
    if not tokenizer.num_merges:
        return set()
    rows = tokenizer.merge_rows()
    is_pair = rows.left != NO_PARENT
    return set(rows.token[~is_pair].tolist()) - set(rows.token[is_pair].tolist())


def occurs_in_utf8(data: bytes) -> bool:
    """Tell whether these bytes can stand somewhere in a text in UTF-8, cut anywhere.

    >>> occurs_in_utf8(b"\\x80\\xe2"), occurs_in_utf8(b"\\xff"), occurs_in_utf8(b"\\xe2a")
    (True, False, False)
    """
    num_late = _num_late_bytes(data)
    if num_late > 3:  # up to three are the end of some character, whichever they are
        return False
    if data[-2:-1] == b"\xed" and data[-1] > 0x9F:  # half a surrogate pair, which the decoder sees a byte later
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data[num_late:], final=False)
    except UnicodeDecodeError:
        return False
    return True


_CONTINUATION = bytes(range(0x80, 0xC0))


def _num_late_bytes(data: bytes) -> int:
    """Return how many bytes at the start continue a character that began before."""
    return len(data) - len(data.lstrip(_CONTINUATION))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _heads(num_late: int) -> Iterator[bytes]:
    """Yield what can stand before `num_late` later bytes to make them the end of one character."""
    leads = {1: range(0xC2, 0xE0), 2: range(0xE0, 0xF0), 3: range(0xF0, 0xF5)}
    for length, candidates in leads.items():
        for missing in product(_CONTINUATION, repeat=max(length - num_late, 0)):
            if length >= num_late:
                yield from (bytes((lead, *missing)) for lead in candidates)


def _tails(data: bytes) -> Iterator[bytes]:
    """Yield what completes a character that is cut at the end of the bytes; once nothing if none is."""
    for num_bytes in range(4):
        cut = False
        for tail in product(_CONTINUATION, repeat=num_bytes):
            if _is_utf8(data + bytes(tail)):
                cut = True
                yield bytes(tail)
        if cut:
            return


# ---------------------------------------------------------------------------------------------- contexts

_BEFORE = ("", "a", "A", " ", "x ", "\n", "1", ".", "I", "-", "=", ";", "中", "é", "の", "Я")
_AFTER = ("", "a", "A", "e", "s", "m", "ll", "re", "t", " ", " x", "\n", "1", "'", ".", "/", "-", "中", "é", "の", "Я")


def find_context(tokenizer: TokenizerLike, token_id: int, most_tries: int = 6_000) -> str | None:
    """Return a short text in whose encoding the token occurs, or None when none of those tried has it.

    Tried are the token's text between a few others; for part of a character, the characters it can be a part of.
    None is no proof: there are more texts than can be tried.

    >>> from bpe.pretrained import load_pretrained
    >>> o200k = load_pretrained("o200k")
    >>> o200k.encode(" I'"), find_context(o200k, 3413)
    ([357, 6], " I're")
    """
    name = tokenizer.decode_bytes([token_id])
    for text in islice(_contexts(name), most_tries):
        try:
            ids = tokenizer.encode(text)
        except UnknownSymbolError:  # a character tokenizer knows few of the texts to try
            continue
        if token_id in ids:
            return text
    return None


def _contexts(name: bytes) -> Iterator[str]:
    """Yield texts that hold these bytes, the shortest ones first."""
    if not occurs_in_utf8(name):
        return
    if _is_utf8(name):
        text = name.decode()
        yield from (before + text + after for before, after in product(_BEFORE, _AFTER))
        return
    num_late = _num_late_bytes(name)
    heads = (head for head in _heads(num_late) if _is_utf8(head + name[:num_late])) if num_late else iter([b""])
    tails = list(islice(_tails(name[num_late:]), 5_000))
    for head in heads:
        for tail in tails:
            yield (head + name + tail).decode()


# ---------------------------------------------------------------------------------------------- published


@dataclass(frozen=True)
class GlitchExample:
    """A token on which somebody published that a model behaved oddly.

    tokenizer   name of the vocabulary that was spoken of
    """

    text: str
    tokenizer: str
    source: str


_RUMBELOW = "Rumbelow and Watkins (2023), SolidGoldMagikarp, LessWrong"
_LAND = "Land and Bartolo (2024), Fishing for Magikarp, arXiv 2405.05417, report on OLMo 2 7B"

GLITCH_EXAMPLES = (
    *(
        GlitchExample(text, "gpt2", _RUMBELOW)
        for text in (
            " SolidGoldMagikarp",
            " petertodd",
            "StreamerBot",
            " davidjl",
            " TheNitromeFan",
            " RandomRedditor",
            " guiActiveUn",
            " attRot",
            " externalToEVA",
            "rawdownload",
            "reportprint",
            "PsyNetMessage",
        )
    ),
    *(
        GlitchExample(text, "cl100k_base", _LAND)
        for text in (" ForCanBeConverted", "$PostalCodesNL", "useRalative", " typingsJapgolly")
    ),
)
"""Published examples, marked as such: that they are tokens is computed, that a model stumbled over them is not."""
