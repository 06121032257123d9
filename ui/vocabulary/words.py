"""What the page calls kinds of tokens and what becomes of their text: one place, for the list, filters and tables."""

from __future__ import annotations

from types import MappingProxyType

from bpe.reachability import Reason
from bpe.vocabulary import TokenKind

__all__ = ["KIND_WORDS", "REASON_SENTENCES", "REASON_WORDS"]

KIND_WORDS = MappingProxyType(
    {
        TokenKind.LEADING_SPACE: "leading space",
        TokenKind.DIGITS: "digits",
        TokenKind.BLANK: "only white space",
        TokenKind.PARTIAL: "part of a character",
        TokenKind.BASE: "base symbol",
        TokenKind.SPECIAL: "special",
    }
)

REASON_WORDS = MappingProxyType(
    {
        Reason.WHOLE: "only looked up",
        Reason.SPLIT: "cut by the split pattern",
        Reason.MERGE: "unreachable merge",
        Reason.INSIDE_WORD: "only inside a word",
        Reason.PARTIAL: "",  # the kind says it
        Reason.NOT_UTF8: "in no text",
        Reason.SPECIAL: "",
        Reason.NORMALIZED: "normalized first",
        Reason.OTHERS: "other tokens are preferred",
    }
)

REASON_SENTENCES = MappingProxyType(
    {
        Reason.PRODUCED: "Encoding its own text gives this token.",
        Reason.WHOLE: (
            "Encoding its own text gives this token, but only because a whole pre-token is looked up first: no two "
            "tokens merge into it."
        ),
        Reason.SPLIT: "Its own text never gives this token: the split pattern cuts that text, and merges stop there.",
        Reason.MERGE: "Its own text never gives this token: merges of lower rank take its parts elsewhere.",
        Reason.INSIDE_WORD: (
            "Its own text never gives this token: it is for a part of a word, and alone its text is a whole word."
        ),
        Reason.PARTIAL: "It has no text of its own: its bytes are part of a character.",
        Reason.NOT_UTF8: "No text gives this token: these bytes never occur in UTF-8.",
        Reason.SPECIAL: "It stands for no text: a program puts it in, encoding a text as text never does.",
        Reason.NORMALIZED: (
            "Its own text never gives this token: the tokenizer first makes another text of it (composes it, "
            "lower-cases it, or puts a space in front)."
        ),
        Reason.OTHERS: "Its own text never gives this token: the tokenizer prefers other tokens for it.",
        Reason.UNCHECKED: "Whether its own text gives it was not checked.",
    }
)
