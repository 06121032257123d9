"""RankTokenizer: a published rank table with this package's verbs.

A rank table says which byte strings are tokens and in which order they were made; the pair that each was made of
is not in it. Token ids come from tiktoken, so they are what a model sees; the history of a text comes from
replaying the ranks (encoder.py), and is held to tiktoken's ids.

It leaves out where the tables come from (vocabularies/, pretrained.py) and reading tables from files (formats/).
Its neighbours: tokenizer.py, the same verbs for a tokenizer whose merges are known; piece_tokenizer.py and
hub_tokenizer.py, for real tokenizers that are no rank tables.
"""

from __future__ import annotations

import copy
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

import numpy as np
import regex
import tiktoken
from numpy.typing import NDArray

from bpe.encoder import rank_lifetimes
from bpe.errors import TokenIdError
from bpe.kernels.classes import splits_alike
from bpe.kernels.counting import SCANNED_SPLITS
from bpe.kernels.encoding import CompiledEncoder
from bpe.kernels.loader import is_work_for_kernels
from bpe.kernels.recent import recent_encoder
from bpe.lifetimes import NEVER, WALL, History, special_token_boundaries
from bpe.normalizing import AlignedHistory, Change, align, list_changes, normalize_by_cluster, whole_characters
from bpe.pretokenize import SPLIT_PATTERNS, split
from bpe.tokenizer import MergeRows, Special, split_special, token_text

__all__ = ["NO_PARENT", "RankTokenizer"]

NO_PARENT = -1
"""In merge rows: the token is in the table, but no merge of two tokens makes it."""

# tiktoken panics on a run of 999,999 white space characters: its regex engine runs out of stack. No other
# class of characters does that. Half of it leaves a margin for other versions.
_TOO_MUCH_SPACE = 500_000

# From how many characters on making the compiled encoder pays: against replaying in Python, and against tiktoken.
_WORTH_AN_ENCODER = 20_000
_WORTH_AN_ENCODER_FOR_IDS = 1_000_000


