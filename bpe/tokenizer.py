"""Tokenizer: base symbols, merges and a split pattern, immutable; text to token ids and back.

Bytes as base: 256 base tokens, so every text can be encoded and decoding gives back the same bytes.
Characters as base, as in the first papers: a character that training never saw is unknown, and with an
end-of-word mark the white space between words is not encoded (decoding puts one space after each word).

`history` gives a text at every step of the training at once (lifetimes.py). This module leaves out how
merges are learned (trainer.py) and the real vocabularies (pretrained.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from bpe.encoder import encode
from bpe.errors import SettingsError, SpecialTokenError, TokenIdError, UnknownSymbolError
from bpe.kernels.counting import SCANNED_SPLITS
from bpe.kernels.encoding import CompiledEncoder, CompiledMerges
from bpe.kernels.loader import is_work_for_kernels
from bpe.lifetimes import NEVER, WALL, History, LaidOut, special_token_boundaries
from bpe.normalizing import Change, whole_characters
from bpe.pretokenize import count_pre_tokens, split

__all__ = [
    "END_OF_WORD",
    "UNKNOWN_ID",
    "MergeRows",
    "Tokenizer",
    "TokenizerLike",
    "build_history",
    "count_words",
    "split_special",
    "token_text",
    "words_of_pre_tokens",
]

END_OF_WORD = "</w>"
"""How the end-of-word mark is written. The text may hold these four characters too: they are never the mark."""

UNKNOWN_ID = -1
"""Stands in a list of ids for a character that the tokenizer does not know. Decodes to U+FFFD."""

Special = Literal["text", "special", "reject"]
Unknown = Literal["raise", "mark"]
Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class MergeRows:
    """Merges as columns, int64[num_rows] each, in ascending rank.

    rank                the merge rank; a subset of all ranks when only some merges are of interest
    left, right, token  ids of the two symbols and of the token they make
    count, num_tied, num_replaced, num_tokens_after
                        from training, see `Merge`; None for a tokenizer that was not trained here
    """

    rank: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    token: NDArray[np.int64]
    count: NDArray[np.int64] | None = None
    num_tied: NDArray[np.int64] | None = None
    num_replaced: NDArray[np.int64] | None = None
    num_tokens_after: NDArray[np.int64] | None = None

    def columns(self) -> list[NDArray[np.int64]]:
        """Return the columns that are there, in the order above."""
        every = (self.rank, self.left, self.right, self.token, self.count, self.num_tied, self.num_replaced)
        return [column for column in (*every, self.num_tokens_after) if column is not None]


class TokenizerLike(Protocol):
    """What every tokenizer of this package can do, trained or real."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def num_merges(self) -> int: ...
    @property
    def special_tokens(self) -> Mapping[str, int]: ...
    @property
    def unknown_id(self) -> int | None:
        """The token that stands for what cannot be encoded; None where the vocabulary has none.

        Without one either nothing is unknown, or `encode` raises and a history holds UNKNOWN_ID.
        """

    def encode(self, text: str, *, special: Special = "text") -> list[int]: ...
    def decode(self, ids: Iterable[int]) -> str: ...
    def decode_bytes(self, ids: Iterable[int]) -> bytes: ...
    def token_bytes(self, token: int, /) -> bytes: ...
    def token_name(self, token: int, /) -> str:
        """Return a token as its vocabulary writes it: `▁the`, `##ing`, `<0xE2>`."""

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text before it is split."""

    def history(self, text: str, *, special: Special = "text") -> History: ...
    def base_names(self) -> dict[int, bytes]: ...
    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows: ...


_SHORT_TEXT_CHARS = 1_000_000


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """A byte-pair encoding tokenizer. Build one with `train`, `load_tokenizer` or these fields.

    base_symbols    name of each base token in id order, as bytes: 256 single bytes, or characters in code
                    point order followed by the end mark (separate) or by characters with it (attached)
    merges          the pairs in rank order; the merge of rank r makes token `len(base_symbols) + r`
    special_tokens  text -> id, ids above those of the merges

    >>> from bpe import TrainSettings, train
    >>> tokenizer = train("aaabdaaabac", TrainSettings(split="none", num_merges=3)).tokenizer
    >>> tokenizer.encode("aaab"), tokenizer.at_step(1).encode("aaab")
    ([258], [256, 97, 98])
    """

    base: Literal["bytes", "chars"] = "bytes"
    end_of_word: Literal["none", "separate", "attached"] = "none"
    split: str = "gpt2"
    base_symbols: tuple[bytes, ...] = tuple(bytes([byte]) for byte in range(256))
    merges: tuple[Pair, ...] = field(default=(), repr=False)
    special_tokens: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def base_of(
        cls,
        words: Iterable[str],
        *,
        base: Literal["bytes", "chars"] = "bytes",
        end_of_word: Literal["none", "separate", "attached"] = "none",
        split: str = "gpt2",
    ) -> Tokenizer:
        """Return a tokenizer without merges whose base symbols are those of the words.

        >>> Tokenizer.base_of(["low"], base="chars", end_of_word="attached").base_symbols
        (b'l', b'o', b'w</w>')
        """
        if base == "bytes":
            return cls(split=split)
        words = list(words)
        if end_of_word == "attached":
            inner = {char for word in words for char in word[:-1]}
            final = {word[-1] + END_OF_WORD for word in words}
            names = sorted(inner) + sorted(final)
        else:
            names = sorted({char for word in words for char in word})
            if end_of_word == "separate" and words:
                names.append(END_OF_WORD)
        return cls(base, end_of_word, split, tuple(name.encode() for name in names))

    def with_merges(self, merges: tuple[Pair, ...]) -> Tokenizer:
        """Return this tokenizer with other merges."""
        return replace(self, merges=merges)

    def at_step(self, k: int) -> Tokenizer:
        """Return the tokenizer as it was after k merges; special tokens keep their ids.

        Raises:
            SettingsError: k is not from 0 to num_merges.
        """
        if not 0 <= k <= self.num_merges:
            raise SettingsError(f"step must be from 0 to {self.num_merges:,}, but is {k:,}")
        return replace(self, merges=self.merges[:k])

    @property
    def num_merges(self) -> int:
        """Merges."""
        return len(self.merges)

    @property
    def unknown_id(self) -> None:
        """None: of bytes nothing is unknown, and a character that is unknown has no token."""
        return None

    @property
    def vocab_size(self) -> int:
        """Base tokens, merges and special tokens."""
        return len(self.base_symbols) + len(self.merges) + len(self.special_tokens)

    @cached_property
    def ranks(self) -> dict[Pair, int]:
        """Pair of ids -> merge rank."""
        return {pair: rank for rank, pair in enumerate(self.merges)}

    @cached_property
    def _base_id(self) -> dict[str, int]:
        """Character, with the mark where attached -> id. The separate mark is kept out: it is no character."""
        names = self.base_symbols[:-1] if self._mark_id is not None else self.base_symbols
        return {name.decode(): i for i, name in enumerate(names)} if self.base == "chars" else {}

    @property
    def _mark_id(self) -> int | None:
        has_mark = self.end_of_word == "separate" and self.base_symbols
        return len(self.base_symbols) - 1 if has_mark else None

    @cached_property
    def _names(self) -> list[bytes]:
        names = list(self.base_symbols)
        for left, right in self.merges:
            names.append(names[left] + names[right])
        return names

    @cached_property
    def _ends_word(self) -> list[bool]:
        """Whether a token ends with the mark. Told from how it was made: its text may end in `</w>` anyway."""
        if self.end_of_word == "attached":
            ends = [len(name.decode()) > 1 for name in self.base_symbols]
        else:
            ends = [i == self._mark_id for i in range(len(self.base_symbols))]
        for _left, right in self.merges:
            ends.append(ends[right])
        return ends

    @cached_property
    def _special_names(self) -> dict[int, bytes]:
        return {token: text.encode() for text, token in self.special_tokens.items()}

    # ------------------------------------------------------------------ text -> ids

    def symbols(self, pre_token: str) -> list[int]:
        """Return the base ids of one pre-token, end mark included; UNKNOWN_ID for an unknown character."""
        if self.base == "bytes":
            return list(pre_token.encode())
        id_of = self._base_id
        if self.end_of_word == "attached" and pre_token:
            inner = [id_of.get(char, UNKNOWN_ID) for char in pre_token[:-1]]
            return [*inner, id_of.get(pre_token[-1] + END_OF_WORD, UNKNOWN_ID)]
        ids = [id_of.get(char, UNKNOWN_ID) for char in pre_token]
        return ids if self._mark_id is None else [*ids, self._mark_id]

    def encode(self, text: str, *, special: Special = "text", unknown: Unknown = "raise") -> list[int]:
        """Return the token ids of a text.

        special   what special tokens in the text mean: `text`, ordinary characters; `special`, their id;
                  `reject`, an error
        unknown   what to do with a character that training never saw: `raise`, or `mark` it with UNKNOWN_ID

        Half a surrogate pair is no character: it is encoded as U+FFFD.

        Raises:
            UnknownSymbolError, SpecialTokenError: see above.
        """
        ids: list[int] = []
        for stretch, token in split_special(whole_characters(text), self.special_tokens, special):
            if token is not None:
                ids.append(token)
            elif self._is_for_kernels(stretch):
                ids += self._text_encoder(len(stretch)).encode(stretch)
            else:
                words = [word for word, _gap in _words(stretch, self.split, self.end_of_word)]
                encoded = self.encode_pre_tokens(words)
                for word in words:
                    ids += encoded[word][0]
        if unknown == "raise" and UNKNOWN_ID in ids:
            raise UnknownSymbolError(self._say_unknown(text))
        return ids

    def encode_pre_tokens(self, pre_tokens: Iterable[str]) -> dict[str, tuple[list[int], list[int]]]:
        """Return (token ids, lifetimes of the boundaries) of each distinct pre-token.

        >>> Tokenizer(merges=((97, 98),)).encode_pre_tokens(["abc"])
        {'abc': ([256, 99], [0, 2147483647])}
        """
        distinct = list(dict.fromkeys(pre_tokens))
        symbols = [self.symbols(pre_token) for pre_token in distinct]
        if is_work_for_kernels("encode", sum(map(len, symbols))):
            encoded = self._merge_encoder.replay_lists(symbols)
        else:
            encoded = [encode(piece, self.ranks, len(self.base_symbols)) for piece in symbols]
        return dict(zip(distinct, encoded, strict=True))

    def _is_for_kernels(self, text: str) -> bool:
        """Tell whether a text goes to the compiled encoder as it is, its splitting included."""
        return self.base == "bytes" and self.split in SCANNED_SPLITS and is_work_for_kernels("encode", len(text))

    def _text_encoder(self, num_chars: int) -> CompiledEncoder:
        """Return the encoder for a text of this length.

        On a server every reader's tokenizer has one, mostly for a page of text, so that one is small: 0.6 MB instead
        of 4. The King James Bible's first 100,000 characters take as long with both, its first million 24 ms, not 16.
        """
        return self._small_encoder if num_chars <= _SHORT_TEXT_CHARS else self._large_encoder

    @cached_property
    def _small_encoder(self) -> CompiledEncoder:
        return CompiledEncoder.from_merges(self.merges, self.split, cache_rows=1 << 12)

    @cached_property
    def _large_encoder(self) -> CompiledEncoder:
        return CompiledEncoder.from_merges(self.merges, self.split)

    @cached_property
    def _merge_encoder(self) -> CompiledMerges:
        return CompiledMerges(self.merges, len(self.base_symbols))

    def _say_unknown(self, text: str) -> str:
        known = {name.decode().removesuffix(END_OF_WORD)[:1] for name in self.base_symbols} | set(self._base_id)
        unseen = sorted({char for char in text if char not in known and not char.isspace()})
        shown = ", ".join(f"{char} (U+{ord(char):04X})" for char in unseen[:5]) or "a character in this place"
        more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
        return (
            f"a character tokenizer encodes only characters of its training text, but this text holds {shown}{more}; "
            "train with base='bytes', or on a text that holds them"
        )

    # ------------------------------------------------------------------ ids -> text

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token, its end mark written out.

        Raises:
            TokenIdError: no token has this id.
        """
        if 0 <= token < len(self._names):
            return self._names[token]
        if token in self._special_names:
            return self._special_names[token]
        highest = max([len(self._names) - 1, *self._special_names])
        raise TokenIdError(f"token id must be from 0 to {highest:,} and in use, but is {token:,}")

    def token_name(self, token: int) -> str:
        """Return a token as people write it, see `token_text`.

        Raises:
            TokenIdError: no token has this id.
        """
        return token_text(self.token_bytes(token))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens: exactly the encoded text, for a bytes tokenizer.

        With an end-of-word mark each word is followed by one space, the last one by none: how the words were
        separated was not encoded. UNKNOWN_ID gives the three bytes of U+FFFD.
        """
        parts: list[bytes] = []
        for token in ids:
            if token == UNKNOWN_ID:
                parts.append("\ufffd".encode())
                continue
            name = self.token_bytes(token)
            if token < len(self._names) and self._ends_word[token]:
                name = name[: -len(END_OF_WORD)] + b" "
            parts.append(name)
        joined = b"".join(parts)
        return joined.removesuffix(b" ") if self.end_of_word != "none" else joined

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the tokens; bytes that are not UTF-8 become U+FFFD.

        Part of a character alone is not UTF-8, so a slice of the ids may lose what `decode_bytes` keeps.
        """
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    # ------------------------------------------------------------------ history

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text: nothing, it is taken as it is."""
        return []

    def lifetimes(self, text: str) -> NDArray[np.int32]:
        """Return int32[max(num_base_symbols - 1, 0)]: the merge rank at which each boundary disappears."""
        return self.history(text).lifetimes

    def history(
        self, text: str, *, special: Special = "text", known: Mapping[str, NDArray[np.int32]] | None = None
    ) -> History:
        """Return the text at every number of merges at once.

        `known` holds lifetimes of pre-tokens that are known already, from training.
        """
        text = whole_characters(text)
        stretches = split_special(text, self.special_tokens, special)
        if self._is_for_kernels(text):
            return self._compiled_history(text, stretches)
        pieces: list[tuple[str | int, str]] = []
        for stretch, token in stretches:
            if token is not None:
                pieces.append((token, ""))
            else:
                pieces.extend(_words(stretch, self.split, self.end_of_word))
        return build_history(self, pieces, known)

    def _compiled_history(self, text: str, stretches: Sequence[tuple[str, int | None]]) -> History:
        """Return what `build_history` does, for a byte tokenizer."""
        parts: list[NDArray[np.int32]] = []
        ids: list[NDArray[np.int32]] = []
        for stretch, token in stretches:
            data = stretch.encode()
            if token is None:
                recorded = self._text_encoder(len(stretch)).record(data)
                after = recorded.lifetimes()
                after[after < WALL] -= len(self.base_symbols)
                ids.append(recorded.ids)
            else:
                after = special_token_boundaries(data)
                ids.append(np.array([token], dtype=np.int32))
            parts.append(after)
        return History.from_boundaries(
            text.encode(), np.concatenate(parts), np.concatenate(ids), num_merges=self.num_merges
        )

    def base_names(self) -> dict[int, bytes]:
        """Return the bytes of every token that no merge makes, by id: base symbols and special tokens."""
        return dict(enumerate(self.base_symbols)) | self._special_names

    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows:
        """Return the merges as columns, all or those of some ranks (ascending)."""
        every = np.array(self.merges, dtype=np.int64).reshape(-1, 2)
        rank = np.arange(len(every), dtype=np.int64) if ranks is None else np.asarray(ranks, dtype=np.int64)
        return MergeRows(rank, every[rank, 0], every[rank, 1], len(self.base_symbols) + rank)


def token_text(name: bytes) -> str:
    r"""Return the bytes of a token as people write them: its text, or where it is part of a character each byte.

    >>> token_text(b" the"), token_text(b" \xec")
    (' the', '<0x20><0xEC>')
    """
    try:
        return name.decode()
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in name)


def count_words(text: str, pattern: str, end_of_word: str = "none") -> dict[str, int]:
    """Return each distinct pre-token that training sees, with its count, in order of first occurrence.

    With an end-of-word mark, white space only separates words and is not trained on.

    >>> count_words("low low lower", "whitespace", "separate")
    {'low': 2, 'lower': 1}
    """
    counts = count_pre_tokens(text, pattern)
    return counts if end_of_word == "none" else words_of_pre_tokens(counts)


def words_of_pre_tokens(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of pre-tokens without the white space around them; those of nothing else are left out.

    >>> words_of_pre_tokens({"low": 1, " ": 2, " low": 3})
    {'low': 4}
    """
    words: dict[str, int] = {}
    for pre_token, count in counts.items():
        word = pre_token.strip()
        if word:
            words[word] = words.get(word, 0) + count
    return words


