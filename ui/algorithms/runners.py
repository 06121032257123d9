"""Three algorithms on one corpus: the same text, the same size of vocabulary, and what each makes of it.

All three start from characters, so that the sizes mean the same. Byte-pair encoding and Unigram cut the text by the
pattern of GPT-2, white space included; WordPiece by BERT's, which drops it: its tokens are of less text.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe import (
    UNKNOWN_ID,
    TokenizerLike,
    TrainSettings,
    UnigramSettings,
    WordPieceSettings,
    train,
    train_unigram,
    train_wordpiece,
)
from bpe.errors import StoppedError
from bpe.quirks import TextToken
from ui.compute import Corpus
from ui.jobs import Job, JobBoard

__all__ = ["NAMES", "Race", "Runner", "race_key", "races", "run_race", "tokens_of"]

NAMES = ("byte-pair encoding", "WordPiece", "Unigram")

_SPLIT = "gpt2"
_NUM_FIRST = 16
_STEPS = 1_000
_MOST_TIMED_SECONDS = 1.0


@dataclass(frozen=True, eq=False)
class Runner:
    """One algorithm after its training.

    sizes, num_tokens   int64: tokens of the corpus at every size of the vocabulary that it passed through
    num_encoded         tokens of the corpus as the finished tokenizer encodes it
    num_unknown         of these, tokens that stand for something unknown
    first               what it learned first; of Unigram, the likeliest tokens of several characters
    fell_short          why the vocabulary is smaller than was asked for; empty if it is not
    training_seconds, encoding_seconds
                        on this machine, in this run
    """

    name: str
    tokenizer: TokenizerLike
    sizes: NDArray[np.int64]
    num_tokens: NDArray[np.int64]
    num_encoded: int
    num_unknown: int
    first: tuple[TextToken, ...]
    fell_short: str
    training_seconds: float
    encoding_seconds: float


@dataclass(frozen=True, eq=False)
class Race:
    """The three runners in the order of `NAMES`, and how much text they ran on."""

    runners: tuple[Runner, ...]
    num_bytes: int


@st.cache_resource(show_spinner=False)
def races() -> JobBoard[Race]:
    """Return the races run last, for all sessions."""
    return JobBoard(num_kept=8)


def race_key(corpus: Corpus, vocab_size: int, min_pair_count: int) -> str:
    """Return a digest of everything that a race depends on."""
    return hashlib.sha256(f"race {corpus.key} {vocab_size} {min_pair_count}".encode()).hexdigest()


def run_race(corpus: Corpus, vocab_size: int, min_pair_count: int, job: Job[Race]) -> Race:
    """Train all three.

    Raises:
        SettingsError: the vocabulary is smaller than the alphabet of the corpus.
        StoppedError: the reader asked to stop.
    """
    runs = (_run_bpe, _run_wordpiece, _run_unigram)
    runners = []
    for number, run in enumerate(runs):

        def report(done: int, asked: int, number: int = number) -> bool:
            share = min(done / max(asked, 1), 1.0)
            if not job.report(int(_STEPS * (number + share)), _STEPS * len(runs)):
                raise StoppedError("the trainings were stopped before they were done: start them again")
            return True

        report(0, 1)
        runners.append(run(corpus, vocab_size, min_pair_count, report))
    return Race(tuple(runners), corpus.num_bytes)


_Report = Callable[[int, int], bool]


def _run_bpe(corpus: Corpus, vocab_size: int, min_pair_count: int, report: _Report) -> Runner:
    split = "whitespace" if corpus.text is None else _SPLIT
    settings = TrainSettings(base="chars", split=split, vocab_size=vocab_size, min_pair_count=min_pair_count)
    start = time.perf_counter()
    training = train(corpus.source, settings, progress=report)
    seconds = time.perf_counter() - start
    tokenizer = training.tokenizer
    ids, encoding_seconds = _encode(corpus, tokenizer, lambda word: tokenizer.encode(word))
    name = tokenizer.token_bytes
    return Runner(
        name=NAMES[0],
        tokenizer=tokenizer,
        sizes=training.num_base + np.arange(training.num_merges + 1, dtype=np.int64),
        num_tokens=training.num_tokens,
        num_encoded=len(ids),
        num_unknown=0,
        first=tuple(TextToken(merge.token, name(merge.token)) for merge in training.merges[:_NUM_FIRST]),
        fell_short="" if training.stopped == "vocab_size" else _why(training.stopped),
        training_seconds=seconds,
        encoding_seconds=encoding_seconds,
    )


def _run_wordpiece(corpus: Corpus, vocab_size: int, min_pair_count: int, report: _Report) -> Runner:
    settings = WordPieceSettings(vocab_size=vocab_size, min_pair_count=min_pair_count)
    start = time.perf_counter()
    training = train_wordpiece(corpus.source, settings, progress=report)
    seconds = time.perf_counter() - start
    tokenizer = training.tokenizer
    ids, encoding_seconds = _encode(corpus, tokenizer, tokenizer.encode_word)
    name = tokenizer.token_bytes
    return Runner(
        name=NAMES[1],
        tokenizer=tokenizer,
        sizes=training.num_base + np.arange(training.num_merges + 1, dtype=np.int64),
        num_tokens=training.num_tokens,
        num_encoded=len(ids),
        num_unknown=ids.count(tokenizer.unknown_id),
        first=tuple(TextToken(merge.token, name(merge.token)) for merge in training.merges[:_NUM_FIRST]),
        fell_short="" if training.stopped == "vocab_size" else _why(training.stopped),
        training_seconds=seconds,
        encoding_seconds=encoding_seconds,
    )


def _run_unigram(corpus: Corpus, vocab_size: int, min_pair_count: int, report: _Report) -> Runner:
    split = "whitespace" if corpus.text is None else _SPLIT
    start = time.perf_counter()
    training = train_unigram(corpus.source, UnigramSettings(vocab_size=vocab_size, split=split), progress=report)
    seconds = time.perf_counter() - start
    tokenizer = training.tokenizer
    ids, encoding_seconds = _encode(corpus, tokenizer, tokenizer.encode_word)
    counted = []
    for number in range(len(training.rounds)):
        report(1, 1)  # only to hear whether to stop
        counted.append((len(training.rounds[number].tokens), training.count_tokens(number)))
    sizes, num_tokens = np.array(counted[::-1], dtype=np.int64).T
    several = [TextToken(token, name) for token, name in enumerate(tokenizer.tokens) if len(name.decode()) > 1]
    return Runner(
        name=NAMES[2],
        tokenizer=tokenizer,
        sizes=sizes,
        num_tokens=num_tokens,
        num_encoded=len(ids),
        num_unknown=0,
        first=tuple(several[:_NUM_FIRST]),
        fell_short="" if training.stopped == "vocab_size" else "no more substrings occur twice",
        training_seconds=seconds,
        encoding_seconds=encoding_seconds,
    )


def _why(stopped: str) -> str:
    return {"min_pair_count": "the pairs that are left are too rare", "no_pairs": "every word is one token"}[stopped]


def _encode(
    corpus: Corpus, tokenizer: TokenizerLike, encode_word: Callable[[str], list[int]]
) -> tuple[list[int], float]:
    """Return the ids of the corpus and how long it took: the shortest of up to three times."""
    best = float("inf")
    begun = time.perf_counter()
    ids: list[int] = []
    for _ in range(3):
        start = time.perf_counter()
        if isinstance(corpus.source, str):
            ids = tokenizer.encode(corpus.source)
        else:
            ids = [token for word, count in corpus.source.items() for token in encode_word(word) * count]
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > _MOST_TIMED_SECONDS:
            break
    return ids, best


def tokens_of(tokenizer: TokenizerLike, text: str) -> list[TextToken]:
    """Return the tokens of a text as they are written; an unknown character as it stands in the text.

    >>> from bpe import WordPieceTokenizer
    >>> tokens_of(WordPieceTokenizer.of_written(["[UNK]", "un", "##it"]), "unit uno")
    [TextToken(token=1, name=b'un'), TextToken(token=2, name=b'##it'), TextToken(token=0, name=b'[UNK]')]
    """
    history = tokenizer.history(text)
    shown = history.tokens(tokenizer.num_merges)
    return [
        TextToken(token, name if token == UNKNOWN_ID else tokenizer.token_bytes(token))
        for token, name in zip(history.final_ids.tolist(), shown, strict=True)
    ]
