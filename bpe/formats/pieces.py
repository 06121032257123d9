"""tokenizer.json of the other two models: WordPiece and Unigram.

Written: what this package trains (wordpiece.py, unigram.py), with the split pattern as a Split step; for WordPiece the
white space around a word is removed, for Unigram over bytes ByteLevel follows. Read: the same back to the same
tokenizer; and what BERT, XLM-R, T5 and their like are made of, which the `tokenizers` library goes on to run itself
(hub_tokenizer.py), because their normalizers live there.

Source: github.com/huggingface/tokenizers, src/models/wordpiece and src/models/unigram.
"""

from __future__ import annotations

import json
from itertools import chain, count
from math import isfinite
from typing import NamedTuple

from bpe.errors import FormatError
from bpe.formats.byte_alphabet import to_bytes, to_chars
from bpe.formats.pipeline import OUTER_SPACE, library_pattern, split_of_library_pattern
from bpe.formats.reading import Node, is_unicode, quote
from bpe.hub_tokenizer import HubTokenizer
from bpe.settings import Base
from bpe.unigram import UnigramTokenizer
from bpe.wordpiece import CONTINUES, UNKNOWN, WordPiece, WordPieceTokenizer, split_words

__all__ = ["read_unigram", "read_wordpiece", "write_unigram", "write_wordpiece"]

FORMAT = "tokenizer.json"

_UNKNOWN_SCORE = -1e9
"""Of the piece that stands for unknown characters: its own text must never be cut as that piece."""


# ---------------------------------------------------------------------- writing


def write_wordpiece(tokenizer: WordPieceTokenizer, name: str) -> dict[str, bytes]:
    """Return the one file of this format.

    Raises:
        FormatError: a `##` in a text could be mistaken for the mark, or two tokens are written alike.
    """
    words = [word for _before, word, _after in split_words(f"{CONTINUES}a", tokenizer.split)]
    if any(word.startswith(CONTINUES) and word != CONTINUES for word in words):
        raise FormatError(
            f"{FORMAT} tells a token inside a word by {CONTINUES} in its text, but under this split pattern a word of "
            f"the text may begin with {CONTINUES} too; train with BERT's split pattern, which keeps punctuation apart"
        )
    vocab: dict[str, int] = {}
    for token, piece in enumerate(tokenizer.vocabulary):
        if piece.written in vocab:
            raise FormatError(
                f"{FORMAT} knows a token by its text, but tokens {vocab[piece.written]:,} and {token:,} are both "
                f"written {quote(piece.written)}"
            )
        vocab[piece.written] = token
    model = {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": CONTINUES,
        "max_input_chars_per_word": tokenizer.max_input_chars_per_word,
        "vocab": vocab,
    }
    steps = [*_split_steps(tokenizer.split), _split_step(OUTER_SPACE, "Removed")]
    special = sorted(tokenizer.special_tokens.items(), key=lambda item: item[1])
    decoder = {"type": "WordPiece", "prefix": CONTINUES, "cleanup": False}
    return _write(name, model, steps, decoder, special)


def write_unigram(tokenizer: UnigramTokenizer, name: str) -> dict[str, bytes]:
    """Return the one file of this format. Unknown characters get an id of their own there, after all others.

    Raises:
        FormatError: two tokens have the same text.
    """
    is_bytes = tokenizer.base == "bytes"
    texts = [to_chars(token) if is_bytes else token.decode() for token in tokenizer.tokens]
    known = set(texts)
    if len(known) < len(texts):
        double = next(text for place, text in enumerate(texts) if text in texts[:place])
        raise FormatError(f"{FORMAT} knows a token by its text, but two tokens are {quote(double)}; keep one of them")
    unknown = next(text for text in chain(["<unk>"], map("<unk{}>".format, count(1))) if text not in known)
    vocab: list[list[str | float]] = [[text, score] for text, score in zip(texts, tokenizer.scores, strict=True)]
    model = {
        "type": "Unigram",
        "unk_id": len(vocab),
        "vocab": [*vocab, [unknown, _UNKNOWN_SCORE]],
        "byte_fallback": False,
    }
    steps = _split_steps(tokenizer.split)
    decoder: dict[str, object] = {"type": "Fuse"}
    if is_bytes:
        decoder = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        steps.append(decoder)
    return _write(name, model, steps, decoder, [])


def _split_steps(split: str) -> list[dict[str, object]]:
    return [] if split == "none" else [_split_step(library_pattern(split), "Isolated")]