def _words(text: str, pattern: str, end_of_word: str) -> list[tuple[str, str]]:
    """Split a text into (pre-token, white space that follows and is not encoded).

    Without an end-of-word mark nothing is left out and the second part is empty.
    """
    if end_of_word == "none":
        return [(piece, "") for piece in split(text, pattern)]
    words: list[tuple[str, str]] = []
    for piece in split(text, pattern):
        word = piece.strip()
        lead = piece[: len(piece) - len(piece.lstrip())]
        if words and lead:
            words[-1] = (words[-1][0], words[-1][1] + lead)
        if word:
            words.append((word, piece[len(piece.rstrip()) :]))
    return words


def split_special(text: str, special_tokens: Mapping[str, int], mode: Special) -> list[tuple[str, int | None]]:
    """Split a text at special tokens: (stretch of text, None) or (the special token's text, its id).

    Raises:
        SpecialTokenError: mode is `reject` and the text holds one.
        SettingsError: mode is none of the three.

    >>> split_special("a<|end|>b", {"<|end|>": 300}, "special")
    [('a', None), ('<|end|>', 300), ('b', None)]
    """
    if mode not in ("text", "special", "reject"):
        raise SettingsError(f"special must be one of text, special, reject, but is {mode!r}")
    if mode == "text" or not special_tokens:
        return [(text, None)] if text else []
    longest_first = sorted(special_tokens, key=len, reverse=True)
    pattern = regex.compile("(" + "|".join(map(regex.escape, longest_first)) + ")")
    if mode == "reject":
        found = pattern.search(text)
        if found:
            raise SpecialTokenError(
                f"the text must not hold special tokens, but holds {found.group()} at character {found.start():,}; "
                "encode special tokens as text, or as special tokens, to go on"
            )
        return [(text, None)] if text else []
    return [(part, special_tokens.get(part)) for part in pattern.split(text) if part]


