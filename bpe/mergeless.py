"""MergelessTokenizer: what real tokenizers without a list of merges have in common.

WordPiece and Unigram do not merge, and the SentencePiece vocabularies taken from packages come without their
merges. Such a tokenizer has ids, names and cuts, but no steps: `num_merges` is 0, and the base symbols of a
history are its tokens. This module leaves out how a text is cut, which its subclasses do: piece_tokenizer.py
(SentencePiece BPE, loses nothing) and hub_tokenizer.py (WordPiece and Unigram, behind a normalizer).

Ids are those of the text alone: the tokens that a model wants around it ([CLS], <s>, ...) are not added.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bpe.errors import TokenIdError
from bpe.lifetimes import History
from bpe.normalizing import Change, Unit, list_changes, token_history, whole_characters
from bpe.tokenizer import MergeRows, Special, split_special
from bpe.vocabularies.packed_texts import PackedTexts

__all__ = ["SPACE_MARK", "MergelessTokenizer"]

SPACE_MARK = "\u2581"
"""How SentencePiece writes a space."""


class MergelessTokenizer(ABC):
    """A real tokenizer that has no merges to show. Nothing of it changes after construction.

    name            shown in messages
    pieces          each token as it is written in its vocabulary, by id: `▁the`, `##ing`, `<0xE2>`
    first_byte      id of the piece for byte 0, if there is one for every byte; the 255 others follow
    special_tokens  text -> token id
    unknown_id      the token that stands for what cannot be encoded; None if nothing is unknown
    """

    def __init__(
        self,
        name: str,
        pieces: Sequence[str],
        special_tokens: Mapping[str, int],
        *,
        unknown_id: int | None,
        first_byte: int | None = None,
    ) -> None:
        self.name = name
        self.special_tokens: Mapping[str, int] = MappingProxyType(dict(special_tokens))
        self.unknown_id = unknown_id
        self._pieces = PackedTexts(pieces)
        self._byte_ids = range(0) if first_byte is None else range(first_byte, first_byte + 256)
        self._special_ids = frozenset(special_tokens.values())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.vocab_size:,} ids, no merges>"

    @property
    def vocab_size(self) -> int:
        """Tokens, special ones included: the highest token id plus one."""
        return len(self._pieces)

    @property
    def num_merges(self) -> int:
        """None: there are no steps to show."""
        return 0

    # ------------------------------------------------------------------ what subclasses do

    @abstractmethod
    def _encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which nothing is special."""

    @abstractmethod
    def _cut_ordinary(self, text: str) -> tuple[list[int], NDArray[np.int64]]:
        """Return the ids of such a text and the byte of it where each token ends; the last one ends with it."""

    @abstractmethod
    def _units(self, text: str) -> list[Unit]:
        """Return such a text in stretches, each with what normalization makes of it."""

    @abstractmethod
    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the text of the tokens in UTF-8."""

    # ------------------------------------------------------------------ text -> ids

    def encode(self, text: str, *, special: Special = "text") -> list[int]:
        """Return the token ids of a text.

        special   what special tokens in the text mean: `text`, ordinary characters; `special`, their id;
                  `reject`, an error

        The stretches between special tokens are encoded apart, each as a text of its own.

        Raises:
            SpecialTokenError: see above.
        """
        ids: list[int] = []
        for stretch, token_id in split_special(whole_characters(text), self.special_tokens, special):
            if token_id is None:
                ids += self._encode_ordinary(stretch)
            else:
                ids.append(token_id)
        return ids

    def history(self, text: str, *, special: Special = "text") -> History:
        """Return the text in its tokens, in bytes of the text as it was given.

        What normalization drops belongs to the token that follows, at the end to the last one. Tokens that
        share a character divide its bytes: by convention, except after byte fallback, where it is a fact. What
        normalization adds covers no byte (normalizing.AlignedHistory). All cuts stay: there are no merges.

        Raises:
            SpecialTokenError: as for `encode`.
        """
        text = whole_characters(text)
        ids: list[int] = []
        ends: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        at = 0
        for stretch, token_id in split_special(text, self.special_tokens, special):
            num_bytes = len(stretch.encode())
            if token_id is None:
                stretch_ids, stretch_ends = self._cut_ordinary(stretch)
            else:
                stretch_ids, stretch_ends = [token_id], np.array([num_bytes], dtype=np.int64)
            ids += stretch_ids
            ends.append(stretch_ends + at)
            at += num_bytes
        cuts = np.concatenate(ends)
        cuts[-1] = at if ids else 0
        return token_history(text, cuts, ids)

    def lifetimes(self, text: str) -> NDArray[np.int32]:
        """Return int32[max(num_tokens - 1, 0)]: NEVER, for every boundary between two tokens."""
        return self.history(text).lifetimes

    # ------------------------------------------------------------------ normalization

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text, in order: why decoding does not give it back."""
        text = whole_characters(text)
        return list_changes(self._units(text)) if text else []

    def unknown_share(self, text: str) -> float:
        """Return the share of the tokens of a text that stand for something unknown; 0 for no tokens."""
        ids = self.encode(text)
        return ids.count(self.unknown_id) / len(ids) if ids and self.unknown_id is not None else 0.0

    # ------------------------------------------------------------------ tokens

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of a token: a word-start mark as a space, a continuation mark written out.

        Raises:
            TokenIdError: no token has this id.
        """
        self._check([token_id])
        return self._name(token_id)

    def token_name(self, token_id: int) -> str:
        """Return a token as it is written in its vocabulary: `▁the`, `##ing`, `<0xE2>`.

        Raises:
            TokenIdError: no token has this id.
        """
        self._check([token_id])
        return self._pieces[token_id]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the tokens, as `decode_bytes`; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def base_names(self) -> dict[int, bytes]:
        """Return the bytes of every token, by id: no merge makes any."""
        return {token_id: self._name(token_id) for token_id in range(self.vocab_size)}

    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows:
        """Return merges as columns: none."""
        nothing = np.zeros(0, dtype=np.int64)
        return MergeRows(nothing, nothing, nothing, nothing)

    def _name(self, token_id: int) -> bytes:
        if token_id in self._byte_ids:
            return bytes([token_id - self._byte_ids.start])
        return self._pieces[token_id].replace(SPACE_MARK, " ").encode()

    def _check(self, ids: Sequence[int]) -> None:
        for token_id in ids:
            if not 0 <= token_id < self.vocab_size:
                raise TokenIdError(
                    f"a token id of {self.name} must be from 0 to {self.vocab_size - 1:,}, but is {token_id:,}"
                )
