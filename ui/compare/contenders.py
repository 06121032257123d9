"""The tokenizer that stands in a row for the reader's own, as long as there is none."""

from __future__ import annotations

from bpe import TrainSettings, train
from bpe.samples import load_sample
from ui.compute import Corpus, training_key, trainings
from ui.state import OwnTokenizer

__all__ = ["example_tokenizer"]

_EXAMPLE_SAMPLES = ("udhr-eng", "udhr-kor")
_EXAMPLE_MERGES = 2_000


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
