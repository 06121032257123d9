"""The sample corpora that ship with the project: texts, word tables, and one text in many languages.

`sample_corpora/index.json` names each with its source, licence, size and hash; sample_corpora/README.md tells
where they come from and how to make them again. This module only reads them, and checks every hash: a file
that an editor or a version control system has altered would quietly give other token counts.

What a reader brings along is decoded by corpus.py.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import lzma
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bpe.corpus import parse_word_counts
from bpe.errors import CorpusError, UnavailableError

__all__ = [
    "Language",
    "Sample",
    "list_samples",
    "load_sample",
    "load_udhr",
    "load_word_counts",
    "udhr_languages",
]

FOLDER = Path(__file__).resolve().parents[1] / "sample_corpora"
UDHR_PREFIX = "udhr-"


@dataclass(frozen=True)
class Sample:
    """What the index says of one sample corpus.

    language       BCP 47 tag; `mul` for several languages, `zxx` where the text is in none
    script         ISO 15924 code
    kind           `text`, `words` (a table of word and count) or `parallel` (one text in many languages)
    num_bytes      size of the text in UTF-8, uncompressed; sha256 is the hash of these bytes
    file           below sample_corpora/
    """

    name: str
    title: str
    language: str
    language_name: str
    script: str
    kind: str
    source: str
    licence: str
    num_bytes: int
    sha256: str
    file: str


@dataclass(frozen=True)
class Language:
    """One language of the parallel text: ISO 639-3 code (`cmn` with its script), BCP 47 tag, name, script."""

    code: str
    tag: str
    name: str
    script: str


@lru_cache(maxsize=1)
def _samples() -> dict[str, Sample]:
    path = FOLDER / "index.json"
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnavailableError(
            f"the sample corpora must stand in {FOLDER}, but their index cannot be read ({error.strerror}): "
            "run from a full copy of the repository"
        ) from error
    return {record["name"]: Sample(**record) for record in records}


def list_samples() -> tuple[Sample, ...]:
    """Return every sample corpus, sorted by name.

    >>> [sample.name for sample in list_samples() if sample.kind == "words"]
    ['hug-pug', 'low-look', 'lowest']
    """
    return tuple(_samples().values())


def _find(name: str, what: str, known: dict[str, Sample]) -> Sample:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    raise CorpusError(f"{what} goes by the name {name!r}: {hint}")


@lru_cache(maxsize=128)
def _read(name: str) -> str:
    sample = _samples()[name]
    path = FOLDER / sample.file
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnavailableError(
            f"sample {name!r} must stand in {path}, but cannot be read ({error.strerror}): "
            "restore the file from the repository"
        ) from error
    if path.suffix == ".xz":
        try:
            data = lzma.decompress(data)
        except lzma.LZMAError as error:
            raise CorpusError(f"sample {name!r} is damaged ({error}): restore {sample.file}") from error
    if hashlib.sha256(data).hexdigest() != sample.sha256:
        raise CorpusError(
            f"sample {name!r} must have the sha256 that its index gives ({sample.sha256[:12]}...), "
            f"but the file was changed: restore {sample.file} from the repository"
        )
    return data.decode("utf-8")


def load_sample(name: str) -> str:
    """Return the text of a sample corpus; a parallel one with its paragraphs and articles on lines.

    Raises: CorpusError for an unknown name, with near matches; for a word table; for an altered file.

    >>> load_sample("kjv-genesis").splitlines()[2]
    'In the beginning God created the heaven and the earth.'
    """
    sample = _find(name, "no sample corpus", _samples())
    if sample.kind == "words":
        raise CorpusError(f"{name!r} is a table of words and counts: read it with load_word_counts")
    if sample.kind == "parallel":
        return "\n".join(load_udhr(name.removeprefix(UDHR_PREFIX)))
    return _read(name)


def load_word_counts(name: str) -> dict[str, int]:
    """Return a sample word table as word -> count, in the order of the table.

    >>> load_word_counts("lowest")
    {'low': 5, 'lower': 2, 'newest': 6, 'widest': 3}
    """
    tables = {sample.name: sample for sample in list_samples() if sample.kind == "words"}
    return parse_word_counts(_read(_find(name, "no word table", tables).name))


@lru_cache(maxsize=1)
def udhr_languages() -> tuple[Language, ...]:
    """Return the languages of the Universal Declaration of Human Rights, sorted by code.

    >>> [language.name for language in udhr_languages() if language.script == "Ethi"]
    ['Amharic', 'Tigrinya']
    """
    return tuple(
        Language(
            code=sample.name.removeprefix(UDHR_PREFIX),
            tag=sample.language,
            name=sample.language_name,
            script=sample.script,
        )
        for sample in list_samples()
        if sample.kind == "parallel"
    )


def load_udhr(code: str) -> tuple[str, ...]:
    """Return the thirty articles of the declaration in one language; paragraphs are separated by a newline.

    Raises: CorpusError for an unknown code, with near matches.

    >>> load_udhr("eng")[2]
    'Everyone has the right to life, liberty and the security of person.'
    """
    known = {sample.name.removeprefix(UDHR_PREFIX): sample for sample in list_samples() if sample.kind == "parallel"}
    sample = _find(code, "no language of the declaration", known)
    return tuple(line.replace("\t", "\n") for line in _read(sample.name).split("\n")[:-1])
