"""Files and pasted text -> text to work on, with a sentence wherever something had to be decided.

`decode_text` goes from the bytes of a file to text: known file formats are recognised by content and
refused, a byte order mark is believed, UTF-16 without one is detected, and all else must be UTF-8 or the
encoding that the reader names. Nothing is ever replaced or dropped without a notice, and no encoding is
guessed behind the reader's back: `encoding_candidates` lists what would do, best first, so that a caller can
ask. `clean_text` does the same for text that is already a `str`; `parse_word_counts` reads word tables.

Left out: markup (HTML stays HTML), Unicode normalization, and splitting into documents. file_kinds.py knows what is
no text, encodings.py what encoding it may be in. samples.py holds the corpora that ship with the project;
pretokenize.py is what happens to the text next.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from bpe.encodings import BYTE_ORDER_MARKS, detect, encoding_candidates
from bpe.errors import CorpusError
from bpe.file_kinds import kind_of_binary

__all__ = ["DecodedText", "clean_text", "decode_text", "encoding_candidates", "parse_word_counts"]

MAX_COUNT = 10**12
"""Largest count of one word in a table: sums over a table must stay within int64."""

BOM = "\ufeff"
BOM_NOTICE = "A byte order mark (U+FEFF) at the start was dropped: it marks the encoding and is not text."

# These decoders drop the mark themselves.
MARK_EATERS = frozenset({"utf-8-sig", "utf-16", "utf-32"})


@dataclass(frozen=True)
class DecodedText:
    """A text, the encoding it was read with, and a sentence for everything that was decided on the way."""

    text: str
    encoding: str
    notices: tuple[str, ...]


def decode_text(
    data: bytes, *, encoding: str | None = None, max_bytes: int | None = None, name: str = "file"
) -> DecodedText:
    """Return the text of a file. With `encoding`, that one is used whatever the bytes look like.

    Without it: a byte order mark decides, then UTF-16 by its pattern of NUL bytes, then strict UTF-8. `name`
    is what messages call the file.

    Raises: CorpusError if the file is empty, larger than `max_bytes`, of a known format that is not text, or
        not in the encoding; the message gives the offset and value of the first bad byte, and what to do.

    >>> decode_text(b"\\xef\\xbb\\xbfna\\xc3\\xafve").text
    'naïve'
    >>> decode_text(b"caf\\xe9 noir", name="notes.txt")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bpe.errors.CorpusError: notes.txt must be UTF-8, but byte 0xE9 at offset 3 (line 1) is not.
        Choose its encoding; this file could be cp1252, ...
    """
    if max_bytes is not None and len(data) > max_bytes:
        raise CorpusError(f"{name} must have at most {max_bytes:,} bytes, but has {len(data):,}: take a part of it")
    if not data:
        raise CorpusError(f"{name} is empty (0 bytes): choose a file that holds some text")
    kind = kind_of_binary(data)
    if kind is not None:
        raise CorpusError(f"{name} {kind}")

    notices = []
    if encoding is None:
        chosen, reason = detect(data)
        if reason:
            notices.append(reason)
    else:
        chosen = _canonical_name(encoding)
    text = _decode(data, chosen, name, asked=encoding is not None)

    if text.startswith(BOM):
        text = text[1:]
        notices.append(BOM_NOTICE)
    elif chosen in MARK_EATERS and any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS):
        notices.append(BOM_NOTICE)
    # Few decoders give surrogates (unicode_escape does); no others are left to replace.
    text, more = _replace_surrogates(text)
    return DecodedText(text, chosen, (*notices, *more))


def clean_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Return text that can be written as UTF-8, and a notice for each change made to it.

    A byte order mark at the start is dropped; elsewhere it is kept. Two surrogates that belong together
    become the character they stand for, a lone one becomes U+FFFD.

    >>> clean_text("a\\ud83db")
    ('a\\ufffdb', ('1 lone surrogate was replaced by U+FFFD: U+D83D at character 2.',))
    """
    if not text.startswith(BOM):
        return _replace_surrogates(text)
    text, notices = _replace_surrogates(text[1:])
    return text, (BOM_NOTICE, *notices)


def parse_word_counts(text: str) -> dict[str, int]:
    """Return a word table as word -> count, in the order of its lines.

    A line is `word<TAB>count`; the word is everything before the last TAB, spaces included. Without a TAB,
    spaces or a comma may stand between the two. Blank lines are skipped. A word on two lines is refused
    rather than added up: most often it is a slip, and the order of the table would be in doubt.

    Raises: CorpusError with the line number.

    >>> parse_word_counts("low\\t5\\nlower  2\\nnewest, 6\\n")
    {'low': 5, 'lower': 2, 'newest': 6}
    """
    counts: dict[str, int] = {}
    line_of: dict[str, int] = {}
    # Not splitlines(): U+2028 and its like may be part of a word.
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        word, count_text = _split_line(line, number)
        if word in counts:
            raise CorpusError(
                f"line {number}: a word must stand on one line, but {word!r} is on line {line_of[word]} too: "
                "add up the counts or remove one of the lines"
            )
        counts[word] = _parse_count(count_text, word, number)
        line_of[word] = number
    if not counts:
        raise CorpusError("a word table must hold at least one line `word<TAB>count`, but this one is empty")
    return counts


