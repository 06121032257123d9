"""What the reader asks: which text, units, languages, tokenizers and measures. Frozen, and known by a digest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from bpe.errors import CorpusError
from bpe.metrics import icu_version
from bpe.parallel import ParallelText
from ui.languages.contenders import Contender

__all__ = ["Question", "ask"]


@dataclass(frozen=True, eq=False)
class Question:
    """A comparison.

    codes        languages, in the order of the text
    reference    the language that a premium is taken against; it need not be among `codes`
    contenders   the first one sorts the chart
    numbers      0-based numbers of the units that are counted
    measures     names of MEASURES
    is_held_out  whether units were left out because a tokenizer learned from them
    """

    text: ParallelText
    codes: tuple[str, ...]
    reference: str
    contenders: tuple[Contender, ...]
    numbers: tuple[int, ...]
    measures: tuple[str, ...]
    is_held_out: bool = False

    @property
    def key(self) -> str:
        """A digest of everything that the answer depends on."""
        parts = (
            self.text.key,
            self.codes,
            self.reference,
            [contender.key for contender in self.contenders],
            self.numbers,
            self.measures,
            icu_version(),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def ask(
    text: ParallelText,
    codes: tuple[str, ...],
    reference: str,
    contenders: tuple[Contender, ...],
    wanted: tuple[int, ...],
    measures: tuple[str, ...],
) -> Question:
    """Return the question, its units narrowed to those that all languages have and no tokenizer learned from.

    Raises:
        CorpusError: no unit is left.
    """
    common = set(text.common_units((*codes, reference)).tolist())
    numbers = tuple(number for number in wanted if number in common)
    if not numbers:
        fewest = min(codes, key=lambda code: sum(bool(text.units[code][number]) for number in wanted))
        raise CorpusError(
            f"at least one chosen {text.unit} must be there in all chosen languages, but none is: choose others, or "
            f"take out {text.language(fewest).name}, which has the fewest"
        )
    is_held_out = text.unit == "article" and any(contender.is_trained_here for contender in contenders)
    if is_held_out:
        numbers = tuple(number for number in numbers if number % 2)
        if not numbers:
            raise CorpusError(
                "the tokenizers trained here learn from the articles of odd number, so at least one even one must be "
                "chosen to measure on: choose another article, or take those tokenizers out"
            )
    return Question(text, codes, reference, contenders, numbers, measures, is_held_out)
