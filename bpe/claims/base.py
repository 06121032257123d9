"""What a claim is, and the list that each claim puts itself on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bpe.samples import load_udhr

__all__ = ["REGISTRY", "Cell", "Claim", "Finding", "Play", "Row", "Topic", "Verdict", "claim"]

Verdict = Literal["true", "false", "depends"]
Topic = Literal["spelling", "digits", "white space", "languages", "Unicode", "vocabularies"]
Cell = str | int | float
Row = dict[str, Cell]


@dataclass(frozen=True)
class Finding:
    """What holds.

    answer  one sentence with the figures that decided
    rows    the figures behind it, each row column -> value; token boundaries are bars, spaces are dots
    """

    verdict: Verdict
    answer: str
    rows: tuple[Mapping[str, Cell], ...]


@dataclass(frozen=True)
class Play:
    """Where a reader can play with a claim: a page by its name in the story, and what it opens on.

    text      what to look at; without it, the first article of the declaration in `language`
    options   further choices on that page, as they stand in its links
    """

    page: str
    tokenizer: str = ""
    text: str = ""
    language: str = "eng"
    options: Mapping[str, str] = field(default_factory=dict)

    def opens_on(self) -> str:
        """Return the text to look at."""
        return self.text or load_udhr(self.language)[0]


@dataclass(frozen=True)
class Claim:
    """A claim, in our own words.

    name    for keys and tests;  topic  what it is about;  source  who says so
    check   computes what holds; seconds at most, most of it for vocabularies that are not in memory yet
    """

    name: str
    text: str
    topic: Topic
    source: str
    play: Play
    check: Callable[[], Finding]


REGISTRY: dict[str, Claim] = {}
"""Name -> claim. Filled while the modules of this package are imported."""


def claim(
    name: str, text: str, *, topic: Topic, source: str, play: Play
) -> Callable[[Callable[[], Finding]], Callable[[], Finding]]:
    """Return what makes a function that computes a finding into a claim."""

    def register(check: Callable[[], Finding]) -> Callable[[], Finding]:
        assert name not in REGISTRY, name
        REGISTRY[name] = Claim(name, text, topic, source, play, check)
        return check

    return register
