"""Answers a question of the page: counts every language under every tokenizer, and remembers the counts.

Counts are kept unit by unit for each language and tokenizer, so that another language, another reference or
other articles cost only what is new. The store is shared by all sessions and bounded in bytes; a key is a
digest of text and tokenizer, so a visitor can only meet counts of a text that they brought themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe import TokenizerLike
from bpe.errors import StoppedError, UnavailableError
from bpe.metrics import (
    MEASURES,
    Estimate,
    Measure,
    Quantity,
    TokenCounts,
    count_quantity,
    count_tokens,
    icu_version,
    ratio_of_totals,
    token_distribution,
    whole_words,
)
from bpe.parallel import ParallelText
from bpe.trainer import Progress
from ui.compute import stage_payload
from ui.jobs import Job, JobBoard
from ui.kept import BUDGET, Budget, Keeper
from ui.languages.contenders import Contender
from ui.languages.question import Question
from ui.stage.payload import StageView

__all__ = ["COMPARABLE_UNKNOWN", "Answer", "Grid", "Shelf", "answer", "answers", "reading_payload", "shelf"]

COMPARABLE_UNKNOWN = 0.1
"""Above this share of unknown tokens a bar is marked as not comparable."""

_MOST_SHELVED = 100_000


Kept = NDArray[np.int64] | TokenCounts | Estimate | TokenizerLike
"""What a shelf holds: counts unit by unit, a measure with its interval, or the tokenizer that was counted with."""


class Shelf:
    """A store of counts and tokenizers within a budget of bytes. Safe from several threads."""

    def __init__(self, budget: Budget = BUDGET) -> None:
        self._keeper: Keeper[Kept] = Keeper(_MOST_SHELVED, budget)

    def get(self, key: tuple[Any, ...], make: Callable[[], Kept]) -> Kept:
        """Return what is kept under the key; make and keep it if there is nothing."""
        known = self._keeper.get(key)
        if known is None:
            known = make()
            self._keeper.put(key, known)
        return known


@dataclass(frozen=True, eq=False)
class Grid:
    """A measure for every language (row) and tokenizer (column); nan where it has no value.

    value, low, high   float64[num_languages, num_contenders], low and high the ends of the interval
    """

    measure: Measure
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def order(self, column: int = 0) -> list[int]:
        """Return the rows, those that pay most under one tokenizer first; rows without a value last."""
        paid = self.value[:, column] if self.measure.more_is_worse else -self.value[:, column]
        order: list[int] = np.argsort(-np.where(np.isnan(paid), -np.inf, paid), kind="stable").tolist()
        return order


@dataclass(frozen=True, eq=False)
class Answer:
    """What came out.

    grids          measure name -> grid
    num_tokens     int64[num_languages, num_contenders] over the units counted
    unknown        float64 of the same shape: share of the tokens that stand for something unknown
    num_merges     merges of each tokenizer; fewer than asked for where training ran out of pairs
    reference_tokens, reference_chars, reference_words
                   totals of the reference language, tokens one a contender; words 0 where there is no word
    """

    grids: dict[str, Grid]
    num_tokens: NDArray[np.int64]
    unknown: NDArray[np.float64]
    num_merges: tuple[int, ...]
    reference_tokens: NDArray[np.int64]
    reference_chars: int
    reference_words: int


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Return the store of counts, for all sessions."""
    return Shelf()


@st.cache_resource(show_spinner=False)
def answers() -> JobBoard[Answer]:
    """Return the questions answered last, for all sessions."""
    return JobBoard(num_kept=48)


def answer(question: Question, job: Job[Answer], shelf: Shelf) -> Answer:
    """Count what is not known yet and return the answer.

    Raises:
        StoppedError: the reader asked to stop.
    """
    return _Answering(question, job, shelf).run()


