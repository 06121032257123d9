"""WordPiece: encoding by longest match, `##` where a word goes on.

Schuster and Nakajima (2012), "Japanese and Korean Voice Search"; Wu et al. (2016), "Google's Neural Machine
Translation System", arXiv 1609.08144; the form that BERT made known (Devlin et al. 2018). Encoding knows the
vocabulary only, not how it was learned: the longest token that fits, from the left, again and again. A word that
cannot be covered to its end is one [UNK].

Left out: BERT's clean-up before the split (lower-casing, accents, spaces around Chinese characters). White
space only separates words and is not encoded. Read wordpiece_training.py for how a vocabulary is learned, and
unigram.py for the other neighbour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.errors import SettingsError, TokenIdError
from bpe.greedy import Trie, history_of_tokens
from bpe.lifetimes import History
from bpe.normalizing import Change, whole_characters
from bpe.pretokenize import split
from bpe.tokenizer import MergeRows, Special, split_special

__all__ = ["BERT_SPLIT", "CONTINUES", "UNKNOWN", "WordPiece", "WordPieceTokenizer", "split_words"]

# Every punctuation mark is a word of its own, and so are the ASCII symbols that Unicode does not call punctuation.
_MARK = r"\p{P}$+<=>^`|~"
BERT_SPLIT = rf"[{_MARK}]|[^\s{_MARK}]+"
"""BERT's split: at white space, and around every punctuation mark."""

CONTINUES = "##"
"""How a token is written that does not begin a word. Only written: a `##` in the text is never the mark."""

UNKNOWN = "[UNK]"


class WordPiece(NamedTuple):
    """A token: its text, and whether it continues a word. Written, `##` stands for the latter."""

    text: str
    continues: bool

    @property
    def written(self) -> str:
        """The token as a vocabulary file writes it."""
        return CONTINUES + self.text if self.continues else self.text


