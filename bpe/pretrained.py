"""Real tokenizers by name, without a download: `load_pretrained("gpt2")`.

A published rank table says which byte strings are tokens and in which order they were made; the pair that
each was made of is not in it. `RankTokenizer` puts this package's verbs on top of such a table. Token ids
come from tiktoken, so they are what a model sees; the history of a text comes from replaying the ranks
(encoder.py), and is held to tiktoken's ids.

It leaves out where the tables come from (vocabularies/) and reading tables from files (formats.py). Its
neighbour is tokenizer.py: the same verbs for a tokenizer whose merges are known.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from bpe.errors import UnavailableError, UnknownTokenizerError
from bpe.pretokenize import SPLIT_PATTERNS
from bpe.rank_tokenizer import NO_PARENT, RankTokenizer
from bpe.vocabularies import load_ranks
from bpe.vocabularies.openai import OPENAI_ENCODINGS, PublishedEncoding

__all__ = [
    "NO_PARENT",
    "PretrainedInfo",
    "RankTokenizer",
    "load_pretrained",
    "pretrained_info",
    "pretrained_names",
]

# ---------------------------------------------------------------------- by name


@dataclass(frozen=True)
class PretrainedInfo:
    """What is known of a real tokenizer before it is loaded.

    kind           the algorithm, as a reader should see it
    split_pattern  the regular expression; empty where there is none
    normalizer     what happens to the text before it is split; `none` where nothing does
    source         who published it;  licence   under which terms
    available      whether it can be loaded on this machine;  why_not   if not, what to do
    """

    name: str
    title: str
    vocab_size: int
    kind: str
    split_pattern: str
    normalizer: str
    special_tokens: Mapping[str, int]
    source: str
    licence: str
    available: bool = True
    why_not: str = ""


@dataclass(frozen=True)
class _Entry:
    """A line of the registry: to add a tokenizer, add one. `load` is called at most once per process."""

    info: PretrainedInfo
    load: Callable[[], RankTokenizer]
    aliases: tuple[str, ...] = ()


def _published_entry(encoding: PublishedEncoding) -> _Entry:
    info = PretrainedInfo(
        name=encoding.name,
        title=encoding.title,
        vocab_size=encoding.vocab_size,
        kind="byte-level BPE",
        split_pattern=SPLIT_PATTERNS[encoding.split],
        normalizer="none",
        special_tokens=encoding.special_tokens,
        source=encoding.source,
        licence=encoding.licence,
    )
    return _Entry(info, partial(_load_published, encoding), encoding.aliases)


def _load_published(encoding: PublishedEncoding) -> RankTokenizer:
    ranks = load_ranks(encoding.ranks)
    return RankTokenizer(encoding.name, ranks, encoding.split, encoding.special_tokens)


_ENTRIES: dict[str, _Entry] = {encoding.name: _published_entry(encoding) for encoding in OPENAI_ENCODINGS}
_NAME_OF: dict[str, str] = {alias: name for name, entry in _ENTRIES.items() for alias in (name, *entry.aliases)}
_LOADED: dict[str, RankTokenizer] = {}
_LOCKS: dict[str, threading.Lock] = {name: threading.Lock() for name in _ENTRIES}


def pretrained_names() -> tuple[str, ...]:
    """Return the names of all real tokenizers, available here or not.

    >>> pretrained_names()
    ('gpt2', 'r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base')
    """
    return tuple(_ENTRIES)


def pretrained_info(name: str) -> PretrainedInfo:
    """Return what is known of a tokenizer, without loading it.

    Raises:
        UnknownTokenizerError: no tokenizer goes by this name.

    >>> pretrained_info("cl100k").title
    'GPT-3.5, GPT-4'
    """
    return _ENTRIES[_canonical_name(name)].info


def load_pretrained(name: str) -> RankTokenizer:
    """Return a real tokenizer by name or alias. The second call returns the same object at once.

    Safe from several threads: they wait for one another only over the same name. Costs up to 1.5 s once.

    Raises:
        UnknownTokenizerError: no tokenizer goes by this name.
        UnavailableError: it cannot be had on this machine.

    >>> load_pretrained("o200k").encode("strawberry")
    [302, 1618, 19772]
    """
    name = _canonical_name(name)
    entry = _ENTRIES[name]
    if not entry.info.available:
        raise UnavailableError(entry.info.why_not)
    with _LOCKS[name]:
        if name not in _LOADED:
            _LOADED[name] = entry.load()
        return _LOADED[name]


def _canonical_name(name: str) -> str:
    if name in _NAME_OF:
        return _NAME_OF[name]
    near = get_close_matches(name.lower(), _NAME_OF, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    raise UnknownTokenizerError(f"a tokenizer name must be one of {', '.join(_ENTRIES)}, but is {name!r}{hint}")
