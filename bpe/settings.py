"""What to train: one frozen record, checked when it is made, so that no engine meets an impossible value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from bpe.errors import SettingsError
from bpe.pretokenize import compile_split

__all__ = ["Base", "Descending", "EndOfWord", "TieBreak", "TrainSettings"]

Base = Literal["bytes", "chars"]
EndOfWord = Literal["none", "separate", "attached"]
TieBreak = Literal["first-seen", "lowest-ids", "greatest-pair"]

_MOST_MERGES = 2**31 - 2 - 2 * 0x110000  # with every character, bare and marked, as base: ids stay below 2^31


@dataclass(frozen=True)
class TrainSettings:
    """What to train. Values are checked on construction.

    base            bytes: 256 base tokens, nothing is ever unknown. chars: the characters of the corpus.
    end_of_word     none; separate: `l o w </w>`; attached: `l o w</w>` (subword-nmt). Needs base="chars".
    split           a name of `SPLIT_PATTERNS` or a regular expression; merges never cross a pre-token
    tie_break       which of the most frequent pairs is merged:
                    first-seen: the one whose first live occurrence in corpus order comes first (max of a dict);
                    lowest-ids: the lowest (left id, right id) (rustbpe, Hugging Face tokenizers);
                    greatest-pair: the greatest (left text, right text), end mark included (subword-nmt);
                    pairs of equal text, which only differ in how they were made, fall back to lowest ids
    num_merges      stop after so many merges; give this or vocab_size
    vocab_size      stop when base tokens and merges are so many
    min_pair_count  stop when no pair is left that occurs at least so often

    Raises:
        SettingsError: a value is out of range, or two exclude each other.

    >>> TrainSettings(num_merges=100).split
    'gpt2'
    """

    base: Base = "bytes"
    end_of_word: EndOfWord = "none"
    split: str = "gpt2"
    tie_break: TieBreak = "first-seen"
    num_merges: int | None = None
    vocab_size: int | None = None
    min_pair_count: int = 2

    def __post_init__(self) -> None:
        for name, allowed in (("base", Base), ("end_of_word", EndOfWord), ("tie_break", TieBreak)):
            if getattr(self, name) not in get_args(allowed):
                raise SettingsError(
                    f"{name} must be one of {', '.join(get_args(allowed))}, but is {getattr(self, name)!r}"
                )
        if self.end_of_word != "none" and self.base != "chars":
            raise SettingsError(
                f"end_of_word={self.end_of_word!r} needs base='chars'; with bytes use end_of_word='none'"
            )
        if (self.num_merges is None) == (self.vocab_size is None):
            raise SettingsError("give either num_merges or vocab_size, not both and not neither")
        for name, least in (("num_merges", 0), ("vocab_size", 1), ("min_pair_count", 1)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and least <= value <= _MOST_MERGES):
                shown = f"{value:,}" if isinstance(value, int) else repr(value)
                raise SettingsError(f"{name} must be a whole number from {least} to {_MOST_MERGES:,}, but is {shown}")
        compile_split(self.split)

    def most_merges(self, num_base: int) -> int:
        """Return how many merges these settings ask for on top of so many base tokens."""
        if self.num_merges is not None:
            return self.num_merges
        assert self.vocab_size is not None
        if self.vocab_size < num_base:
            raise SettingsError(
                f"vocab_size must be at least the {num_base:,} base tokens of this corpus, but is {self.vocab_size:,}"
            )
        return self.vocab_size - num_base


class Descending:
    """A pair of texts that sorts from the greatest down: what the greatest-pair rule puts into a heap."""

    __slots__ = ("texts",)

    def __init__(self, texts: tuple[bytes, bytes]) -> None:
        self.texts = texts

    def __lt__(self, other: Descending) -> bool:
        return self.texts > other.texts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and self.texts == other.texts

    __hash__ = None  # type: ignore[assignment]