class _Answering:
    """One run over a question: numbered steps, one a language and tokenizer for tokens and for each measure."""

    def __init__(self, question: Question, job: Job[Answer], shelf: Shelf) -> None:
        self.question = question
        self.shelf = shelf
        self.numbers = np.array(question.numbers, dtype=np.int64)
        self._job = job
        num_cells = len(question.codes) * len(question.contenders)
        self._num_steps = (1 + len(question.measures)) * num_cells + len(question.contenders)
        self._num_done = 0

    def run(self) -> Answer:
        codes, contenders = self.question.codes, self.question.contenders
        tokenizers = [self._load(contender) for contender in contenders]
        counts = [[self._tokens(code, column, tokenizers) for column in range(len(contenders))] for code in codes]
        num_tokens = np.array([[self._total(cell.num_tokens) for cell in row] for row in counts])
        num_unknown = np.array([[self._total(cell.num_unknown) for cell in row] for row in counts])
        reference = self.question.reference
        reference_counts = [self._token_counts(reference, column, tokenizers) for column in range(len(contenders))]
        return Answer(
            grids={name: self._grid(MEASURES[name], tokenizers) for name in self.question.measures},
            num_tokens=num_tokens,
            unknown=num_unknown / np.maximum(num_tokens, 1),
            num_merges=tuple(tokenizer.num_merges for tokenizer in tokenizers),
            reference_tokens=np.array([self._total(cell.num_tokens) for cell in reference_counts]),
            reference_chars=self._total(self._of_text("characters", reference)),
            reference_words=self._total(self._of_text("words", reference)),
        )

    def _step(self) -> None:
        self._num_done += 1
        if not self._job.report(self._num_done, self._num_steps):
            raise StoppedError("the counting was stopped before it was done: start it again")

    def _goes_on(self, _done: int, _asked: int) -> bool:
        """Hear within a step whether to stop."""
        return self._job.report(self._num_done, self._num_steps)

    def _load(self, contender: Contender) -> TokenizerLike:
        self._step()
        return _loaded(contender, self.shelf, self._goes_on)

    def _grid(self, measure: Measure, tokenizers: Sequence[TokenizerLike]) -> Grid:
        cells = np.full((len(self.question.codes), len(tokenizers), 3), np.nan)
        for row, code in enumerate(self.question.codes):
            for column in range(len(tokenizers)):
                self._step()
                cells[row, column] = self._estimate(measure, code, column, tokenizers)
        return Grid(measure, cells[..., 0], cells[..., 1], cells[..., 2])

    def _estimate(self, measure: Measure, code: str, column: int, tokenizers: Sequence[TokenizerLike]) -> Estimate:
        if measure.numerator is None:
            return self._of_distribution(measure, code, column, tokenizers)
        top = self._quantity(measure.numerator, code, column, tokenizers)
        if measure.denominator == "reference tokens":
            bottom = self._token_counts(self.question.reference, column, tokenizers).num_tokens
        else:
            bottom = self._quantity(cast(Quantity, measure.denominator), code, column, tokenizers)
        return ratio_of_totals(top[self.numbers], bottom[self.numbers])

    def _of_distribution(
        self, measure: Measure, code: str, column: int, tokenizers: Sequence[TokenizerLike]
    ) -> Estimate:
        units = [self.question.text.units[code][number] for number in self.question.numbers]
        tag = self.question.text.language(code).tag

        def make() -> Estimate:
            if measure.name == "words kept whole":
                try:
                    return whole_words(tokenizers[column], units, tag)
                except UnavailableError:
                    return Estimate(np.nan, np.nan, np.nan)
            return token_distribution(tokenizers[column], units)

        text, numbers = self.question.text, self.question.numbers
        key = (measure.name, self.question.contenders[column].key, text.key, code, numbers, icu_version())
        return cast(Estimate, self.shelf.get(key, make))

    # ------------------------------------------------------------------ counts, unit by unit

    def _tokens(self, code: str, column: int, tokenizers: Sequence[TokenizerLike]) -> TokenCounts:
        self._step()
        return self._token_counts(code, column, tokenizers)

    def _token_counts(self, code: str, column: int, tokenizers: Sequence[TokenizerLike]) -> TokenCounts:
        text = self.question.text
        key = ("tokens", self.question.contenders[column].key, text.key, code)
        made = self.shelf.get(key, lambda: count_tokens(tokenizers[column], text.units[code], progress=self._goes_on))
        return cast(TokenCounts, made)

    def _quantity(
        self, quantity: Quantity, code: str, column: int, tokenizers: Sequence[TokenizerLike]
    ) -> NDArray[np.int64]:
        if quantity == "tokens":
            return self._token_counts(code, column, tokenizers).num_tokens
        if quantity != "continued words":
            return self._of_text(quantity, code)
        key = (quantity, self.question.contenders[column].key)
        return self._counted(quantity, code, key, tokenizers[column])

    def _of_text(self, quantity: Quantity, code: str) -> NDArray[np.int64]:
        return self._counted(quantity, code, (quantity,), None)

    def _counted(
        self, quantity: Quantity, code: str, key: tuple[str, ...], tokenizer: TokenizerLike | None
    ) -> NDArray[np.int64]:
        text = self.question.text

        def make() -> NDArray[np.int64]:
            try:
                return count_quantity(quantity, text.units[code], tag=text.language(code).tag, tokenizer=tokenizer)
            except UnavailableError:  # no words without ICU: a total of 0, which gives no value
                return np.zeros(text.num_units, dtype=np.int64)

        return cast("NDArray[np.int64]", self.shelf.get((*key, text.key, code, icu_version()), make))

    def _total(self, counts: NDArray[np.int64]) -> int:
        return int(counts[self.numbers].sum())


def _loaded(contender: Contender, shelf: Shelf, progress: Progress) -> TokenizerLike:
    if contender.is_real:
        return contender.load(progress)
    return cast(TokenizerLike, shelf.get(("tokenizer", contender.key), lambda: contender.load(progress)))


# ---------------------------------------------------------------------------------------------- reading


def reading_payload(
    contender: Contender, text: ParallelText, code: str, reference: str, number: int, shelf: Shelf
) -> tuple[bytes, int]:
    """Return what the stage draws of one unit, in a language and in the reference, and the number of merges."""
    tokenizer = _loaded(contender, shelf, lambda done, asked: True)
    histories = [tokenizer.history(text.units[one][number]) for one in dict.fromkeys((code, reference))]
    titles = [text.language(one).name for one in dict.fromkeys((code, reference))]
    views = [StageView(history, title=title) for history, title in zip(histories, titles, strict=True)]
    return stage_payload(tokenizer, views), tokenizer.num_merges
