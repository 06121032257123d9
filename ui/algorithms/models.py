"""Small tokenizers to play with: trained on a sample in a second or two, known again by every visitor."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from bpe import Tokenizer, TrainSettings, UnigramSettings, UnigramTokenizer, train, train_unigram
from bpe.errors import StoppedError
from bpe.samples import list_samples, load_sample, load_word_counts
from bpe.trainer import Progress
from ui import state
from ui.jobs import Job, JobBoard
from ui.waiting import awaited

__all__ = ["Source", "choose_source", "small_bpe", "small_unigram"]

SMALLEST, LARGEST = 20, 8_000
_DEFAULT_SAMPLE = "udhr-eng"
_DEFAULT_SIZE = 400
_MOST_SAMPLE_BYTES = 500_000
_SPLIT = "whitespace"

Made = TypeVar("Made", Tokenizer, UnigramTokenizer)


@dataclass(frozen=True)
class Source:
    """What a small tokenizer learns from: the name of a sample, and the size of its vocabulary."""

    name: str
    vocab_size: int

    @property
    def content(self) -> str | Mapping[str, int]:
        """A text, or a table of words and counts."""
        kinds = {sample.name: sample.kind for sample in list_samples()}
        return load_word_counts(self.name) if kinds[self.name] == "words" else load_sample(self.name)


def choose_source() -> Source:
    """Draw the choice of a sample and of the size of the vocabulary."""
    names = [sample.name for sample in list_samples() if sample.num_bytes <= _MOST_SAMPLE_BYTES]
    names.sort(key=lambda name: (name != _DEFAULT_SAMPLE, name.startswith("udhr-"), name))
    state.check_link(state.LEARNED_FROM, names, "sample")
    state.check_link_number(state.LEARNED_IDS, SMALLEST, LARGEST, "as size of the vocabulary")
    first, second = st.columns(2)
    with first:
        name = st.selectbox("Learned from", names, key=state.LEARNED_FROM, bind="query-params")
    with second:
        size = st.number_input(
            "Size of the vocabulary",
            SMALLEST,
            LARGEST,
            _DEFAULT_SIZE,
            step=100,
            key=state.LEARNED_IDS,
            bind=state.number_binding(state.LEARNED_IDS),
        )
    return Source(name, int(size or SMALLEST))


@st.cache_resource(show_spinner=False)
def _made() -> JobBoard[Tokenizer | UnigramTokenizer]:
    return JobBoard(num_kept=16)


def small_unigram(source: Source) -> UnigramTokenizer:
    """Return a Unigram tokenizer of the source, over characters; words are cut at white space."""
    settings = UnigramSettings(vocab_size=source.vocab_size, split=_SPLIT)

    def make(progress: Progress) -> UnigramTokenizer:
        return train_unigram(source.content, settings, progress=progress).tokenizer

    made = _awaited(f"unigram {source!r}", "Unigram", make)
    assert isinstance(made, UnigramTokenizer)
    return made


def small_bpe(source: Source) -> Tokenizer:
    """Return a byte-pair encoding of the source, over characters; words are cut at white space."""
    settings = TrainSettings(base="chars", split=_SPLIT, vocab_size=source.vocab_size)

    def make(progress: Progress) -> Tokenizer:
        return train(source.content, settings, progress=progress).tokenizer

    made = _awaited(f"bpe {source!r}", "byte-pair encoding", make)
    assert isinstance(made, Tokenizer)
    return made


def _awaited(what: str, name: str, make: Callable[[Progress], Made]) -> Tokenizer | UnigramTokenizer:
    def work(job: Job[Tokenizer | UnigramTokenizer]) -> Tokenizer | UnigramTokenizer:
        made = make(job.report)
        if job.is_stopping:  # the part that was learned would be kept as if it were the whole
            raise StoppedError("the training was stopped before it was done: start it again")
        return made

    return awaited(
        state.SMALL_MODEL_JOB,
        _made(),
        hashlib.sha256(what.encode()).hexdigest(),
        work,
        label=lambda job: f"Training {name}, {job.seconds_so_far:,.0f} s so far",
    )
