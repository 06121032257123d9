"""The tokenizers that the page can compare: real ones, the reader's own, raw bytes, and three trained on the spot.

The last three answer what the training text does: the same settings, learned from English, from Hindi, and from
the chosen languages in equal parts. They learn from the odd articles of the declaration, so that the even ones
are left to measure on: a tokenizer flatters the text that it was trained on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bpe import Tokenizer, TokenizerLike, Training, TrainSettings, train
from bpe.errors import StoppedError
from bpe.parallel import load_parallel
from bpe.trainer import Progress
from ui.choosing import Mine, find, real_names

__all__ = [
    "RAW_BYTES",
    "TRAINED",
    "TRAINED_NAMES",
    "Contender",
    "contender_names",
    "find_contender",
    "training_text",
]

RAW_BYTES = "raw bytes"
TRAINED = {"trained on English": ("eng",), "trained on Hindi": ("hin",), "trained on a mix": ()}
"""Name -> languages of the training text; none stands for all chosen ones."""
TRAINED_NAMES = tuple(TRAINED)


@dataclass(frozen=True, eq=False)
class Contender:
    """A tokenizer to compare.

    name     what the reader sees, and what a link holds
    key      a digest of everything that its token counts depend on
    about    one line on what it is
    load     gives the tokenizer; long work reports its progress
    is_trained_here
             whether it learned from the declaration, so that half of it must be held out
    is_real  whether it is one of the real tokenizers, which are kept for good once they are loaded
    """

    name: str
    key: str
    about: str
    load: Callable[[Progress], TokenizerLike]
    is_trained_here: bool = False
    is_real: bool = False


def contender_names(mine: Mine) -> list[str]:
    """Return the names to choose from, real tokenizers first."""
    return [*real_names(), *mine.names, RAW_BYTES, *TRAINED_NAMES]


def find_contender(name: str, mine: Mine, settings: TrainSettings, languages: Sequence[str]) -> Contender:
    """Return the contender of a name.

    settings, languages     of those that are trained on the spot: how, and what the mix is made of
    """
    if name in TRAINED:
        return _trained(name, settings, sorted(set(TRAINED[name] or languages)))
    if name == RAW_BYTES:
        return Contender(name, name, "UTF-8 without any merge", lambda _progress: Tokenizer())
    chosen = find(name, mine)
    return Contender(name, chosen.key, chosen.about, lambda _progress: chosen.tokenizer, is_real=chosen.is_real)


def training_text(languages: Sequence[str]) -> str:
    """Return the odd articles of the declaration in these languages, article by article."""
    text = load_parallel("declaration")
    return "\n".join(text.units[code][number] for number in range(0, text.num_units, 2) for code in languages)


def _trained(name: str, settings: TrainSettings, languages: Sequence[str]) -> Contender:
    known = [code for code in languages if code in load_parallel("declaration").units]
    digest = hashlib.sha256(f"{known} {settings!r}".encode()).hexdigest()
    where = f"{len(known)} languages" if len(known) > 1 else load_parallel("declaration").language(known[0]).name
    about = f"the odd articles in {where}"
    return Contender(name, digest, about, partial(_train, known, settings), is_trained_here=True)


def _train(languages: Sequence[str], settings: TrainSettings, progress: Progress) -> TokenizerLike:
    training: Training = train(training_text(languages), settings, progress=progress)
    if training.stopped == "cancelled":
        raise StoppedError("the training was stopped before it was done: start it again")
    return training.tokenizer
