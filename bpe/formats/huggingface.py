"""tokenizer.json, the one-file format of Hugging Face tokenizers: the whole pipeline, named step by step.

Written: byte-level BPE with the split pattern as a Split step and ByteLevel behind it; for a character base, plain
BPE with an unknown token (the format would drop unknown characters without a word), and the attached
end-of-word mark as `end_of_word_suffix`. Read: what pipeline.py and imported.py can replay to the same ids; the
rest is refused by its key. WordPiece and Unigram are written and read in pieces.py. Sentencepiece-like BPE
(byte_fallback) is not read yet: a reader for another `model.type` goes into `_MODELS`.

Post-processors are not read: they put a model's own special tokens around a text, and `encode` gives the text's.

Source: github.com/huggingface/tokenizers, src/models/bpe/serialization.rs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, count
from types import ModuleType
from typing import Any

from bpe.errors import FormatError, UnavailableError
from bpe.formats import pieces
from bpe.formats.byte_alphabet import to_chars
from bpe.formats.imported import AddedToken, ImportedTokenizer
from bpe.formats.parts import Parts, take_apart
from bpe.formats.pipeline import OUTER_SPACE, library_pattern, read_normalizer, read_pre_tokenizer
from bpe.formats.reading import Node, parse_json, quote
from bpe.formats.recognise import Files
from bpe.tokenizer import END_OF_WORD, TokenizerLike
from bpe.unigram import UnigramTokenizer
from bpe.wordpiece import WordPieceTokenizer

__all__ = ["import_tokenizers", "library", "library_encode", "read", "vocab_of", "write"]

FORMAT = "tokenizer.json"


# ---------------------------------------------------------------------- writing


def write(tokenizer: TokenizerLike, name: str) -> dict[str, bytes]:
    """Return the one file of this format.

    Raises:
        FormatError: a separate end-of-word mark, or two tokens of equal text.
    """
    if isinstance(tokenizer, WordPieceTokenizer):
        return pieces.write_wordpiece(tokenizer, name)
    if isinstance(tokenizer, UnigramTokenizer):
        return pieces.write_unigram(tokenizer, name)
    parts = take_apart(tokenizer)
    if parts.end_of_word == "separate":
        raise FormatError(
            f"{FORMAT} knows no end-of-word mark that is a symbol of its own, but this tokenizer has one; "
            "choose bpe-json, or train with end_of_word='attached'"
        )
    parts.need_distinct_names(FORMAT)
    parts.need_known_merges(FORMAT)
    vocab = vocab_of(parts)
    text_of = {token: text for text, token in vocab.items()}
    unknown = None
    if parts.base == "chars":
        candidates = chain(["<unk>"], map("<unk{}>".format, count(1)))
        unknown = next(text for text in candidates if text not in vocab)
        vocab[unknown] = max(vocab.values(), default=-1) + 1
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added_token(text, token) for text, token in _by_id(parts)],
        "normalizer": None,
        "pre_tokenizer": _pre_tokenizer(parts),
        "post_processor": None,
        "decoder": _decoder(parts),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": END_OF_WORD if parts.end_of_word == "attached" else None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [[text_of[left], text_of[right]] for left, right, _token in parts.merges],
        },
    }
    return {name: (json.dumps(document, ensure_ascii=False) + "\n").encode()}


def vocab_of(parts: Parts) -> dict[str, int]:
    """Return token text -> id, ids ascending; special tokens are in it, or the library would renumber them."""
    ids = {token: to_chars(name) if parts.base == "bytes" else name.decode() for token, name in parts.names.items()}
    vocab = {text: token for token, text in ids.items()}
    for text, token in _by_id(parts):
        if text in vocab:
            raise FormatError(
                f"{FORMAT} knows a token by its text, but special token {quote(text)} is written like token "
                f"{vocab[text]:,}; choose bpe-json or tiktoken"
            )
        vocab[text] = token
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def _by_id(parts: Parts) -> list[tuple[str, int]]:
    return sorted(parts.special_tokens.items(), key=lambda item: item[1])


def _added_token(text: str, token: int) -> dict[str, object]:
    return {
        "id": token,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def _pre_tokenizer(parts: Parts) -> dict[str, object] | None:
    steps: list[dict[str, object]] = []
    if parts.split != "none":
        steps.append(_split_step(library_pattern(parts.split), "Isolated"))
    if parts.end_of_word == "attached":
        steps.append(_split_step(OUTER_SPACE, "Removed"))
    if parts.base == "bytes":
        steps.append({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False})
    return {"type": "Sequence", "pretokenizers": steps} if steps else None


def _split_step(pattern: str, behavior: str) -> dict[str, object]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def _decoder(parts: Parts) -> dict[str, object]:
    if parts.base == "bytes":
        return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    if parts.end_of_word == "attached":
        return {"type": "BPEDecoder", "suffix": END_OF_WORD}
    return {"type": "Fuse"}


# ---------------------------------------------------------------------- reading


def read(files: Files, split: str | None = None) -> TokenizerLike:
    """Return the tokenizer of a tokenizer.json; `split` is for formats that do not hold it, and not used here.

    Raises:
        FormatError: the key at fault, or the kind that is not read yet.
    """
    file = files["tokenizer-json"]
    document = parse_json(file.data, file.name)
    model = document.get("model")
    # Files of the first years name no type; then there was only BPE with merges.
    kind = "BPE" if model.find("type").value is None and "merges" in model.members() else model.get("type").text()
    reader = _MODELS.get(kind)
    if reader is None:
        raise FormatError(
            f"{file.name}: model.type must be one of {', '.join(_MODELS)}, the kinds that are read, but is {kind}"
        )
    return reader(document, model)


def _read_bpe(document: Node, model: Node) -> ImportedTokenizer:
    _refuse_other_algorithms(model)
    normalize = read_normalizer(document.find("normalizer"))
    steps, byte_level = read_pre_tokenizer(document.find("pre_tokenizer"))
    vocab = model.get("vocab").ids_of_texts()
    suffix = model.find("end_of_word_suffix")
    if suffix.value and byte_level:
        raise suffix.refuse("null where the pre-tokenizer is ByteLevel")
    unknown = model.find("unk_token")
    if unknown.value is not None and unknown.text() not in vocab:
        raise unknown.refuse("a token of model.vocab")
    return ImportedTokenizer(
        name=document.name,
        vocab=vocab,
        merges=_read_merges(model.get("merges"), vocab),
        byte_level=byte_level,
        steps=tuple(steps),
        normalize=normalize,
        added=_read_added(document.find("added_tokens"), vocab),
        end_of_word=suffix.text() if suffix.value else "",
        unknown_id=None if unknown.value is None else vocab[unknown.text()],
        fuse_unknown=model.find("fuse_unk").flag(),
        whole_first=model.find("ignore_merges").flag(),
    )


_MODELS: dict[str, Callable[[Node, Node], TokenizerLike]] = {
    "BPE": _read_bpe,
    "WordPiece": pieces.read_wordpiece,
    "Unigram": pieces.read_unigram,
}


def _refuse_other_algorithms(model: Node) -> None:
    """Refuse options that make something else of BPE."""
    if model.find("byte_fallback").flag():
        raise model.find("byte_fallback").refuse("false: sentencepiece-like BPE is not read yet")
    if model.find("dropout").value not in (None, 0):
        raise model.find("dropout").refuse("null: with dropout the ids are left to chance")
    if model.find("continuing_subword_prefix").value not in (None, ""):
        raise model.find("continuing_subword_prefix").refuse("null: a prefix inside words is not read yet")


def _read_merges(node: Node, vocab: dict[str, int]) -> tuple[tuple[int, int, int], ...]:
    """Return the merges as ids. Old files write a merge as `left right`, newer ones as a list of two."""
    if not isinstance(node.value, list):
        raise node.refuse("a list of merges")
    rank_of: dict[tuple[int, int], int] = {}
    merges: list[tuple[int, int, int]] = []
    for rank, entry in enumerate(node.value):
        place = Node(entry, node.name, f"{node.path}[{rank}]")
        sides = entry.split(" ") if isinstance(entry, str) else entry
        if not isinstance(sides, list) or len(sides) != 2 or not all(isinstance(side, str) for side in sides):
            raise place.refuse("two token texts, as a list or with a space between them")
        left, right = sides
        for text in (left, right, left + right):
            if text not in vocab:
                raise FormatError(
                    f"{node.name}: {place.path}: {quote(text)} must be in model.vocab, but is not; the file may be cut"
                )
        pair = vocab[left], vocab[right]
        if pair in rank_of:
            raise place.refuse(f"a merge that is new; {node.path}[{rank_of[pair]}] is the same")
        rank_of[pair] = rank
        merges.append((*pair, vocab[left + right]))
    return tuple(merges)


def _read_added(node: Node, vocab: dict[str, int]) -> tuple[AddedToken, ...]:
    if node.value is None:
        return ()
    owner: dict[int, str] = {token: text for text, token in vocab.items()}
    added: dict[str, AddedToken] = {}
    for item in node.items():
        text, token = item.get("content").text(), item.get("id").integer()
        if not text:
            raise item.get("content").refuse("a text that is not empty")
        if owner.get(token, text) != text or vocab.get(text, token) != token or text in added:
            raise item.get("id").refuse(f"the id of {quote(text)} alone, the same as in model.vocab")
        if item.find("single_word").flag():
            raise item.find("single_word").refuse("false: tokens that only match whole words are not read yet")
        owner[token] = text
        added[text] = AddedToken(
            text=text,
            token=token,
            special=item.find("special").flag(),
            normalized=item.find("normalized").flag(),
            takes_left=item.find("lstrip").flag(),
            takes_right=item.find("rstrip").flag(),
        )
    takes_space = next((token for token in added.values() if token.takes_left or token.takes_right), None)
    is_space = next((text for text in added if text[0].isspace() or text[-1].isspace()), None)
    if takes_space and is_space:
        # The library then gives some white space to two tokens.
        raise node.refuse(
            f"free of white space at the edge of {quote(is_space)}, as {quote(takes_space.text)} takes it"
        )
    return tuple(added.values())


# ---------------------------------------------------------------------- the library


def import_tokenizers() -> ModuleType:
    """Return the `tokenizers` module.

    Raises:
        UnavailableError: it is not installed.
    """
    try:
        import tokenizers
    except ImportError:
        raise UnavailableError(
            "this format is checked with the tokenizers package, which is not installed; "
            "install it: python -m pip install tokenizers"
        ) from None
    return tokenizers


def library(files: Files) -> Callable[[str, bool], list[int]]:
    """Return what `tokenizers` makes of the file."""
    file = files["tokenizer-json"]
    try:
        tokenizer = import_tokenizers().Tokenizer.from_str(file.data.decode("utf-8-sig"))
    except UnavailableError:
        raise
    except Exception as error:  # the library raises nothing more special
        raise FormatError(f"{file.name} must be a file that tokenizers reads, but it says: {error}") from None
    return library_encode(tokenizer)


def library_encode(tokenizer: Any) -> Callable[[str, bool], list[int]]:
    """Return `encode(text, special)` of a tokenizer of the library, without tokens put around the text."""
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(text: str, special: bool) -> list[int]:
        tokenizer.encode_special_tokens = not special
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return encode
