"""Cached calls into `bpe`: the only place where a page's question becomes work.

Cached objects are shared by all sessions, and nobody changes them. Keys are digests or small values; all caches
together are bounded in bytes (`ui/kept.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe import UNKNOWN_ID, History, MergeRows, TokenizerLike, Training, TrainSettings, train
from bpe.in_pieces import Progress as PieceProgress
from bpe.in_pieces import history_in_pieces
from bpe.normalizing import Change, write_out_added
from bpe.pretrained import load_pretrained
from bpe.tokenizer import Special
from bpe.trainer import Progress
from ui.jobs import JobBoard
from ui.kept import kept
from ui.stage.payload import StageView, build_payload

__all__ = [
    "MOST_DRAWN_BYTES",
    "Corpus",
    "Tokenized",
    "TrainView",
    "acting_rows",
    "clip_text",
    "learned_key",
    "run_training",
    "stage_payload",
    "tokenize",
    "tokenize_key",
    "tokenizings",
    "train_view",
    "training_key",
    "trainings",
]

MOST_DRAWN_BYTES = 2_000_000
"""The stage draws so much of a text; everything is counted over the whole."""


@dataclass(frozen=True, eq=False)
class Tokenized:
    """A text under a tokenizer, ready to be shown.

    num_bytes, num_chars   of the whole text
    ids                    int64[num_tokens], of the whole text
    names                  the bytes of each distinct token
    is_exact               whether the joined bytes of the tokens equal the bytes of the text
    changes                what normalization did to the text before it was cut
    payload                what the stage draws
    num_drawn_bytes        how much of the text the stage draws
    """

    num_bytes: int
    num_chars: int
    ids: NDArray[np.int64]
    names: dict[int, bytes]
    is_exact: bool
    changes: tuple[Change, ...]
    payload: bytes
    num_drawn_bytes: int
    num_merges: int


@st.cache_resource(show_spinner=False)
def tokenizings() -> JobBoard[Tokenized]:
    """Return the texts tokenized last, for all sessions."""
    return JobBoard(num_kept=200)


def tokenize_key(name: str, text: str, special: Special, own_key: str) -> str:
    """Return a digest of everything that a tokenizing depends on."""
    return hashlib.sha256("\0".join((name, special, own_key, text)).encode()).hexdigest()


def tokenize(
    name: str,
    text: str,
    special: Special,
    mine: TokenizerLike | None = None,
    progress: PieceProgress | None = None,
) -> Tokenized:
    """Return the text under a real tokenizer, or under one of the reader's.

    Raises:
        StoppedError: the progress function said so.
    """
    tokenizer: TokenizerLike = load_pretrained(name) if mine is None else mine
    history = history_in_pieces(tokenizer, text, special=special, progress=progress)
    names = _names_of(tokenizer, history.final_ids)
    joined = b"".join(map(names.__getitem__, history.final_ids.tolist()))
    drawn_text = clip_text(text)
    drawn = history if len(drawn_text) == len(text) else tokenizer.history(drawn_text, special=special)
    return Tokenized(
        num_bytes=len(text.encode()),
        num_chars=len(text),
        ids=history.final_ids,
        names=names,
        is_exact=joined == text.encode(),
        changes=tuple(tokenizer.changes(text)),
        payload=stage_payload(tokenizer, [StageView(drawn)]),
        num_drawn_bytes=len(drawn.text),
        num_merges=tokenizer.num_merges,
    )


def stage_payload(tokenizer: TokenizerLike, views: Sequence[StageView]) -> bytes:
    """Return what the stage draws of texts under one tokenizer, opened at its last merge.

    Of the vocabulary only what these texts need goes to the browser. A token that normalization added has no
    bytes in the text; it is written out, so that it can be seen.
    """
    views = [replace(view, history=write_out_added(view.history, tokenizer.token_bytes)) for view in views]
    histories = [view.history for view in views]
    if tokenizer.num_merges:
        names = tokenizer.base_names()
    else:
        names = _names_of(tokenizer, np.concatenate([history.final_ids for history in histories]))
    return build_payload(
        views,
        acting_rows(tokenizer, histories),
        names,
        num_merges=tokenizer.num_merges,
        step=tokenizer.num_merges,
    )


def _names_of(tokenizer: TokenizerLike, ids: NDArray[np.int64]) -> dict[int, bytes]:
    unknown = "\ufffd".encode()
    return {
        token: unknown if token == UNKNOWN_ID else tokenizer.token_bytes(token) for token in np.unique(ids).tolist()
    }


def clip_text(text: str) -> str:
    """Return what the stage draws of a text: whole lines up to MOST_DRAWN_BYTES, or as many characters."""
    raw = text.encode()
    if len(raw) <= MOST_DRAWN_BYTES:
        return text
    clipped = raw[:MOST_DRAWN_BYTES].decode(errors="ignore")
    line_end = clipped.rfind("\n")
    return clipped[: line_end + 1] if line_end > len(clipped) // 2 else clipped


def acting_rows(tokenizer: TokenizerLike, histories: Sequence[History]) -> MergeRows:
    """Return the merges that act on any of the texts: of a vocabulary's tens of thousands a text needs few.

    The merges that made their symbols are among them, because those had to act before.
    """
    lifetimes = np.concatenate([history.lifetimes for history in histories])
    return tokenizer.merge_rows(np.unique(lifetimes[lifetimes < tokenizer.num_merges]).astype(np.int64))


# ---------------------------------------------------------------------------------------------- training


@dataclass(frozen=True, eq=False)
class Corpus:
    """What to train on: a running text, or a table of words and counts.

    title   shown to the reader; key   a digest of the content
    """

    title: str
    source: str | Mapping[str, int]
    key: str

    @classmethod
    def of(cls, title: str, source: str | Mapping[str, int]) -> Corpus:
        """Return the corpus with its digest."""
        raw = source if isinstance(source, str) else repr(sorted(source.items()) + list(source))
        return cls(title, source, hashlib.sha256(raw.encode()).hexdigest())

    @property
    def text(self) -> str | None:
        """The running text; None for a table."""
        return self.source if isinstance(self.source, str) else None

    @cached_property
    def num_bytes(self) -> int:
        """Its size; of a table, each word as often as it counts."""
        if isinstance(self.source, str):
            return len(self.source.encode())
        return sum(len(word.encode()) * count for word, count in self.source.items())


@st.cache_resource(show_spinner=False)
def trainings() -> JobBoard[Training]:
    """Return the trainings run last, for all sessions."""
    return JobBoard(num_kept=100)


def training_key(corpus: Corpus, settings: TrainSettings) -> str:
    """Return a digest of everything a training depends on."""
    return hashlib.sha256(f"{corpus.key} {settings!r}".encode()).hexdigest()


def learned_key(key: str, training: Training) -> str:
    """Return what stands in caches for the merges that were learned: the training's key, unless it was stopped.

    A stopped training learned fewer merges than others of the same corpus and settings.
    """
    return f"{key}-{training.num_merges}" if training.stopped == "cancelled" else key


def run_training(corpus: Corpus, settings: TrainSettings, progress: Progress) -> Training:
    """Train on the corpus."""
    return train(corpus.source, settings, progress=progress)


@kept(num_kept=100)
def corpus_history(key: str, _training: Training, _corpus: Corpus) -> History:
    """Return the history of what the stage draws of the corpus. `key`, a `learned_key`, stands for the other two."""
    text = _corpus.text
    return _training.table_history() if text is None else _training.history(clip_text(text))


@dataclass(frozen=True, eq=False)
class TrainView:
    """What the stage draws of a training.

    payload          the corpus, and the reader's sentence under the same merges
    num_drawn_bytes  how much of the corpus is drawn;   num_bytes   how much it holds
    num_unknown      symbols of the sentence that training never saw
    """

    payload: bytes
    num_drawn_bytes: int
    num_bytes: int
    num_unknown: int


@kept(num_kept=100)
def train_view(key: str, title: str, sentence: str, _training: Training, _corpus: Corpus) -> TrainView:
    """Return what the stage draws of a training. `key`, a `learned_key`, stands for training and corpus.

    The same text may come under another title: the key does not know it.
    """
    history = corpus_history(key, _training, _corpus)
    views = [StageView(history, title=title)]
    num_unknown = 0
    if sentence:
        own = _training.tokenizer.history(sentence)
        num_unknown = int(np.count_nonzero(own.final_ids == UNKNOWN_ID))
        views.append(StageView(own, title="Your sentence"))
    payload = build_payload(
        views,
        _training.rows,
        _training.tokenizer.base_names(),
        num_merges=_training.num_merges,
        step=_training.num_merges,
    )
    num_drawn = len(history.text) if _corpus.text is None else len(clip_text(_corpus.text).encode())
    return TrainView(payload, num_drawn, num_drawn if _corpus.text is None else _corpus.num_bytes, num_unknown)