@dataclass(frozen=True, eq=False)
class WordPieceTokenizer:
    """A WordPiece tokenizer: a vocabulary, used by longest match. It has the verbs of `Tokenizer`.

    vocabulary      the tokens in id order
    special_tokens  text -> id; [UNK] is one of them

    >>> tokenizer = WordPieceTokenizer.of_written(["[UNK]", "un", "##able", "##aff", "##ab"])
    >>> [tokenizer.token_bytes(token).decode() for token in tokenizer.encode("unaffable unable unaffected")]
    ['un', '##aff', '##able', 'un', '##able', '[UNK]']
    """

    vocabulary: tuple[WordPiece, ...]
    special_tokens: Mapping[str, int]
    split: str = BERT_SPLIT
    max_input_chars_per_word: int = 100
    num_merges: int = field(default=0, init=False)
    """Always 0: the merges of the training are forgotten, a text has no steps to look at."""

    def __post_init__(self) -> None:
        if UNKNOWN not in self.special_tokens:
            raise SettingsError(f"the vocabulary must hold {UNKNOWN}, for words that cannot be covered; add it")

    @classmethod
    def of_written(
        cls,
        tokens: Sequence[str],
        *,
        special_tokens: Iterable[str] = (UNKNOWN, "[PAD]", "[CLS]", "[SEP]", "[MASK]"),
        split: str = BERT_SPLIT,
        max_input_chars_per_word: int = 100,
    ) -> WordPieceTokenizer:
        """Return the tokenizer of a written vocabulary, such as the lines of BERT's vocab.txt.

        Raises:
            SettingsError: [UNK] is not among the tokens.
        """
        special = {text: tokens.index(text) for text in special_tokens if text in tokens}
        vocabulary = tuple(
            WordPiece(token.removeprefix(CONTINUES), token.startswith(CONTINUES) and token != CONTINUES)
            for token in tokens
        )
        return cls(vocabulary, special, split, max_input_chars_per_word)

    @property
    def vocab_size(self) -> int:
        """Tokens, special ones included."""
        return len(self.vocabulary)

    @property
    def unknown_id(self) -> int:
        """The id of [UNK]."""
        return self.special_tokens[UNKNOWN]

    @cached_property
    def _tries(self) -> tuple[Trie, Trie]:
        """Tokens that begin a word, and tokens that continue one."""
        special = set(self.special_tokens.values())
        tokens = [(piece, token) for token, piece in enumerate(self.vocabulary) if token not in special]
        begin = Trie((piece.text, token) for piece, token in tokens if not piece.continues)
        return begin, Trie((piece.text, token) for piece, token in tokens if piece.continues)

    def encode_word(self, word: str) -> list[int]:
        """Return the token ids of one word: the longest token that fits, again and again, or one [UNK].

        Cost: the word times the longest token; a word beyond `max_input_chars_per_word` costs nothing.
        """
        if len(word) > self.max_input_chars_per_word:
            return [self.unknown_id]
        begin, inside = self._tries
        ids: list[int] = []
        at = 0
        while at < len(word):
            found = (inside if at else begin).longest(word, at)
            if found is None:
                return [self.unknown_id]
            at, token = found
            ids.append(token)
        return ids

    def encode(self, text: str, *, special: Special = "text") -> list[int]:
        """Return the token ids of a text. White space is not encoded, and nothing is ever refused as unknown.

        special   what special tokens in the text mean: `text`, ordinary characters; `special`, their id;
                  `reject`, an error

        Raises:
            SpecialTokenError: see above.
        """
        ids: list[int] = []
        cache: dict[str, list[int]] = {}
        for stretch, token in split_special(whole_characters(text), self.special_tokens, special):
            if token is not None:
                ids.append(token)
                continue
            for _before, word, _after in split_words(stretch, self.split):
                if word not in cache:
                    cache[word] = self.encode_word(word)
                ids += cache[word]
        return ids

    def token_bytes(self, token: int) -> bytes:
        """Return a token as written, in UTF-8.

        Raises:
            TokenIdError: no token has this id.
        """
        if not 0 <= token < len(self.vocabulary):
            raise TokenIdError(f"token id must be from 0 to {self.vocab_size - 1:,}, but is {token:,}")
        return self.vocabulary[token].written.encode()

    def token_name(self, token: int) -> str:
        """Return a token as a vocabulary file writes it: `##able` where a word goes on.

        Raises:
            TokenIdError: no token has this id.
        """
        return self.token_bytes(token).decode()

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text: nothing, it is taken as it is; BERT's clean-up is left out."""
        return []

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the words, one space between them: how they were separated was not encoded."""
        parts: list[str] = []
        for token in ids:
            self.token_bytes(token)  # an id that is none is refused
            piece = self.vocabulary[token]
            parts += (piece.text,) if piece.continues or not parts else (" ", piece.text)
        return "".join(parts).encode()

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words, one space between them."""
        return self.decode_bytes(ids).decode()

    def history(self, text: str, *, special: Special = "text") -> History:
        """Return the text cut into its tokens: there are no steps, so the base symbols are the tokens.

        The bytes are those of the text (its surrogates replaced). White space belongs to the token before it,
        at the beginning to the one after it; a text without words is empty. An [UNK] shows its word.
        """
        words: list[tuple[list[bytes], list[int]]] = []
        pending = ""  # white space that no token has yet
        for stretch, token in split_special(whole_characters(text), self.special_tokens, special):
            pieces = [("", stretch, "")] if token is not None else split_words(stretch, self.split)
            if not pieces:
                pending += stretch
            for before, word, after in pieces:
                ids = [token] if token is not None else self.encode_word(word)
                shown = self._shown(word, ids)
                if words:
                    words[-1][0][-1] += (pending + before).encode()
                else:
                    shown[0] = (pending + before).encode() + shown[0]
                shown[-1] += after.encode()
                words.append((shown, ids))
                pending = ""
        if words:
            words[-1][0][-1] += pending.encode()
        return history_of_tokens(words)

    def _shown(self, word: str, ids: list[int]) -> list[bytes]:
        """Return the bytes of the word that each of its tokens stands for."""
        if len(ids) == 1:
            return [word.encode()]
        return [self.vocabulary[token].text.encode() for token in ids]

    def base_names(self) -> dict[int, bytes]:
        """Return every token as written: none is made by a merge."""
        return {token: piece.written.encode() for token, piece in enumerate(self.vocabulary)}

    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows:
        """Return no rows."""
        none = np.zeros(0, dtype=np.int64)
        return MergeRows(none, none, none, none)


def split_words(text: str, pattern: str) -> list[tuple[str, str, str]]:
    """Split a text into (white space before, word, white space after); only the first has any before it."""
    words: list[tuple[str, str, str]] = []
    lead = ""
    for piece in split(text, pattern):
        word = piece.strip()
        at = len(piece) - len(piece.lstrip())
        if words:
            words[-1] = (*words[-1][:2], words[-1][2] + piece[:at])
        else:
            lead += piece[:at]
        if word:
            words.append(("" if words else lead, word, piece[at + len(word) :]))
    return words