def _split_step(pattern: str, behavior: str) -> dict[str, object]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def _write(
    name: str,
    model: dict[str, object],
    steps: list[dict[str, object]],
    decoder: dict[str, object],
    special_tokens: list[tuple[str, int]],
) -> dict[str, bytes]:
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": token,
                "content": text,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for text, token in special_tokens
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps} if steps else None,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }
    return {name: (json.dumps(document, ensure_ascii=False) + "\n").encode()}


# ---------------------------------------------------------------------- reading


class _Steps(NamedTuple):
    """The pre-tokenizer of a file that was written here."""

    split: str
    strips: bool
    byte_level: bool


def read_wordpiece(document: Node, model: Node) -> WordPieceTokenizer | HubTokenizer:
    """Return the tokenizer of a WordPiece model.

    Raises:
        FormatError: the key at fault.
    """
    vocab = model.get("vocab").ids_of_texts()
    unknown = model.get("unk_token").text()
    if unknown not in vocab:
        raise model.get("unk_token").refuse("a token of model.vocab")
    prefix = model.find("continuing_subword_prefix")
    most_chars = model.find("max_input_chars_per_word")
    steps = _own_steps(document)
    is_own = steps is not None and steps.strips and not steps.byte_level and unknown == UNKNOWN
    if is_own and prefix.value == CONTINUES and sorted(vocab.values()) == list(range(len(vocab))):
        assert steps is not None
        by_id = sorted(vocab, key=vocab.__getitem__)
        special = _special_tokens(document, vocab)
        return WordPieceTokenizer(
            tuple(_read_piece(text, special) for text in by_id),
            {UNKNOWN: vocab[UNKNOWN], **special},
            steps.split,
            100 if most_chars.value is None else most_chars.integer(),
        )
    kinds = _pre_tokenizer_kinds(document.find("pre_tokenizer"))
    if kinds not in (["BertPreTokenizer"], ["Whitespace"], ["WhitespaceSplit"]):
        raise document.find("pre_tokenizer").refuse(
            "BertPreTokenizer, Whitespace or WhitespaceSplit, the ones read so far with WordPiece"
        )
    return _read_with_library(document, vocab, vocab[unknown], adds_space=False)


def _read_piece(text: str, special: dict[str, int]) -> WordPiece:
    continues = text not in special and text.startswith(CONTINUES) and text != CONTINUES
    return WordPiece(text.removeprefix(CONTINUES) if continues else text, continues)


def read_unigram(document: Node, model: Node) -> UnigramTokenizer | HubTokenizer:
    """Return the tokenizer of a Unigram model.

    Raises:
        FormatError: the key at fault.
    """
    if model.find("byte_fallback").flag():
        raise model.find("byte_fallback").refuse("false: Unigram with bytes for what is unknown is not read yet")
    pieces, scores = _read_scores(model.get("vocab"))
    unknown_node = model.find("unk_id")
    unknown = None if unknown_node.value is None else unknown_node.integer()
    if unknown is not None and unknown >= len(pieces):
        raise unknown_node.refuse(f"the id of a piece, below {len(pieces):,}")
    steps = _own_steps(document)
    # Without the piece for what is unknown, the last one, all ids stay.
    is_own = steps is not None and not steps.strips and not document.find("added_tokens").value
    if is_own and unknown == len(pieces) - 1 and unknown > 0:
        assert steps is not None
        base: Base = "bytes" if steps.byte_level else "chars"
        tokens = [to_bytes(piece) if steps.byte_level else piece.encode() for piece in pieces[:-1]]
        known = tuple(token for token in tokens if token is not None)
        if len(known) < len(tokens):
            raise model.get("vocab").refuse("pieces in the byte alphabet of ByteLevel")
        return UnigramTokenizer(known, tuple(scores[:-1]), base, steps.split)
    kinds = _pre_tokenizer_kinds(document.find("pre_tokenizer"))
    if kinds != ["WhitespaceSplit", "Metaspace"]:
        raise document.find("pre_tokenizer").refuse(
            "a sequence of WhitespaceSplit and Metaspace, the only one read so far with Unigram"
        )
    metaspace = document.get("pre_tokenizer").get("pretokenizers").items()[1]
    scheme = metaspace.find("prepend_scheme")
    adds_space = metaspace.find("add_prefix_space").flag(True) if scheme.value is None else scheme.text() != "never"
    vocab = {piece: token for token, piece in enumerate(pieces)}
    return _read_with_library(document, vocab, unknown, adds_space=adds_space)


