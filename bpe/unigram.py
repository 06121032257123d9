"""Unigram: tokens with probabilities; a text is cut the likeliest way, or any way by chance.

Kudo (2018), "Subword Regularization", arXiv 1804.10959, the other algorithm of SentencePiece. Every token has a
probability, a segmentation the product of its tokens'. All ways to cut a word form a lattice: the nodes are
the boundaries between its base symbols, the arcs are the tokens that fit between two of them.

Encoding takes the best path (Viterbi). The lattice also gives the n best segmentations, the probability of
each, and samples from all of them (subword regularization): a model trained on samples sees a word cut
in several ways.

Departures from SentencePiece's program: a pre-token is cut on its own, white space is a character like any other (no
U+2581), nothing is normalized. Left out: where the probabilities come from. Read unigram_training.py next.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import exp, inf, isfinite, log
from random import Random
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.errors import SettingsError, TokenIdError, UnknownSymbolError
from bpe.greedy import Trie, history_of_tokens
from bpe.lifetimes import History
from bpe.normalizing import Change, whole_characters
from bpe.pretokenize import compile_split, split
from bpe.settings import Base
from bpe.tokenizer import UNKNOWN_ID, MergeRows, Special, Unknown, split_special, token_text

__all__ = ["Arc", "Lattice", "Segmentation", "UnigramTokenizer", "spell", "unspell"]

_UNKNOWN_PENALTY = 10.0
"""An unknown character scores so much less than the rarest token, as in SentencePiece and `tokenizers`."""

_LONGEST_DRAWN = 1_000
"""A lattice as data, and n best segmentations, are for words of at most so many symbols."""

_MOST_SEGMENTATIONS = 1_000

_HIGHEST_ALPHA = 1e6


class Segmentation(NamedTuple):
    """One way to cut a pre-token."""

    ids: tuple[int, ...]
    score: float
    """Sum of the log probabilities of its tokens."""
    probability: float
    """Share among all ways to cut this pre-token."""


class Arc(NamedTuple):
    """A token that fits between two nodes."""

    start: int
    end: int
    """Nodes: 0 is the beginning, the number of symbols is the end."""
    token: int
    text: bytes
    score: float
    """Natural logarithm of its probability."""
    probability: float
    """Share of the segmentations, weighted by their probability, that use it."""
    on_best_path: bool


@dataclass(frozen=True)
class Lattice:
    """All ways to cut one pre-token, for drawing.

    offsets     byte in `text` of each node, from 0 to len(text)
    arcs        by start, then by end
    best        places in `arcs` of the best path, from left to right
    best_score  its score;   log_total   logarithm of the sum over all paths
    forward     logarithm of the sum over all paths from the beginning to each node; backward, to the end
    """

    text: bytes
    offsets: tuple[int, ...]
    arcs: tuple[Arc, ...]
    best: tuple[int, ...]
    best_score: float
    log_total: float
    forward: tuple[float, ...]
    backward: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class UnigramTokenizer:
    """A Unigram tokenizer: tokens and the logarithms of their probabilities. It has the verbs of `Tokenizer`.

    tokens   bytes of each token in id order
    scores   natural logarithm of the probability of each
    base     chars: tokens are made of characters, and one without a token of its own is unknown;
             bytes: tokens are made of bytes, and all 256 should be tokens

    >>> scores = {"un": 0.2, "it": 0.2, "unit": 0.1, "u": 0.1, "n": 0.2, "i": 0.1, "t": 0.1}
    >>> tokenizer = UnigramTokenizer.of_probabilities(scores, split="whitespace")
    >>> [tokenizer.decode([token]) for token in tokenizer.encode("unit")]
    ['unit']
    >>> for cut in tokenizer.n_best("unit", 2):
    ...     print([tokenizer.decode([token]) for token in cut.ids], round(cut.probability, 3))
    ['unit'] 0.684
    ['un', 'it'] 0.274
    """

    tokens: tuple[bytes, ...]
    scores: tuple[float, ...]
    base: Base = "chars"
    split: str = "gpt2"
    num_merges: int = field(default=0, init=False)
    """Always 0: no merges, a text has no steps to look at."""

    def __post_init__(self) -> None:
        if self.base not in get_args(Base):
            raise SettingsError(f"base must be one of {', '.join(get_args(Base))}, but is {self.base!r}")
        if len(self.tokens) != len(self.scores) or not self.tokens or b"" in self.tokens:
            raise SettingsError(
                f"a Unigram vocabulary must hold tokens that are not empty, each with a score, but holds "
                f"{len(self.tokens):,} tokens and {len(self.scores):,} scores"
            )
        wrong = next((score for score in self.scores if not isfinite(score)), None)
        if wrong is not None:
            raise SettingsError(f"a score must be a finite logarithm of a probability, but is {wrong}")
        if self.base == "chars":
            for name in self.tokens:
                try:
                    name.decode()
                except UnicodeDecodeError:
                    raise SettingsError(
                        f"with base='chars' tokens must be whole characters, but {name!r} is not; use base='bytes'"
                    ) from None
        compile_split(self.split)

    @classmethod
    def of_probabilities(
        cls, probabilities: Mapping[str, float], *, base: Base = "chars", split: str = "gpt2"
    ) -> UnigramTokenizer:
        """Return the tokenizer of a table of tokens and probabilities (or any other positive weights).

        Raises:
            SettingsError: a probability is not positive, or the table is empty.
        """
        for token, probability in probabilities.items():
            if not 0 < probability < inf:
                raise SettingsError(f"the probability of {token!r} must be above 0, but is {probability}")
        names = tuple(token.encode() for token in probabilities)
        return cls(names, tuple(map(log, probabilities.values())), base, split)

    # ------------------------------------------------------------------ text -> ids

    @property
    def vocab_size(self) -> int:
        """Tokens."""
        return len(self.tokens)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """None: all text is ordinary."""
        return {}

    @property
    def unknown_id(self) -> None:
        """None: a character that is unknown has no token."""
        return None

    @cached_property
    def _trie(self) -> Trie:
        return Trie((spell(name, self.base), token) for token, name in enumerate(self.tokens))

    @cached_property
    def _unknown_score(self) -> float:
        return min(self.scores) - _UNKNOWN_PENALTY

    def _arcs(self, spelled: str, start: int) -> list[tuple[int, int]]:
        """Return (end, token) of the arcs that leave a node; without a token of one symbol, an unknown one too."""
        arcs = self._trie.matches(spelled, start)
        if not arcs or arcs[0][0] > start + 1:
            arcs.insert(0, (start + 1, UNKNOWN_ID))
        return arcs

    def _score(self, token: int) -> float:
        return self._unknown_score if token == UNKNOWN_ID else self.scores[token]

    def _best_path(self, spelled: str) -> list[int]:
        """Return the ids of the likeliest segmentation (Viterbi); of equal ones, that with the longest last token.

        Cost: the number of arcs, at most symbols times the longest token. The walk through the trie is written out
        here: calling `_arcs` for every symbol takes four times as long.
        """
        n = len(spelled)
        children, id_at, scores = self._trie.children, self._trie.id_at, self.scores
        best = [-inf] * (n + 1)
        best[0] = 0.0
        came_from = [0] * (n + 1)
        came_by = [UNKNOWN_ID] * (n + 1)
        for start in range(n):
            here = best[start]
            first = children[0].get(spelled[start], 0)
            if id_at[first] < 0 and here + self._unknown_score > best[start + 1]:
                best[start + 1] = here + self._unknown_score
                came_from[start + 1] = start
                came_by[start + 1] = UNKNOWN_ID
            node = 0
            for end in range(start, n):
                child = children[node].get(spelled[end])
                if child is None:
                    break
                node = child
                token = id_at[node]
                if token >= 0:
                    score = here + scores[token]
                    if score > best[end + 1]:
                        best[end + 1] = score
                        came_from[end + 1] = start
                        came_by[end + 1] = token
        ids: list[int] = []
        at = n
        while at:
            ids.append(came_by[at])
            at = came_from[at]
        return ids[::-1]

    def encode_word(self, pre_token: str) -> list[int]:
        """Return the token ids of one pre-token, cut the likeliest way; UNKNOWN_ID for an unknown character.

        >>> UnigramTokenizer.of_probabilities({"a": 0.5, "b": 0.25, "ab": 0.25}).encode_word("abc")
        [2, -1]
        """
        return self._best_path(spell(whole_characters(pre_token).encode(), self.base))

    def encode(self, text: str, *, special: Special = "text", unknown: Unknown = "raise") -> list[int]:
        """Return the token ids of a text, every pre-token cut the likeliest way. Each distinct one is cut once.

        special   there are no special tokens: all text is ordinary
        unknown   what to do with a character that has no token: `raise`, or `mark` it with UNKNOWN_ID

        Raises:
            UnknownSymbolError: see above.
        """
        cache: dict[str, list[int]] = {}
        ids: list[int] = []
        for piece in self._pre_tokens(text, special):
            if piece not in cache:
                cache[piece] = self._best_path(spell(piece.encode(), self.base))
            ids += cache[piece]
        if unknown == "raise" and UNKNOWN_ID in ids:
            raise UnknownSymbolError(self._say_unknown(whole_characters(text)))
        return ids

    def encode_sampled(
        self, text: str, *, alpha: float = 1.0, seed: int = 0, special: Special = "text", unknown: Unknown = "raise"
    ) -> list[int]:
        """Return token ids of a text, every pre-token cut at random; the same seed gives the same ids.

        A segmentation is drawn with its probability to the power of alpha, made to add up to one: 1 gives the
        probabilities of the model, 0 any segmentation alike, a high alpha the likeliest one. Drawn from all
        segmentations (the paper's l = infinity). Every occurrence of a pre-token is cut anew.

        Raises:
            SettingsError: alpha is not from 0 to 1,000,000.
            UnknownSymbolError: as for `encode`.
        """
        _check_alpha(alpha)
        random = Random(seed)
        samplers: dict[str, _Sampler] = {}
        ids: list[int] = []
        for piece in self._pre_tokens(text, special):
            if piece not in samplers:
                samplers[piece] = _Sampler(self, piece, alpha)
            ids += samplers[piece].draw(random)
        if unknown == "raise" and UNKNOWN_ID in ids:
            raise UnknownSymbolError(self._say_unknown(whole_characters(text)))
        return ids

    def count_samples(
        self, pre_token: str, *, num_samples: int = 1000, alpha: float = 1.0, seed: int = 0
    ) -> list[tuple[tuple[int, ...], int]]:
        """Cut a pre-token at random so often; return (ids, times) of the distinct results, most frequent first.

        Raises:
            SettingsError: alpha is not from 0 to 1,000,000, or `num_samples` is below 1.
        """
        _check_alpha(alpha)
        if num_samples < 1:
            raise SettingsError(f"num_samples must be at least 1, but is {num_samples:,}")
        random = Random(seed)
        sampler = _Sampler(self, whole_characters(pre_token), alpha)
        counts = Counter(tuple(sampler.draw(random)) for _ in range(num_samples))
        return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))

    def sampling_probability(self, pre_token: str, ids: Sequence[int], alpha: float = 1.0) -> float:
        """Return how likely sampling with this alpha cuts a pre-token into these tokens.

        Raises:
            SettingsError: alpha is not from 0 to 1,000,000.

        >>> tokenizer = UnigramTokenizer.of_probabilities({"a": 0.5, "b": 0.25, "ab": 0.25})
        >>> [round(tokenizer.sampling_probability("ab", (2,), alpha), 3) for alpha in (0, 1, 9)]
        [0.5, 0.667, 0.998]
        """
        _check_alpha(alpha)
        spelled = spell(whole_characters(pre_token).encode(), self.base)
        return exp(min(alpha * sum(map(self._score, ids)) - self._backward(spelled, alpha)[0], 0.0))

    def n_best(self, pre_token: str, n: int) -> list[Segmentation]:
        """Return the n likeliest segmentations of a pre-token, or all if there are fewer, likeliest first.

        Every node keeps the n best ways to reach it. Cost: arcs times n.

        Raises:
            SettingsError: n is not from 1 to 1,000, or the pre-token is longer than 1,000 symbols.
        """
        if not 1 <= n <= _MOST_SEGMENTATIONS:
            raise SettingsError(f"n must be from 1 to {_MOST_SEGMENTATIONS:,}, but is {n:,}")
        spelled = self._spell_short(whole_characters(pre_token))
        num_nodes = len(spelled) + 1
        log_total = self._backward(spelled, 1.0)[0]
        # A way to reach a node: (score, token, the node it came from, which of the ways there).
        ways: list[list[tuple[float, int, int, int]]] = [[] for _ in range(num_nodes)]
        ways[0] = [(0.0, UNKNOWN_ID, 0, 0)]
        for node in range(num_nodes):
            ways[node] = heapq.nsmallest(n, ways[node], key=lambda way: (-way[0], way[2], way[3]))
            if node == num_nodes - 1:
                break
            for end, token in self._arcs(spelled, node):
                score = self._score(token)
                ways[end] += ((way[0] + score, token, node, i) for i, way in enumerate(ways[node]))
        found = []
        for way in ways[-1]:
            ids: list[int] = []
            node, step = num_nodes - 1, way
            while node:
                _score, token, node, place = step
                ids.append(token)
                step = ways[node][place]
            found.append(Segmentation(tuple(reversed(ids)), way[0], exp(min(way[0] - log_total, 0.0))))
        return found

    def lattice(self, pre_token: str) -> Lattice:
        """Return all ways to cut a pre-token, as data.

        Raises:
            SettingsError: the pre-token is longer than 1,000 symbols.

        >>> tokenizer = UnigramTokenizer.of_probabilities({"a": 0.5, "b": 0.25, "ab": 0.25})
        >>> for arc in tokenizer.lattice("ab").arcs:
        ...     print(arc.start, arc.end, arc.text, round(arc.probability, 3), arc.on_best_path)
        0 1 b'a' 0.333 False
        0 2 b'ab' 0.667 True
        1 2 b'b' 0.333 False
        """
        pre_token = whole_characters(pre_token)
        spelled = self._spell_short(pre_token)
        backward = self._backward(spelled, 1.0)
        leaving = [self._arcs(spelled, start) for start in range(len(spelled))]
        arriving: list[list[float]] = [[] for _ in range(len(spelled) + 1)]
        arriving[0] = [0.0]
        forward: list[float] = []
        for start, terms in enumerate(arriving):
            forward.append(_log_sum(terms))
            for end, token in leaving[start] if start < len(spelled) else ():
                arriving[end].append(forward[start] + self._score(token))

        best_starts: dict[int, int] = {}  # node -> token that the best path takes from there
        at = 0
        best_ids = self._best_path(spelled)
        offsets = _symbol_offsets(pre_token, self.base)
        for token in best_ids:
            best_starts[at] = token
            at += 1 if token == UNKNOWN_ID else len(spell(self.tokens[token], self.base))
        text = pre_token.encode()
        arcs: list[Arc] = []
        best: list[int] = []
        for start, ends in enumerate(leaving):
            for end, token in ends:
                score = self._score(token)
                share = exp(min(forward[start] + score + backward[end] - backward[0], 0.0))
                on_best = best_starts.get(start) == token
                if on_best:
                    best.append(len(arcs))
                arcs.append(Arc(start, end, token, text[offsets[start] : offsets[end]], score, share, on_best))
        return Lattice(
            text=text,
            offsets=tuple(offsets),
            arcs=tuple(arcs),
            best=tuple(best),
            best_score=sum(map(self._score, best_ids)),
            log_total=backward[0],
            forward=tuple(forward),
            backward=tuple(backward),
        )

    def _backward(self, spelled: str, alpha: float) -> list[float]:
        """Return, for each node, the logarithm of the sum over all paths from it to the end."""
        n = len(spelled)
        sums = [0.0] * (n + 1)
        for start in range(n - 1, -1, -1):
            sums[start] = _log_sum(
                [alpha * self._score(token) + sums[end] for end, token in self._arcs(spelled, start)]
            )
        return sums

    def _draw(self, spelled: str, alpha: float, backward: Sequence[float], random: Random) -> list[int]:
        """Return the ids of one segmentation, drawn from the left: each arc by its share of what lies ahead."""
        ids: list[int] = []
        at = 0
        while at < len(spelled):
            left = random.random()
            for end, token in self._arcs(spelled, at):  # the last one stays if rounding leaves a rest
                left -= exp(alpha * self._score(token) + backward[end] - backward[at])
                if left < 0:
                    break
            ids.append(token)
            at = end
        return ids

    def _pre_tokens(self, text: str, special: Special) -> list[str]:
        stretches = split_special(whole_characters(text), {}, special)
        return [piece for stretch, _none in stretches for piece in split(stretch, self.split)]

    def _spell_short(self, pre_token: str) -> str:
        spelled = spell(pre_token.encode(), self.base)
        if len(spelled) > _LONGEST_DRAWN:
            raise SettingsError(
                f"a lattice must be of a pre-token of at most {_LONGEST_DRAWN:,} symbols, but this one has "
                f"{len(spelled):,}; encode and sampling take any length"
            )
        return spelled

    def _say_unknown(self, text: str) -> str:
        known = {spell(name, self.base) for name in self.tokens}
        unseen = sorted(char for char in set(text) if not set(spell(char.encode(), self.base)) <= known)
        shown = ", ".join(f"{char} (U+{ord(char):04X})" for char in unseen[:5])
        more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
        return (
            f"a Unigram tokenizer encodes only {self.base} that are tokens, but this text holds {shown}{more}; "
            "train with base='bytes', on a text that holds them, or mark them with unknown='mark'"
        )

    # ------------------------------------------------------------------ ids -> text

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token.

        Raises:
            TokenIdError: no token has this id.
        """
        if not 0 <= token < len(self.tokens):
            raise TokenIdError(f"token id must be from 0 to {self.vocab_size - 1:,}, but is {token:,}")
        return self.tokens[token]

    def token_name(self, token: int) -> str:
        """Return a token as people write it: its text, or where that is part of a character its bytes.

        Raises:
            TokenIdError: no token has this id.
        """
        return token_text(self.token_bytes(token))

    def changes(self, text: str) -> list[Change]:
        """Return what normalization does to a text: nothing, it is taken as it is."""
        return []

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens: the text that was encoded. UNKNOWN_ID gives U+FFFD."""
        return b"".join("\ufffd".encode() if token == UNKNOWN_ID else self.token_bytes(token) for token in ids)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the tokens; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    # ------------------------------------------------------------------ history

    def history(self, text: str, *, special: Special = "text") -> History:
        """Return the text cut into its tokens: there are no steps, so the base symbols are the tokens.

        The bytes are those of the text. An unknown character is shown as it is, its id is UNKNOWN_ID.
        """
        laid_out: dict[str, tuple[list[bytes], list[int]]] = {}
        pieces = self._pre_tokens(text, special)
        for piece in pieces:
            if piece not in laid_out:
                laid_out[piece] = self._lay_out(piece)
        return history_of_tokens(laid_out[piece] for piece in pieces)

    def _lay_out(self, piece: str) -> tuple[list[bytes], list[int]]:
        ids = self._best_path(spell(piece.encode(), self.base))
        offsets = _symbol_offsets(piece, self.base)
        shown: list[bytes] = []
        data = piece.encode()
        at = 0
        for token in ids:
            num_symbols = 1 if token == UNKNOWN_ID else len(spell(self.tokens[token], self.base))
            shown.append(data[offsets[at] : offsets[at + num_symbols]])
            at += num_symbols
        return shown, ids

    def base_names(self) -> dict[int, bytes]:
        """Return the bytes of every token: none is made by a merge."""
        return dict(enumerate(self.tokens))

    def merge_rows(self, ranks: NDArray[np.int64] | None = None) -> MergeRows:
        """Return no rows."""
        none = np.zeros(0, dtype=np.int64)
        return MergeRows(none, none, none, none)


class _Sampler:
    """Draws segmentations of one pre-token; what lies ahead of each node is summed up once."""

    def __init__(self, tokenizer: UnigramTokenizer, pre_token: str, alpha: float) -> None:
        self._tokenizer = tokenizer
        self._spelled = spell(pre_token.encode(), tokenizer.base)
        self._alpha = alpha
        self._backward = tokenizer._backward(self._spelled, alpha)

    def draw(self, random: Random) -> list[int]:
        return self._tokenizer._draw(self._spelled, self._alpha, self._backward, random)


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= _HIGHEST_ALPHA:  # also refuses NaN
        raise SettingsError(f"alpha must be from 0 to {_HIGHEST_ALPHA:,.0f}, but is {alpha}; 1 gives the model's own")


def _log_sum(terms: Sequence[float]) -> float:
    """Return log(sum(exp(terms))) without overflow or underflow."""
    highest = max(terms)
    return highest + log(sum(exp(term - highest) for term in terms))


def spell(name: bytes, base: Base) -> str:
    """Return a string with one character for each base symbol: the text itself, or one for each byte."""
    return name.decode() if base == "chars" else name.decode("latin-1")


def unspell(spelled: str, base: Base) -> bytes:
    """Return the bytes of a string that `spell` made."""
    return spelled.encode() if base == "chars" else spelled.encode("latin-1")


def _symbol_offsets(text: str, base: Base) -> list[int]:
    """Return the byte at which each base symbol starts, and the end."""
    if base == "bytes":
        return list(range(len(text.encode()) + 1))
    return list(accumulate((len(char.encode()) for char in text), initial=0))
