"""Tokenizer files: write one, recognise one, read one.

    format            files                              keeps
    bpe-json          tokenizer.bpe.json                 everything
    tiktoken          tokenizer.tiktoken + its .json     byte-level BPE whose ids are in rank order
    tokenizer-json    tokenizer.json (Hugging Face)      all but the separate end-of-word mark; WordPiece, Unigram
    vocab-merges      vocab.json + merges.txt            byte-level BPE with the split pattern of GPT-2
    minbpe            tokenizer.model                    byte-level BPE with ids in order
    sentencepiece     spiece.model, tokenizer.model      read only: Unigram and BPE, run by `sentencepiece`
    vocab-txt         vocab.txt                          read only: WordPiece of BERT, run by `tokenizers`

`save_tokenizer` returns contents, and only after the format's own library gave the same ids for them (verify.py).
`load_tokenizer` recognises files by what they hold (recognise.py). Writing to disk is left to the caller.

Start with bpe_json.py, the shortest. To add a format: a module with `write`, `read` and `library`, a line in
`FORMATS` below, and its parts in recognise.py. One that is only read needs `read` and a line in `READABLE_FORMATS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bpe.errors import FormatError, SettingsError
from bpe.formats import bpe_json, huggingface, minbpe, rank_files, sentencepiece_model, vocab_merges, vocab_txt
from bpe.formats.reading import check_size
from bpe.formats.recognise import Files, FormatName, format_of, recognise_files
from bpe.formats.verify import PROBE_TEXT, LibraryEncode, check_equal_ids
from bpe.tokenizer import TokenizerLike

__all__ = [
    "FORMATS",
    "PROBE_TEXT",
    "READABLE_FORMATS",
    "FileFormat",
    "FormatName",
    "ReadableFormat",
    "load_tokenizer",
    "needs_split",
    "recognise_format",
    "save_tokenizer",
    "verify_export",
]


@dataclass(frozen=True)
class ReadableFormat:
    """A way in which tokenizers are written down, here or elsewhere.

    title       how a reader knows it;  keeps: what it can hold, in a few words
    file_name   usual name of its (first) file
    owner       the program whose ids decide
    """

    name: FormatName
    title: str
    keeps: str
    file_name: str
    owner: str
    read: Callable[[Files, str | None], TokenizerLike]


@dataclass(frozen=True)
class FileFormat(ReadableFormat):
    """A way to write a tokenizer down; `library` is how its owner reads it, for the check."""

    write: Callable[[TokenizerLike, str], dict[str, bytes]]
    library: Callable[[Files], LibraryEncode | None]


FORMATS: Mapping[str, FileFormat] = MappingProxyType(
    {
        format.name: format
        for format in (
            FileFormat(
                name="bpe-json",
                title="bpe JSON",
                keeps="everything: characters or bytes, end-of-word marks, any split pattern",
                file_name="tokenizer.bpe.json",
                owner="this package",
                write=bpe_json.write,
                read=bpe_json.read,
                library=bpe_json.library,
            ),
            FileFormat(
                name="tiktoken",
                title="tiktoken ranks",
                keeps="bytes only; split pattern and special tokens in a second file",
                file_name="tokenizer.tiktoken",
                owner="tiktoken",
                write=rank_files.write,
                read=rank_files.read,
                library=rank_files.library,
            ),
            FileFormat(
                name="tokenizer-json",
                title="Hugging Face tokenizer.json",
                keeps="bytes or characters, any split pattern, attached end-of-word marks; WordPiece and Unigram",
                file_name="tokenizer.json",
                owner="tokenizers",
                write=huggingface.write,
                read=huggingface.read,
                library=huggingface.library,
            ),
            FileFormat(
                name="vocab-merges",
                title="GPT-2 vocab.json + merges.txt",
                keeps="bytes with the split pattern of GPT-2",
                file_name="vocab.json",
                owner="tokenizers",
                write=vocab_merges.write,
                read=vocab_merges.read,
                library=vocab_merges.library,
            ),
            FileFormat(
                name="minbpe",
                title="minbpe model",
                keeps="bytes, a split pattern of one line",
                file_name="tokenizer.model",
                owner="minbpe",
                write=minbpe.write,
                read=minbpe.read,
                library=minbpe.library,
            ),
        )
    }
)
"""Format name -> what it is: the formats that are written as well as read."""

READABLE_FORMATS: Mapping[str, ReadableFormat] = MappingProxyType(
    {
        **FORMATS,
        "sentencepiece": ReadableFormat(
            name="sentencepiece",
            title="SentencePiece model",
            keeps="Unigram and BPE over characters, with its normalization",
            file_name="spiece.model",
            owner="sentencepiece",
            read=sentencepiece_model.read,
        ),
        "vocab-txt": ReadableFormat(
            name="vocab-txt",
            title="BERT vocab.txt",
            keeps="WordPiece; text is lower-cased if no token has an upper-case letter",
            file_name="vocab.txt",
            owner="tokenizers",
            read=vocab_txt.read,
        ),
    }
)
"""Format name -> what it is: all that `load_tokenizer` reads."""


def save_tokenizer(tokenizer: TokenizerLike, format: str = "bpe-json", *, name: str | None = None) -> dict[str, bytes]:
    """Return the files of a tokenizer, name to content, after checking that they give the same ids.

    `name` is the name of the first file; a second one is named after it.

    Raises:
        FormatError: what the format cannot hold.
        SettingsError: no format goes by this name.
        UnavailableError: the library to check with is not installed.

    >>> from bpe import TrainSettings, train
    >>> tokenizer = train("aaabdaaabac", TrainSettings(split="none", num_merges=3)).tokenizer
    >>> print(save_tokenizer(tokenizer, "minbpe")["tokenizer.model"].decode())
    minbpe v1
    <BLANKLINE>
    0
    97 97
    256 97
    257 98
    <BLANKLINE>
    """
    file_format = _find(format)
    files = file_format.write(tokenizer, name or file_format.file_name)
    verify_export(tokenizer, files, format)
    return files


def verify_export(
    tokenizer: TokenizerLike, files: Mapping[str, bytes], format: str, probe_text: str = PROBE_TEXT
) -> None:
    """Read an export back, with the format's own library and with this package, and demand equal ids from both.

    Raises:
        FormatError: the files are of another format, or the first text where ids differ.
    """
    file_format = _find(format)
    parts = recognise_files(files)
    found = format_of(parts)
    if found != format:
        raise FormatError(f"the files must be {format}, but are {found}")
    library = file_format.library(parts)
    if library is not None:
        check_equal_ids(tokenizer, library, file_format.owner, probe_text)
    again = file_format.read(parts, None)
    check_equal_ids(tokenizer, _as_library(again), f"reading {file_format.title} back", probe_text)


def load_tokenizer(
    source: str | os.PathLike[str] | bytes | Mapping[str, bytes], *, split: str | None = None
) -> TokenizerLike:
    """Return the tokenizer of a file: a path, its bytes, or several files as name -> bytes.

    For a path, the second file of a format is looked for beside it. `split` is the split pattern, for a rank
    file that comes without one. A tokenizer.json is compared with the `tokenizers` library, if installed.
    A vocab.txt does not say whether text is lower-cased: it is, if no token has an upper-case letter.

    Raises:
        FormatError: what is wrong, with the file and the line or key.
        UnavailableError: the file needs a library that is not installed.
        OSError: the file cannot be read.

    >>> from bpe import TrainSettings, train
    >>> trained = train("low low lower", TrainSettings(num_merges=4)).tokenizer
    >>> load_tokenizer(save_tokenizer(trained, "tokenizer-json")).encode("lower") == trained.encode("lower")
    True
    """
    files = _gather(source)
    parts = recognise_files(files)
    format = format_of(parts)
    tokenizer = READABLE_FORMATS[format].read(parts, split)
    if format == "tokenizer-json" and _is_installed("tokenizers"):
        library = FORMATS[format].library(parts)
        assert library is not None
        try:
            check_equal_ids(tokenizer, library, "tokenizers")
        except FormatError as error:
            names = " and ".join(files)
            raise FormatError(f"{names} cannot be replayed exactly here, so it is not read: {error}") from None
    return tokenizer


def recognise_format(source: bytes | Mapping[str, bytes]) -> FormatName:
    """Return the name of the format that a file, or several together, is in.

    Raises:
        FormatError: none of the formats, or one file of two.

    >>> recognise_format(b"minbpe v1\\n\\n0\\n97 97\\n")
    'minbpe'
    """
    return format_of(recognise_files({"the file": source} if isinstance(source, bytes) else source))


def needs_split(files: Mapping[str, bytes]) -> bool:
    """Tell whether these files are a rank file alone, of a table nobody knows: then its split pattern must be said.

    `rank_files.settings_file` makes the file that says it.

    Raises:
        FormatError: a file is of no kind that is read here.
    """
    parts = recognise_files(files)
    return set(parts) == {"ranks"} and not rank_files.is_published(parts["ranks"].data)


def _find(format: str) -> FileFormat:
    if format not in FORMATS:
        raise SettingsError(f"format must be one of {', '.join(FORMATS)}, but is {format!r}")
    return FORMATS[format]


def _as_library(tokenizer: TokenizerLike) -> LibraryEncode:
    def encode(text: str, special: bool) -> list[int]:
        return tokenizer.encode(text, special="special" if special else "text")

    return encode


def _is_installed(package: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(package) is not None


def _gather(source: str | os.PathLike[str] | bytes | Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return name -> bytes; beside a path, the second file of its format where there is one."""
    if isinstance(source, bytes):
        return {"the file": source}
    if isinstance(source, Mapping):
        return source
    path = Path(source)
    files = {path.name: _read(path)}
    if path.name.endswith("merges.txt"):
        beside = path.with_name(vocab_merges.vocab_name(path.name))
    elif path.name.endswith("vocab.json"):
        beside = path.with_name(vocab_merges.merges_name(path.name))
    else:
        beside = path.with_name(rank_files.settings_name(path.name))
    if beside.is_file():
        second = {beside.name: _read(beside)}
        # A neighbour of that name may have nothing to do with this file.
        try:
            format_of(recognise_files(files | second))
        except FormatError:
            return files
        return files | second
    return files


def _read(path: Path) -> bytes:
    check_size(path.stat().st_size, path.name)
    return path.read_bytes()
