"""vocab.json + merges.txt: how GPT-2 was published, byte-level tokens in the byte alphabet.

vocab.json gives each token's id, merges.txt the pairs in rank order, one a line, after a line `#version: 0.2`.
The split pattern is always GPT-2's; neither file can name another one. A token that is neither a base symbol nor
made by a merge is a special token (`<|endoftext|>`).

Source: github.com/openai/gpt-2 src/encoder.py; `tokenizers.models.BPE.read_file` for what is checked against.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from bpe.errors import FormatError
from bpe.formats import huggingface
from bpe.formats.byte_alphabet import BYTE_OF_CHAR, to_chars
from bpe.formats.imported import AddedToken, ImportedTokenizer
from bpe.formats.parts import take_apart
from bpe.formats.pipeline import pre_tokens_of
from bpe.formats.reading import decode_lines, parse_json, quote
from bpe.formats.recognise import Files
from bpe.tokenizer import TokenizerLike

__all__ = ["library", "merges_name", "read", "vocab_name", "write"]

FORMAT = "vocab.json with merges.txt"
VERSION_LINE = "#version: 0.2"


def merges_name(name: str) -> str:
    """Return the name of the merges file that goes with a vocabulary file.

    >>> merges_name("my-vocab.json")
    'my-merges.txt'
    """
    return name.removesuffix("vocab.json") + "merges.txt"


def vocab_name(name: str) -> str:
    """Return the name of the vocabulary file that goes with a merges file."""
    return name.removesuffix("merges.txt") + "vocab.json"


def write(tokenizer: TokenizerLike, name: str) -> dict[str, bytes]:
    """Return both files; `name` is that of the vocabulary and ends with `vocab.json`.

    Raises:
        FormatError: a character base, another split pattern than gpt2, two tokens of equal bytes.
    """
    if not name.endswith("vocab.json"):
        raise FormatError(f"{FORMAT}: the file name must end with vocab.json, merges.txt follows it, but is {name!r}")
    parts = take_apart(tokenizer)
    parts.need_plain_bytes(FORMAT)
    if parts.split != "gpt2":
        raise FormatError(
            f"{FORMAT} always means the split pattern gpt2, but this tokenizer splits by {quote(parts.split)}; "
            "choose tokenizer-json"
        )
    parts.need_distinct_names(FORMAT)
    parts.need_known_merges(FORMAT)
    vocab = huggingface.vocab_of(parts)
    lines = [VERSION_LINE]
    for left, right, token in parts.merges:
        line = f"{to_chars(parts.names[left])} {to_chars(parts.names[right])}"
        if line.startswith("#version"):
            raise FormatError(
                f"{FORMAT} takes a line that begins with #version for a heading, but merge {quote(line)} "
                f"of token {token:,} begins so; choose tokenizer-json"
            )
        lines.append(line)
    return {
        name: (json.dumps(vocab, ensure_ascii=False) + "\n").encode(),
        merges_name(name): ("\n".join(lines) + "\n").encode(),
    }


def read(files: Files, split: str | None = None) -> ImportedTokenizer:
    """Return the tokenizer of both files; the split pattern is gpt2 unless `split` says another one.

    Raises:
        FormatError: the line or key at fault.
    """
    vocab_file, merges_file = files["vocab"], files["merges"]
    vocab = parse_json(vocab_file.data, vocab_file.name).ids_of_texts()
    merges: list[tuple[int, int, int]] = []
    line_of: dict[tuple[str, str], int] = {}
    made: set[str] = set()
    for number, line in decode_lines(merges_file.data, merges_file.name):
        if number == 1 and line.startswith("#version"):
            continue
        sides = line.split(" ")
        if len(sides) != 2 or not all(sides):
            raise FormatError(
                f"{merges_file.name}: line {number:,} must be two tokens and a space between them, "
                f"but is {quote(line)}; the file may be cut"
            )
        left, right = sides
        if (left, right) in line_of:
            raise FormatError(
                f"{merges_file.name}: line {number:,}: a merge must stand once, but {quote(line)} is on line "
                f"{line_of[left, right]:,} too"
            )
        for text in (left, right, left + right):
            if text not in vocab:
                raise FormatError(
                    f"{merges_file.name}: line {number:,}: {quote(text)} must be in {vocab_file.name}, but is not; "
                    "one of the files may be cut, or they belong to different tokenizers"
                )
        line_of[left, right] = number
        made.add(left + right)
        merges.append((vocab[left], vocab[right], vocab[left + right]))

    for char in BYTE_OF_CHAR:
        if char not in vocab:
            raise FormatError(
                f"{vocab_file.name} must hold all 256 characters of the byte alphabet, but {char!r} is missing; "
                "the file may be cut or of another kind"
            )
    ordinary = {text: token for text, token in vocab.items() if text in made or text in BYTE_OF_CHAR}
    added = [AddedToken(text, token) for text, token in vocab.items() if text not in ordinary]
    if any(not token.text for token in added):
        raise FormatError(f"{vocab_file.name}: a token must not be empty, but the one of id {vocab['']:,} is")
    return ImportedTokenizer(
        name=vocab_file.name,
        vocab=ordinary,
        merges=tuple(merges),
        byte_level=True,
        steps=(partial(pre_tokens_of, pattern=split or "gpt2"),),
        added=tuple(added),
    )


def library(files: Files) -> Callable[[str, bool], list[int]]:
    """Return what `tokenizers` makes of the files, put together as its documentation does for GPT-2."""
    tokenizers = huggingface.import_tokenizers()
    vocab = json.loads(files["vocab"].data)
    lines = files["merges"].data.decode().split("\n")[1:-1]
    merges = [(left, right) for left, right in (line.split(" ") for line in lines)]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = {left + right for left, right in merges} | BYTE_OF_CHAR.keys()
    tokenizer.add_special_tokens([text for text in vocab if text not in made])
    return huggingface.library_encode(tokenizer)