def _read_scores(node: Node) -> tuple[list[str], list[float]]:
    """Return pieces and scores, each piece once. Checked without a Node per entry, as `ids_of_texts`."""
    if not isinstance(node.value, list) or not node.value:
        raise node.refuse("a list of pieces and scores")
    pieces: list[str] = []
    scores: list[float] = []
    place_of: dict[str, int] = {}
    for place, entry in enumerate(node.value):
        is_pair = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)
        if not is_pair or isinstance(entry[1], bool) or not isinstance(entry[1], int | float):
            raise Node(entry, node.name, f"{node.path}[{place}]").refuse("a piece and its score")
        piece, score = entry[0], float(entry[1])
        if not piece or not is_unicode(piece) or not isfinite(score):
            raise Node(entry, node.name, f"{node.path}[{place}]").refuse("a text that is not empty and a finite score")
        if piece in place_of:
            raise Node(entry, node.name, f"{node.path}[{place}]").refuse(
                f"a piece that is new; {node.path}[{place_of[piece]}] is the same"
            )
        place_of[piece] = place
        pieces.append(piece)
        scores.append(score)
    return pieces, scores


def _own_steps(document: Node) -> _Steps | None:
    """Return the pre-tokenizer if it is of the shape that is written here, and nothing normalizes; else None."""
    if document.find("normalizer").value is not None:
        return None
    node = document.find("pre_tokenizer")
    if node.value is None:
        return _Steps("none", strips=False, byte_level=False)
    if node.find("type").value != "Sequence":
        return None
    split, strips, byte_level = "none", False, False
    for item in node.get("pretokenizers").items():
        kind = item.find("type").value
        expression = item.find("pattern").members().get("Regex") if kind == "Split" else None
        if (
            kind == "ByteLevel"
            and not item.find("use_regex").flag(True)
            and not item.find("add_prefix_space").flag(True)
        ):
            byte_level = True
        elif expression == OUTER_SPACE and item.find("behavior").value == "Removed":
            strips = True
        elif isinstance(expression, str) and item.find("behavior").value == "Isolated" and split == "none":
            split = split_of_library_pattern(item.get("pattern").get("Regex"))
        else:
            return None
    return _Steps(split, strips, byte_level)


def _pre_tokenizer_kinds(node: Node) -> list[str]:
    if node.value is None:
        return []
    kind = node.get("type").text()
    if kind != "Sequence":
        return [kind]
    return [item.get("type").text() for item in node.get("pretokenizers").items()]


def _special_tokens(document: Node, vocab: dict[str, int]) -> dict[str, int]:
    """Return the special tokens of a file; added tokens that are not special would be found in any text.

    Raises:
        FormatError: there are such tokens, or one has another id than in the vocabulary.
    """
    added = document.find("added_tokens")
    special: dict[str, int] = {}
    for item in added.items() if added.value is not None else ():
        text, token = item.get("content").text(), item.get("id").integer()
        if not item.find("special").flag():
            raise item.refuse("special: with this model, added tokens that are found in any text are not read yet")
        if vocab.get(text, token) != token or not text:
            raise item.get("id").refuse(f"the id of {quote(text)} alone, the same as in model.vocab")
        special[text] = token
    return special


def _read_with_library(document: Node, vocab: dict[str, int], unknown: int | None, *, adds_space: bool) -> HubTokenizer:
    """Return a tokenizer that the library runs, without its added tokens: those are found here, when asked for."""
    from bpe.formats.huggingface import import_tokenizers

    special = _special_tokens(document, vocab)
    text_of = {token: text for text, token in (vocab | special).items()}
    num_ids = max(text_of) + 1
    missing = next((token for token in range(num_ids) if token not in text_of), None)
    if missing is not None or len(text_of) < len(vocab | special):
        raise document.get("model").get("vocab").refuse(f"a vocabulary of ids without a gap, each once (id {missing})")
    members = dict(document.members())
    members |= {"added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
    try:
        tokenizer = import_tokenizers().Tokenizer.from_str(json.dumps(members))
    except Exception as error:  # the library raises nothing more special
        raise FormatError(f"{document.name} must be a file that tokenizers reads, but it says: {error}") from None
    if tokenizer.decoder is None:
        raise document.find("decoder").refuse("WordPiece or Metaspace, which write words back with their spaces")
    normalizer = tokenizer.normalizer
    return HubTokenizer(
        document.name,
        [text_of[token] for token in range(num_ids)],
        tokenizer,
        special_tokens=special,
        unknown_id=unknown,
        normalize=str if normalizer is None else normalizer.normalize_str,
        adds_space=adds_space,
    )