def build_history(
    tokenizer: Tokenizer,
    pieces: Sequence[tuple[str | int, str]],
    known: Mapping[str, NDArray[np.int32]] | None = None,
) -> History:
    """Lay out pre-tokens (or special token ids), each with the white space that follows, as one history.

    Each distinct pre-token is encoded once. White space that is not encoded is shown, one space or line break,
    as part of the last symbol of its word.
    """
    known = known or {}
    encoded = tokenizer.encode_pre_tokens(
        piece for piece, _gap in pieces if isinstance(piece, str) and piece not in known
    )
    laid_out: dict[tuple[str | int, str], LaidOut] = {}
    for piece, gap in pieces:
        if (piece, gap) not in laid_out:
            laid_out[piece, gap] = _lay_out(tokenizer, piece, "\n" if "\n" in gap else gap[:1], known, encoded)

    return History.of_parts([laid_out[key] for key in pieces], num_merges=tokenizer.num_merges)


def _lay_out(
    tokenizer: Tokenizer,
    piece: str | int,
    gap: str,
    known: Mapping[str, NDArray[np.int32]],
    encoded: Mapping[str, tuple[list[int], list[int]]],
) -> LaidOut:
    lifetimes: list[int] = []
    if isinstance(piece, int):
        names, ids = [tokenizer.token_bytes(piece)], [piece]
    else:
        names = _symbol_names(tokenizer, piece)
        if piece in known:
            lifetimes = known[piece].tolist()
            symbols = tokenizer.symbols(piece)
            ids = _final_ids(symbols, lifetimes, len(tokenizer.base_symbols), tokenizer.num_merges)
        else:
            ids, lifetimes = encoded[piece]
    widths = [len(name) for name in names]
    widths[-1] += len(gap.encode())
    return LaidOut.of_lists(b"".join(names) + gap.encode(), widths, lifetimes, ids)


def _symbol_names(tokenizer: Tokenizer, pre_token: str) -> list[bytes]:
    """Return how each base symbol of a pre-token is shown: as in the text, the end mark written out."""
    if tokenizer.base == "bytes":
        raw = pre_token.encode()
        return [raw[i : i + 1] for i in range(len(raw))]
    names = [char.encode() for char in pre_token]
    if tokenizer.end_of_word == "separate" and tokenizer.base_symbols:  # an empty corpus gave no mark either
        names.append(END_OF_WORD.encode())
    elif tokenizer.end_of_word == "attached":
        names[-1] += END_OF_WORD.encode()
    return names


def _final_ids(symbols: Sequence[int], lifetimes: Sequence[int], num_base: int, num_merges: int) -> list[int]:
    """Return the token ids that lifetimes from training lead to: a token is made by its youngest merge."""
    ids: list[int] = []
    youngest = -1
    for i, symbol in enumerate(symbols):
        lifetime = lifetimes[i] if i < len(lifetimes) else NEVER
        if lifetime < num_merges:
            youngest = max(youngest, lifetime)
            continue
        ids.append(symbol if youngest < 0 else num_base + youngest)
        youngest = -1
    return ids