# --- decoding -----------------------------------------------------------------------------------------


def _canonical_name(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise CorpusError(_unknown_encoding(encoding)) from error


def _unknown_encoding(encoding: str) -> str:
    return f"encoding must be a text encoding of Python, such as utf-8 or cp1252, but is {encoding!r}"


def _decode(data: bytes, encoding: str, name: str, *, asked: bool) -> str:
    try:
        return data.decode(encoding)
    except LookupError as error:
        # Python also knows codecs from bytes to bytes, such as "hex".
        raise CorpusError(_unknown_encoding(encoding)) from error
    except UnicodeDecodeError as error:
        raise CorpusError(_explain(data, encoding, name, error, asked=asked)) from error
    except UnicodeError as error:
        raise CorpusError(f"{name} cannot be read as {encoding}: {error}") from error


def _explain(data: bytes, encoding: str, name: str, error: UnicodeDecodeError, *, asked: bool) -> str:
    """Return the message for the first bytes that do not fit the encoding."""
    at = error.start
    place = f"byte 0x{data[at]:02X} at offset {at:,} (line {data.count(10, 0, at) + 1:,})"
    shown = encoding.upper()

    # A file cut within a character: only the last bytes are wrong, and only because more should follow.
    # A single byte could as well be the last letter of a file in another encoding, unless earlier bytes show
    # that this one is right.
    num_left = len(data) - at
    cut = "unexpected end" in error.reason or "truncated" in error.reason
    if cut and (num_left > 1 or not data[:at].isascii()):
        last = "byte" if num_left == 1 else f"{num_left} bytes"
        return (
            f"{name} is cut in the middle of a character: the last {last}, {place}, "
            f"should go on in {shown}. Get the whole file, or remove what is left of the character"
        )

    candidates = () if asked else encoding_candidates(data)
    if not asked and b"\x00" in data and not any(one.startswith("utf-16") for one in candidates):
        return (
            f"{name} must be text, but holds NUL bytes and {place} is not {shown}: it looks like binary data. "
            "If it is text, choose its encoding"
        )
    advice = "Choose another encoding" if asked else "Choose its encoding"
    if candidates:
        advice += "; this file could be " + ", ".join(candidates)
    return f"{name} must be {shown}, but {place} is not. {advice}"


# --- surrogates ---------------------------------------------------------------------------------------


def _replace_surrogates(text: str) -> tuple[str, tuple[str, ...]]:
    """Join the surrogates that belong together, replace the others by U+FFFD; and a notice if any was lone."""
    text = re.sub("[\ud800-\udbff][\udc00-\udfff]", _join_surrogates, text)
    first = re.search("[\ud800-\udfff]", text)
    if first is None:
        return text, ()
    text, num_lone = re.subn("[\ud800-\udfff]", "\ufffd", text)
    where = f"U+{ord(first[0]):04X} at character {first.start() + 1:,}"
    if num_lone == 1:
        return text, (f"1 lone surrogate was replaced by U+FFFD: {where}.",)
    return text, (f"{num_lone:,} lone surrogates were replaced by U+FFFD; the first is {where}.",)


def _join_surrogates(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


# --- word tables --------------------------------------------------------------------------------------


def _split_line(line: str, number: int) -> tuple[str, str]:
    """Return the word and the text of its count."""
    if "\t" in line:
        word, _, count_text = line.rpartition("\t")
    else:
        stripped = line.strip(" ")
        at = max(stripped.rfind(" "), stripped.rfind(","))
        if at < 0:
            raise CorpusError(f"line {number} must be `word<TAB>count`, but has no count after {stripped[:40]!r}")
        word, count_text = stripped[:at].rstrip(" "), stripped[at + 1 :]
        if stripped[at] == " " and len(word) > 1:
            word = word.removesuffix(",").rstrip(" ")
    if not word:
        raise CorpusError(f"line {number} must be `word<TAB>count`, but has no word before the count")
    return word, count_text.strip()


def _parse_count(count_text: str, word: str, number: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", count_text):
        hint = " (remove a heading line)" if number == 1 else ""
        raise CorpusError(
            f"line {number}: the count of {word!r} must be a whole number, but is {count_text[:40]!r}{hint}"
        )
    count = int(count_text)
    if not 1 <= count <= MAX_COUNT:
        raise CorpusError(f"line {number}: the count of {word!r} must be from 1 to {MAX_COUNT:,}, but is {count:,}")
    return count
