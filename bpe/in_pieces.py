"""Long texts piece by piece, with progress and a way to stop: the same ids and the same history as in one go.

A text may be cut where two pre-tokens meet, if each side alone is split as it was in the whole. With the named split
patterns that holds between a letter and a space, and between a lone line break and a letter: no match goes on from
the one to the other, none looks back, and one that ends there was not decided by what follows. With a pattern of the
reader's own nobody knows, with `none` there is one pre-token, and a normalizer or a library behind a tokenizer may
look at the text as a whole: such a tokenizer takes the text in one go, and can be stopped only before and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import regex

from bpe.errors import StoppedError, UnknownSymbolError
from bpe.lifetimes import History
from bpe.pretokenize import SPLIT_PATTERNS
from bpe.rank_tokenizer import RankTokenizer
from bpe.tokenizer import Special, Tokenizer, TokenizerLike, split_special
from bpe.unigram import UnigramTokenizer

__all__ = ["Progress", "cut_text", "encode_in_pieces", "encode_marked", "history_in_pieces"]

Progress = Callable[[int, int], bool]
"""(characters done, characters in all) -> whether to go on."""

PIECE_CHARS = 1_000_000
"""So long is a piece: a tenth of a second for the compiled encoder, some seconds for Python. From this length on a
rank table has its encoder compiled, so shorter pieces would be slower."""

# Of letters that Unicode added lately tiktoken may not know that they are letters; both places hold for signs too.
_BETWEEN = regex.compile(r"(?<=\p{L})(?= )|(?<=\S\n)(?=\p{L})")


def encode_in_pieces(
    tokenizer: TokenizerLike,
    text: str,
    *,
    special: Special = "text",
    progress: Progress | None = None,
    piece_chars: int = PIECE_CHARS,
) -> list[int]:
    """Return what `tokenizer.encode(text, special=special)` returns.

    Raises:
        StoppedError: the progress function said so.

    >>> from bpe import load_pretrained
    >>> encode_in_pieces(load_pretrained("gpt2"), "two words", progress=lambda done, asked: True)
    [11545, 2456]
    """
    ids: list[int] = []
    for piece in _pieces(tokenizer, text, special, progress, piece_chars):
        ids += tokenizer.encode(piece, special=_inside(special))
    return ids


def history_in_pieces(
    tokenizer: TokenizerLike,
    text: str,
    *,
    special: Special = "text",
    progress: Progress | None = None,
    piece_chars: int = PIECE_CHARS,
) -> History:
    """Return what `tokenizer.history(text, special=special)` returns.

    Raises:
        StoppedError: the progress function said so.
    """
    pieces = _pieces(tokenizer, text, special, progress, piece_chars)
    histories = [tokenizer.history(piece, special=_inside(special)) for piece in pieces]
    return histories[0] if len(histories) == 1 else History.joined(histories)


def encode_marked(tokenizer: TokenizerLike, text: str, *, progress: Progress | None = None) -> list[int]:
    """Return the token ids of a text; what the tokenizer does not know is UNKNOWN_ID, never an error.

    Raises:
        StoppedError: the progress function said so.

    >>> encode_marked(Tokenizer.base_of(["low"], base="chars"), "lot")
    [0, 1, -1]
    """
    ids: list[int] = []
    for piece in _pieces(tokenizer, text, "text", progress, PIECE_CHARS):
        if isinstance(tokenizer, Tokenizer | UnigramTokenizer):
            ids += tokenizer.encode(piece, unknown="mark")
            continue
        try:
            ids += tokenizer.encode(piece)
        except UnknownSymbolError:
            ids += tokenizer.history(piece).final_ids.tolist()
    return ids


def _pieces(
    tokenizer: TokenizerLike, text: str, special: Special, progress: Progress | None, piece_chars: int
) -> Iterator[str]:
    """Yield the pieces of a text, at least one; reports before each and after the last."""
    if special == "reject":  # once, so that the message tells the place in the whole text
        split_special(text, tokenizer.special_tokens, special)
    done = 0
    for piece in cut_text(tokenizer, text, piece_chars) or [text]:
        _report(progress, done, len(text))
        yield piece
        done += len(piece)
    _report(progress, done, len(text))


def _inside(special: Special) -> Special:
    """What special tokens mean inside a piece, after the whole text was looked through."""
    return "text" if special == "reject" else special


def _report(progress: Progress | None, done: int, asked: int) -> None:
    if progress is not None and not progress(done, asked):
        raise StoppedError("the work was stopped before there was a result: start it again")


def cut_text(tokenizer: TokenizerLike, text: str, least_chars: int = PIECE_CHARS) -> list[str]:
    """Return a text in pieces that this tokenizer may encode one by one, each of at least so many characters.

    The last one may be shorter. One piece where it cannot be cut, none of an empty text.

    >>> from bpe import Tokenizer
    >>> cut_text(Tokenizer(), "one two, three four", 4)
    ['one two, three', ' four']
    >>> cut_text(Tokenizer(split="none"), "one two", 1)
    ['one two']
    """
    if not text or not _can_be_cut(tokenizer):
        return [text] if text else []
    pieces: list[str] = []
    start = 0
    while (found := _BETWEEN.search(text, start + least_chars)) is not None:
        pieces.append(text[start : found.start()])
        start = found.start()
    pieces.append(text[start:])
    return pieces


def _can_be_cut(tokenizer: TokenizerLike) -> bool:
    """Tell whether nothing but the split pattern decides where tokens may end, and a special token spans no cut."""
    if isinstance(tokenizer, Tokenizer):
        is_plain = tokenizer.end_of_word == "none"  # with a mark, white space belongs to the word before it
    else:
        is_plain = isinstance(tokenizer, RankTokenizer)
    if not is_plain:
        return False
    assert isinstance(tokenizer, Tokenizer | RankTokenizer)
    is_known = tokenizer.split in SPLIT_PATTERNS and tokenizer.split != "none"
    # Before a special token anything may stand, such as the letter that makes a place inside it one to cut at.
    return is_known and not any(_BETWEEN.search(f"x{text}", 2) for text in tokenizer.special_tokens)
