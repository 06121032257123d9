"""ImportedTokenizer: byte-pair encoding with vocabulary, merges and text handling as a foreign file has them.

The merges are replayed by encoder.py like those of a trained tokenizer. What differs: token ids are the
file's, in any order; several merges may make one token (files made from rank tables list every way); base
symbols may be missing, with an unknown token in their place; text is normalized and split by steps
(pipeline.py); and added tokens are found in the text before all that.

Read tokenizer.py first: same verbs, one algorithm, no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.encoder import replay
from bpe.errors import TokenIdError, UnknownSymbolError
from bpe.formats.byte_alphabet import CHAR_OF_BYTE, to_bytes, to_chars
from bpe.formats.pipeline import Normalize, Piece, Step, run_steps
from bpe.lifetimes import NEVER, History, LaidOut
from bpe.normalizing import AlignedHistory, Change, Unit, align, list_changes, normalize_by_cluster, whole_characters
from bpe.rank_tokenizer import NO_PARENT
from bpe.tokenizer import UNKNOWN_ID, MergeRows, Special, Unknown, split_special, token_text

__all__ = ["AddedToken", "ImportedTokenizer"]


@dataclass(frozen=True)
class AddedToken:
    """A token that is looked for in the text itself.

    special       only looked for when special tokens are asked for; other added tokens always are
    normalized    looked for after normalization
    takes_left    the white space before it belongs to it;  takes_right   that after it
    """

    text: str
    token: int
    special: bool = True
    normalized: bool = False
    takes_left: bool = False
    takes_right: bool = False


class _Encoded(NamedTuple):
    """One distinct pre-token, or an added token; a `LaidOut` in lists."""

    shown: bytes
    widths: list[int]
    """Bytes that each base symbol covers."""
    lifetimes: list[int]
    """One a boundary inside."""
    ids: list[int]


@dataclass(frozen=True, eq=False)
class ImportedTokenizer:
    """A byte-pair encoding tokenizer from a file. Made by `load_tokenizer`; fields as the file says.

    vocab         token text as the file writes it -> id
    merges        (left id, right id, token id), in rank order
    byte_level    token texts are in the byte alphabet of GPT-2; else they are plain characters
    steps         pre-tokenizers;  normalize: what happens to the text before them, None for nothing
    end_of_word   what is written behind the last character of each pre-token; empty for none
    unknown_id    id for a base symbol that the vocabulary lacks; None: `encode` raises
    fuse_unknown  neighbouring unknown symbols are one
    whole_first   a pre-token that is a token is not merged together, but looked up (`ignore_merges`)
    """

    name: str
    vocab: Mapping[str, int] = field(repr=False)
    merges: tuple[tuple[int, int, int], ...] = field(repr=False)
    byte_level: bool
    steps: tuple[Step, ...] = field(default=(), repr=False)
    normalize: Normalize | None = field(default=None, repr=False)
    added: tuple[AddedToken, ...] = field(default=(), repr=False)
    end_of_word: str = ""
    unknown_id: int | None = None
    fuse_unknown: bool = False
    whole_first: bool = False

    @property
    def vocab_size(self) -> int:
        """Highest token id plus one, as models count it."""
        return max(self._names, default=-1) + 1

    @property
    def num_merges(self) -> int:
        """Merges; with `whole_first` also a row for each token that is only found by looking it up."""
        return len(self._rows)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Text -> id of the special ones among the added tokens."""
        return {added.text: added.token for added in self.added if added.special}

    @cached_property
    def _names(self) -> dict[int, bytes]:
        names: dict[int, bytes] = {}
        for text, token in self.vocab.items():
            name = to_bytes(text) if self.byte_level else None
            names[token] = text.encode() if name is None else name
        names.update((added.token, added.text.encode()) for added in self.added)
        return names

    @cached_property
    def _rows(self) -> list[tuple[int, int, int]]:
        rows = list(self.merges)
        if self.whole_first:
            made = {token for _left, _right, token in rows}
            for text, token in self.vocab.items():
                if len(text) > 1 and token not in made:
                    rows.append((NO_PARENT, NO_PARENT, token))
        return rows

    @cached_property
    def _joined(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Pair of ids -> (merge rank, id of the token)."""
        return {(left, right): (rank, token) for rank, (left, right, token) in enumerate(self.merges)}

    @cached_property
    def _rank_of_token(self) -> dict[int, int]:
        return {token: rank for rank, (_left, _right, token) in enumerate(self._rows)}

    # ------------------------------------------------------------------ text -> ids

    def encode(self, text: str, *, special: Special = "text", unknown: Unknown = "raise") -> list[int]:
        """Return the token ids of a text, without those that a model wants around it.

        special   `text`, `special` or `reject`, for special tokens; other added tokens are always found
        unknown   for a symbol that the vocabulary lacks, where it has no unknown token: `raise` or `mark`

        Raises:
            UnknownSymbolError, SpecialTokenError: see above.
        """
        ids: list[int] = []
        known: dict[str, _Encoded] = {}
        for stretch, token in self._stretches(text, special):
            if token is not None:
                ids.append(token)
                continue
            for piece in run_steps(stretch, self.steps):
                if piece.text not in known:
                    known[piece.text] = self._lay_out(piece.text)
                ids += known[piece.text].ids
        if unknown == "raise" and UNKNOWN_ID in ids:
            raise UnknownSymbolError(
                f"the text must hold only characters that {self.name} knows, for it has no unknown token, but holds "
                f"others: {self._say_unknown(text)}"
            )
        return ids

    def _say_unknown(self, text: str) -> str:
        symbols = to_chars(text.encode()) if self.byte_level else text
        return ", ".join(sorted({f"U+{ord(char):04X}" for char in symbols if char not in self.vocab})[:5])

    def _stretches(self, text: str, special: Special) -> Iterator[tuple[str, int | None]]:
        """Yield (stretch of normalized text, None) or (text of an added token, its id)."""
        split_special(text, self.special_tokens, special)  # raises for `reject`, and for a mode that is none
        later = [added for added in self._active(special) if added.normalized]
        for stretch, token in self._stretches_as_given(text, special):
            if token is not None:
                yield stretch, token
            else:
                yield from _find_added(self.normalize(stretch) if self.normalize else stretch, later)

    def _stretches_as_given(self, text: str, special: Special) -> Iterator[tuple[str, int | None]]:
        """Yield the same before normalization: only the added tokens that are found there stand alone."""
        raw = [added for added in self._active(special) if not added.normalized]
        return _find_added(whole_characters(text), raw)

    def _active(self, special: Special) -> list[AddedToken]:
        return [added for added in self.added if special == "special" or not added.special]

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text, in order; nothing where there is no normalizer."""
        return list_changes(self._units(text, "text"))

    def _units(self, text: str, special: Special) -> list[Unit]:
        """Return a text in stretches, each with what normalization makes of it; added tokens stay."""
        units: list[Unit] = []
        for stretch, token in self._stretches_as_given(text, special):
            if token is not None or self.normalize is None:
                units.append((stretch, stretch))
            else:
                units += normalize_by_cluster(stretch, self.normalize)
        return units

    def _lay_out(self, piece: str) -> _Encoded:
        """Encode one pre-token."""
        symbols, widths = self._symbols(piece)

        def join(left: int, right: int) -> tuple[int, int] | None:
            return self._joined.get((left, right))

        ids, lifetimes = replay(symbols, join)
        shown = piece.encode() + (self.end_of_word.encode() if piece else b"")
        whole = self.vocab.get(to_chars(piece.encode()) if self.byte_level else piece) if self.whole_first else None
        if whole is not None:
            if len(ids) > 1:
                rank = self._rank_of_token[whole]
                lifetimes = [rank if lifetime == NEVER else lifetime for lifetime in lifetimes]
            ids = [whole]
        return _Encoded(shown, widths, lifetimes, ids)

    def _symbols(self, piece: str) -> tuple[list[int], list[int]]:
        """Return the base symbols of one pre-token, and how many bytes each stands for."""
        if self.byte_level:
            texts = [CHAR_OF_BYTE[byte] for byte in piece.encode()]
            widths = [1] * len(texts)
        else:
            texts = list(piece)
            widths = [len(char.encode()) for char in piece]
        if texts and self.end_of_word:
            texts[-1] += self.end_of_word
            widths[-1] += len(self.end_of_word.encode())

        unknown = UNKNOWN_ID if self.unknown_id is None else self.unknown_id
        symbols: list[int] = []
        joined_widths: list[int] = []
        after_unknown = False
        for text, width in zip(texts, widths, strict=True):
            is_unknown = text not in self.vocab
            if is_unknown and after_unknown and self.fuse_unknown:
                joined_widths[-1] += width
                continue
            symbols.append(unknown if is_unknown else self.vocab[text])
            joined_widths.append(width)
            after_unknown = is_unknown
        return symbols, joined_widths

    # ------------------------------------------------------------------ ids -> text

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token, an end-of-word mark written out.

        Raises:
            TokenIdError: no token has this id.
        """
        name = self._names.get(token)
        if name is None:
            raise TokenIdError(
                f"a token id of {self.name} must be from 0 to {self.vocab_size - 1:,} and in use, but is {token:,}"
            )
        return name

    def token_name(self, token: int) -> str:
        """Return a token as people write it, see `token_text`.

        Raises:
            TokenIdError: no token has this id.
        """
        return token_text(self.token_bytes(token))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens; with an end-of-word mark, one space after each word but the last.

        Raises:
            TokenIdError: no token has one of these ids.
        """
        mark = self.end_of_word.encode()
        parts: list[bytes] = []
        for token in ids:
            if token == UNKNOWN_ID:
                parts.append("\ufffd".encode())
                continue
            name = self.token_bytes(token)
            ends_word = bool(mark) and name.endswith(mark)
            parts.append(name[: -len(mark)] + b" " if ends_word else name)
        joined = b"".join(parts)
        return joined.removesuffix(b" ") if mark else joined

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the tokens; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    # ------------------------------------------------------------------ history

    def history(self, text: str, *, special: Special = "text") -> History:
        """Return the text at every number of merges at once.

        What the pre-tokenizers drop is shown as one space or line break at the end of the symbol before it.

        Where normalization changed the text, `text` is the reader's all the same, without end-of-word marks. Then a
        base symbol covers what it came from, and what was dropped behind it (normalizing.py).

        Raises:
            SpecialTokenError: as for `encode`.
        """
        known: dict[Piece, int] = {}
        distinct: list[_Encoded] = []
        order: list[int] = []
        places: list[tuple[int, int]] = []  # of each in `order`: its bytes in the normalized text, with the gap
        at = 0
        for stretch, token in self._stretches(text, special):
            end = at + len(stretch.encode())
            if token is not None:
                name = stretch.encode()
                order.append(len(distinct))
                distinct.append(_Encoded(name, [len(name)], [], [token]))
                places.append((at, end))
                at = end
                continue
            pieces = run_steps(stretch, self.steps)
            sizes = [len(piece.text.encode()) + len(piece.gap.encode()) for piece in pieces]
            at = end - sum(sizes)  # behind what was dropped before the first one
            for piece, size in zip(pieces, sizes, strict=True):
                if piece not in known:
                    known[piece] = len(distinct)
                    distinct.append(_with_gap(self._lay_out(piece.text), piece.gap))
                order.append(known[piece])
                places.append((at, at + size))
                at += size
            at = end
        parts = [LaidOut.of_lists(*laid) for laid in distinct]
        history = History.of_parts([parts[i] for i in order], num_merges=self.num_merges)
        return history if self.normalize is None else self._led_back(history, text, special, distinct, order, places)

    def _led_back(
        self,
        history: History,
        text: str,
        special: Special,
        distinct: list[_Encoded],
        order: list[int],
        places: list[tuple[int, int]],
    ) -> History:
        """Return the history over the reader's text, if normalization made another one of it."""
        units = self._units(text, special)
        if not order or all(before == after for before, after in units):
            return history
        inside = [np.cumsum([0, *laid.widths[:-1]], dtype=np.int64) for laid in distinct]
        starts = [start + inside[i] for i, (start, _end) in zip(order, places, strict=True)]
        offsets = align(units)[np.append(np.concatenate(starts), places[-1][1])]
        original = whole_characters(text).encode()
        offsets[0], offsets[-1] = 0, len(original)
        return AlignedHistory(
            text=original,
            offsets=offsets,
            lifetimes=history.lifetimes,
            walls=history.walls,
            num_merges=history.num_merges,
            final_ids=history.final_ids,
        )

    def lifetimes(self, text: str) -> NDArray[np.int32]:
        """Return int32[max(num_base_symbols - 1, 0)]: the merge rank at which each boundary disappears."""
        return self.history(text).lifetimes

    # ------------------------------------------------------------------ the table

    def base_names(self) -> dict[int, bytes]:
        """Return the bytes of every token that no merge makes, by id: base symbols and added tokens."""
        made = {token for _left, _right, token in self._rows} - {added.token for added in self.added}
        return {token: name for token, name in sorted(self._names.items()) if token not in made}

    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows:
        """Return the merges as columns, all or those of some ranks (ascending).

        Both sides are NO_PARENT where a token is only found by looking it up as a whole pre-token.
        """
        every = np.array(self._rows, dtype=np.int64).reshape(-1, 3)
        rank = np.arange(len(every), dtype=np.int64) if ranks is None else np.asarray(ranks, dtype=np.int64)
        return MergeRows(rank, every[rank, 0], every[rank, 1], every[rank, 2])


def _with_gap(laid: _Encoded, gap: str) -> _Encoded:
    mark = ("\n" if "\n" in gap else gap[:1]).encode()
    if not mark:
        return laid
    return laid._replace(shown=laid.shown + mark, widths=[*laid.widths[:-1], laid.widths[-1] + len(mark)])


def _find_added(text: str, added: list[AddedToken]) -> Iterator[tuple[str, int | None]]:
    """Yield stretches of text between added tokens, and the tokens: the first, the longest where several begin.

    White space that a token takes is taken after all tokens are found, so a token that *is* white space
    comes first.
    """
    by_text = {token.text: token for token in added}
    end = 0
    for found in _pattern_of(tuple(by_text)).finditer(text) if added else ():
        token = by_text[found.group()]
        start, stop = found.span()
        if start < end:
            continue  # white space that the token before it took
        if token.takes_left:
            start = end + len(text[end:start].rstrip())
        if token.takes_right:
            stop += len(text[stop:]) - len(text[stop:].lstrip())
        if start > end:
            yield text[end:start], None
        yield text[start:stop], token.token
        end = stop
    if end < len(text):
        yield text[end:], None


@lru_cache(maxsize=8)
def _pattern_of(texts: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile("|".join(regex.escape(text) for text in sorted(texts, key=len, reverse=True)))
