"""The tokenizers that can stand in a row: real ones, and the reader's, trained here or brought in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bpe import TokenizerLike, TrainSettings, train
from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names
from bpe.samples import load_sample
from ui.brought import BROUGHT_NAME, BroughtTokenizer
from ui.compute import Corpus, training_key, trainings
from ui.state import OWN_NAME, OwnNeighbour, OwnTokenizer

__all__ = ["Contender", "Mine", "example_tokenizer", "find_contender", "real_names"]

_EXAMPLE_SAMPLES = ("udhr-eng", "udhr-kor")
_EXAMPLE_MERGES = 2_000


@dataclass(frozen=True)
class Contender:
    """A tokenizer in a row. Equal where its key is.

    key      a digest of what its tokens depend on, of the own one without its step
    get      gives the tokenizer; at once, for real ones only when loaded
    """

    name: str
    key: str
    get: Callable[[], TokenizerLike]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contender) and (self.name, self.key) == (other.name, other.key)

    def __hash__(self) -> int:
        return hash((self.name, self.key))


def real_names() -> list[str]:
    """Return the real tokenizers that can be had on this machine."""
    return [name for name in pretrained_names() if pretrained_info(name).available]


@dataclass(frozen=True)
class Mine:
    """What is the reader's.

    own         the session's own tokenizer, or an example in its place
    is_example  whether it is the example
    brought     from a file;  neighbours: trained here by other algorithms, by name
    """

    own: OwnTokenizer
    is_example: bool
    brought: BroughtTokenizer | None
    neighbours: Mapping[str, OwnNeighbour]

    @property
    def names(self) -> list[str]:
        """All names to choose from, the reader's first."""
        return [OWN_NAME, *([BROUGHT_NAME] if self.brought else []), *self.neighbours, *real_names()]


def find_contender(name: str, mine: Mine) -> Contender:
    """Return the contender of a name."""
    if name == OWN_NAME:
        tokenizer: TokenizerLike = mine.own.training.tokenizer
        return Contender(name, mine.own.key, lambda: tokenizer)
    if name == BROUGHT_NAME and mine.brought is not None:
        file = mine.brought.tokenizer
        return Contender(name, mine.brought.key, lambda: file)
    if name in mine.neighbours:
        neighbour = mine.neighbours[name].tokenizer
        return Contender(name, mine.neighbours[name].key, lambda: neighbour)
    return Contender(name, name, lambda: load_pretrained(name))


def example_tokenizer() -> OwnTokenizer:
    """Return a small tokenizer, to stand in for the reader's own until there is one: half a second, once a server."""
    text = "\n".join(map(load_sample, _EXAMPLE_SAMPLES))
    corpus = Corpus.of("the declaration of human rights in English and Korean", text)
    settings = TrainSettings(num_merges=_EXAMPLE_MERGES)
    key = training_key(corpus, settings)
    training = trainings().known(key)
    if training is None:
        job = trainings().start(
            key, lambda job: train(text, settings), keep=lambda training: True, is_wanted=lambda: True, is_short=True
        )
        job.wait(60)
        if job.error is not None:
            raise job.error
        training = job.result
        assert training is not None
    return OwnTokenizer(training, key, corpus.title, training.num_merges)