class RankTokenizer:
    """A rank table, a split pattern and special tokens: a real tokenizer with this package's verbs.

    Nothing of it changes after construction, so one object serves all threads.

    name            shown in messages
    ranks           bytes of a token -> token id; all 256 single bytes are in it. Not copied: hand it over.
    split           a name of SPLIT_PATTERNS, or a regular expression that matches every character
    special_tokens  text -> token id
    normalizer      `NFC`: texts are composed first, special tokens aside; decoding gives the composed text
    vocab_size      highest token id plus one, where more ids belong to the vocabulary than stand in the table

    >>> from bpe.pretrained import load_pretrained
    >>> gpt2 = load_pretrained("gpt2")
    >>> gpt2.encode("strawberry"), gpt2.encode(" strawberry")
    ([301, 1831, 8396], [41236])
    """

    unknown_id: int | None = None
    """No text is unknown: all bytes are tokens."""

    def __init__(
        self,
        name: str,
        ranks: dict[bytes, int],
        split: str,
        special_tokens: Mapping[str, int],
        *,
        normalizer: Literal["none", "NFC"] = "none",
        vocab_size: int = 0,
    ) -> None:
        self.name = name
        self.split = split
        self.normalizer = normalizer
        self.special_tokens: Mapping[str, int] = MappingProxyType(dict(special_tokens))
        self.mergeable_ranks: Mapping[bytes, int] = MappingProxyType(ranks)
        self._ranks = ranks
        self._encoding = tiktoken.Encoding(
            name,
            pat_str=SPLIT_PATTERNS.get(split, split) or r"(?s:.+)",
            mergeable_ranks=ranks,
            special_tokens=dict(special_tokens),
        )
        self._vocab_size = max(vocab_size, self._encoding.n_vocab)
        self._lock = threading.Lock()

        # The bytes of each token by its id; none for an id that is not in use.
        self._names = [b""] * self.vocab_size
        for token, token_id in ranks.items():
            self._names[token_id] = token
        for text, token_id in special_tokens.items():
            self._names[token_id] = text.encode()
        self._num_bytes = np.fromiter(map(len, self._names), dtype=np.int32, count=self.vocab_size)
        is_merged = self._num_bytes > 1
        is_merged[list(special_tokens.values())] = False
        self._id_of_rank = np.flatnonzero(is_merged)
        self._rank_of_id = np.where(is_merged, np.cumsum(is_merged, dtype=np.int32) - 1, np.int32(-1))

    def __repr__(self) -> str:
        return f"<RankTokenizer {self.name}: {self.vocab_size:,} ids, {self.num_merges:,} merges>"

    def renamed(self, name: str) -> RankTokenizer:
        """Return the same tokenizer under another name, sharing everything else."""
        twin = copy.copy(self)
        twin.name = name
        return twin

    @property
    def vocab_size(self) -> int:
        """Highest token id plus one, as models count it. A few ids below may be unused (16 in cl100k_base)."""
        return self._vocab_size

    @property
    def num_merges(self) -> int:
        """Tokens of more than one byte: each is made by one merge. Its rank is its place in order of id."""
        return len(self._id_of_rank)

    # ------------------------------------------------------------------ text -> ids

    def encode(self, text: str, *, special: Special = "text") -> list[int]:
        """Return the token ids of a text, as tiktoken gives them.

        special   what special tokens in the text mean: `text`, ordinary characters; `special`, their id;
                  `reject`, an error

        Half a surrogate pair is no character: it is encoded as U+FFFD, as tiktoken does.

        Raises:
            SpecialTokenError: see above.

        >>> from bpe.pretrained import load_pretrained
        >>> load_pretrained("gpt2").encode("<|endoftext|>", special="special")
        [50256]
        """
        ids: list[int] = []
        for stretch, token_id in split_special(whole_characters(text), self.special_tokens, special):
            if token_id is None:
                ids += self._encode_ordinary(self._normalize(stretch))
            else:
                ids.append(token_id)
        return ids

    def encode_each(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Yield the token ids of each text, as `encode` gives them; many short texts are worth an encoder together.

        >>> from bpe.pretrained import load_pretrained
        >>> list(load_pretrained("gpt2").encode_each(["one", " two"]))
        [[505], [734]]
        """
        compiled = self._compiled(sum(map(len, texts)), _WORTH_AN_ENCODER_FOR_IDS)
        for text in texts:
            if compiled is None:
                yield self.encode(text)
            else:
                yield compiled.encode(self._normalize(whole_characters(text)))

    def _encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which nothing is special, from tiktoken wherever tiktoken can."""
        compiled = self._compiled(len(text), _WORTH_AN_ENCODER_FOR_IDS)
        if compiled is not None:
            return compiled.encode(text)
        if _is_too_much_space(text):
            return self._ids_between_cuts(self._replay(text), text.encode())
        return self._encoding.encode_ordinary(text)

    def _compiled(self, num_chars: int, least_chars: int) -> CompiledEncoder | None:
        """Return the compiled encoder, which gives tiktoken's ids; None where it does not fit, or not pay yet.

        Making it takes 0.1 s for 100,000 tokens. While it is kept, it is used for all texts but the shortest.
        """
        if self.split not in SCANNED_SPLITS or not is_work_for_kernels("encode", num_chars):
            return None
        with self._lock:
            return recent_encoder(self._ranks, self.split, make=num_chars >= least_chars)

    def _normalize(self, text: str) -> str:
        return text if self.normalizer == "none" else unicodedata.normalize(self.normalizer, text)

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text; nothing, for most rank tables.

        >>> from bpe.pretrained import load_pretrained
        >>> load_pretrained("gpt2").changes("Any text")
        []
        """
        return list_changes(self._units(whole_characters(text), "text"))

    def unknown_share(self, text: str) -> float:
        """Return 0: every byte is a token."""
        return 0.0

    def _units(self, text: str, special: Special) -> list[tuple[str, str]]:
        """Return a text in stretches, each with what normalization makes of it; special tokens stay."""
        if self._normalize(text) == text:
            return [(text, text)] if text else []
        units: list[tuple[str, str]] = []
        for stretch, token_id in split_special(text, self.special_tokens, special):
            if token_id is None:
                units += normalize_by_cluster(stretch, self._normalize)
            else:
                units.append((stretch, stretch))
        return units

    # ------------------------------------------------------------------ ids -> text

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of a token.

        Raises:
            TokenIdError: no token has this id.
        """
        if not self._is_token(token_id):
            raise self._no_such(token_id)
        return self._names[token_id]

    def token_name(self, token_id: int) -> str:
        """Return a token as people write it: its text, or where that is part of a character its bytes.

        Raises:
            TokenIdError: no token has this id.

        >>> from bpe.pretrained import load_pretrained
        >>> [load_pretrained("gpt2").token_name(i) for i in load_pretrained("gpt2").encode(" 일")]
        ['<0x20><0xEC>', '<0x9D>', '<0xBC>']
        """
        return token_text(self.token_bytes(token_id))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens: exactly the text that was encoded (and composed), in UTF-8.

        Raises:
            TokenIdError: no token has one of these ids.
        """
        ids = list(ids)
        try:
            return self._encoding.decode_bytes(ids)
        except (KeyError, OverflowError):
            wrong = next(token_id for token_id in ids if not self._is_token(token_id))
        raise self._no_such(wrong)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the tokens; bytes that are not UTF-8 become U+FFFD.

        Part of a character alone is not UTF-8, so a slice of the ids may lose what `decode_bytes` keeps.
        """
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    # ------------------------------------------------------------------ history

    def lifetimes(self, text: str) -> NDArray[np.int32]:
        """Return int32[max(num_bytes - 1, 0)]: the merge rank at which each byte boundary disappears."""
        return self.history(text).lifetimes

    def history(self, text: str, *, special: Special = "text") -> History:
        """Return the text at every number of merges at once; a special token is one base symbol.

        `final_ids` is what `encode` returns, always. Pre-tokens come from the `regex` module, whose Unicode
        version may be another than tiktoken's. Where the two split differently (recently added letters),
        tiktoken's tokens stand, and the cuts between them count as walls.

        `text` is the reader's text even where a normalizer makes another one of it. Then a base symbol is a byte
        of the other text, and covers what it came from: several bytes, one, or none (normalizing.py).

        Raises:
            SpecialTokenError: as for `encode`.
        """
        parts: list[NDArray[np.int32]] = []
        ids: list[int] = []
        original = whole_characters(text)
        units = self._units(original, special)
        text = "".join(new for _old, new in units)
        for stretch, token_id in split_special(original, self.special_tokens, special):
            if token_id is None:
                stretch = self._normalize(stretch)
                after, stretch_ids = self._history_of_ordinary(stretch)
                parts.append(after)
                ids += stretch_ids
            else:
                parts.append(special_token_boundaries(stretch.encode()))
                ids.append(token_id)

        after = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        final_ids = np.array(ids, dtype=np.int64)
        if text == original:
            return History.from_boundaries(text.encode(), after, final_ids, num_merges=self.num_merges)
        normalized = AlignedHistory.from_boundaries(text.encode(), after, final_ids, num_merges=self.num_merges)
        return replace(normalized, text=original.encode(), offsets=align(units)[normalized.offsets])

    def _history_of_ordinary(self, text: str) -> tuple[NDArray[np.int32], list[int]]:
        """Return what becomes of the boundary after each byte, in merge ranks, and the ids it ends in."""
        compiled = self._compiled(len(text), _WORTH_AN_ENCODER)
        if compiled is not None and splits_alike(text, with_cases=self.split == "o200k"):
            recorded = compiled.record(text.encode())
            after = recorded.lifetimes()
            merged = after < WALL
            after[merged] = self._rank_of_id[after[merged]]
            return after, recorded.ids.tolist()

        after = self._replay(text)
        if _is_too_much_space(text):
            ids = self._ids_between_cuts(after, text.encode())
        else:
            ids = self._encoding.encode_ordinary(text)
            is_cut = np.zeros(len(after), dtype=np.bool_)
            is_cut[np.cumsum(self._num_bytes[ids]) - 1] = True
            if not np.array_equal(after >= WALL, is_cut):
                self._follow_cuts(after, is_cut, text.encode())

        merged = after < WALL
        after[merged] = self._rank_of_id[after[merged]]
        return after, ids

    def _ids_between_cuts(self, after: NDArray[np.int32], data: bytes) -> list[int]:
        """Return the ids of the tokens that a replay ends in."""
        ends = np.flatnonzero(after >= WALL) + 1
        starts = np.concatenate(([0], ends[:-1]))
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self._ranks[data[start:end]] for start, end in spans]

    def _replay(self, text: str) -> NDArray[np.int32]:
        """Return int32[num_bytes]: what becomes of the boundary after each byte; WALL ends a pre-token.

        Where a merge removes the boundary, the number is the id of the token that the merge makes. Each
        distinct pre-token is computed once.
        """
        laid_out: dict[str, NDArray[np.int32]] = {}
        pieces = split(text, self.split)
        for piece in pieces:
            if piece not in laid_out:
                laid_out[piece] = self._replay_piece(piece.encode())
        return np.concatenate([laid_out[piece] for piece in pieces])

    def _replay_piece(self, piece: bytes) -> NDArray[np.int32]:
        """Replay one pre-token. One that is a token as a whole is that token, whether or not merges make it."""
        after = np.full(len(piece), WALL, dtype=np.int32)
        after[:-1] = rank_lifetimes(piece, self._ranks)
        whole = self._ranks.get(piece)
        if whole is not None:
            after[:-1][after[:-1] == NEVER] = whole
        return after

    def _follow_cuts(self, after: NDArray[np.int32], is_cut: NDArray[np.bool_], data: bytes) -> None:
        """Lay out again, in place, each stretch of `after` that does not end in the cuts of `is_cut`.

        A stretch runs from one wall that is also a cut to the next one. Inside it each token is replayed by
        itself. Its end becomes a wall, unless it lies inside a character, where no pre-token can end.
        """
        agreed = np.flatnonzero((after == WALL) & is_cut)
        differing = np.flatnonzero((after >= WALL) != is_cut)
        for stretch in np.unique(np.searchsorted(agreed, differing)).tolist():
            start = int(agreed[stretch - 1]) + 1 if stretch else 0
            end = int(agreed[stretch]) + 1
            for token_end in (np.flatnonzero(is_cut[start:end]) + start + 1).tolist():
                after[start:token_end] = self._replay_piece(data[start:token_end])
                if token_end < len(data) and _continues_character(data[token_end]):
                    after[token_end - 1] = NEVER
                start = token_end

    # ------------------------------------------------------------------ the table

    def base_names(self) -> dict[int, bytes]:
        """Return the bytes of every token that no merge makes, by id: single bytes and special tokens."""
        names = {token_id: token for token, token_id in self._ranks.items() if len(token) == 1}
        special = {token_id: text.encode() for text, token_id in self.special_tokens.items()}
        return dict(sorted((names | special).items()))

    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows:
        """Return merges as columns, all or those of some ranks (ascending).

        The pair of a merge is what the lower ranks leave of the token's bytes. Both are NO_PARENT where
        that is not a pair: such a token is only found as a whole pre-token. The tables shipped here hold
        none, which also means that each of their tokens is always made from the same pair, in any text.
        Cost: some 7 s for all 199,742 merges of o200k_base, so ask for those that act.

        >>> from bpe.pretrained import load_pretrained
        >>> rows = load_pretrained("gpt2").merge_rows(np.array([0, 41236 - 256]))
        >>> [load_pretrained("gpt2").decode([i]) for i in (*rows.left, *rows.right)]
        [' ', ' straw', 't', 'berry']
        """
        rank = np.arange(self.num_merges) if ranks is None else np.asarray(ranks)
        tokens = self._id_of_rank[rank]
        pairs = np.array([self._parents(token_id) for token_id in tokens.tolist()], dtype=np.int64)
        pairs = pairs.reshape(-1, 2)
        return MergeRows(rank.astype(np.int64), pairs[:, 0], pairs[:, 1], tokens)

    def _parents(self, token_id: int) -> tuple[int, int]:
        """Return the ids of the pair that makes a token: the merge of its own rank is the last one inside."""
        token = self._names[token_id]
        cuts = np.flatnonzero(rank_lifetimes(token, self._ranks) >= token_id) + 1
        if len(cuts) != 1:
            return NO_PARENT, NO_PARENT
        return self._ranks[token[: cuts[0]]], self._ranks[token[cuts[0] :]]

    def _is_token(self, token_id: int) -> bool:
        return 0 <= token_id < self.vocab_size and self._names[token_id] != b""

    def _no_such(self, token_id: int) -> TokenIdError:
        return TokenIdError(
            f"a token id of {self.name} must be from 0 to {self.vocab_size - 1:,} and in use, but is {token_id:,}"
        )


def _is_too_much_space(text: str) -> bool:
    """Tell whether tiktoken would panic over a run of white space. Looks only at texts of that length."""
    if len(text) < _TOO_MUCH_SPACE:
        return False
    return any(len(run) >= _TOO_MUCH_SPACE for run in regex.findall(r"\s+", text))


def _continues_character(byte: int) -> bool:
    """Tell whether a byte of UTF-8 is a later byte of a character."""
    return byte & 0b1100_0000 == 0b1000_0000
