"""Files and pasted text -> text to work on, with a sentence wherever something had to be decided.

`decode_text` goes from the bytes of a file to text: known file formats are recognised by content and
refused, a byte order mark is believed, UTF-16 without one is detected, and all else must be UTF-8 or the
encoding that the reader names. Nothing is ever replaced or dropped without a notice, and no encoding is
guessed behind the reader's back: `encoding_candidates` lists what would do, best first, so that a caller can
ask. `clean_text` does the same for text that is already a `str`; `parse_word_counts` reads word tables.

Left out: markup (HTML stays HTML), Unicode normalization, and splitting into documents. samples.py holds the
corpora that ship with the project; pretokenize.py is what happens to the text next.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
import zipfile
from collections import Counter
from dataclasses import dataclass

from bpe.errors import CorpusError

__all__ = ["DecodedText", "clean_text", "decode_text", "encoding_candidates", "parse_word_counts"]

MAX_COUNT = 10**12
"""Largest count of one word in a table: sums over a table must stay within int64."""

BOM = "\ufeff"
BOM_NOTICE = "A byte order mark (U+FEFF) at the start was dropped: it marks the encoding and is not text."

# UTF-32 before UTF-16: the little-endian mark of UTF-32 begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)

# These decoders drop the mark themselves.
MARK_EATERS = frozenset({"utf-8-sig", "utf-16", "utf-32"})

COMPRESSED = "is compressed ({}): unpack it first"
DOCUMENT = "is a {} document: save or export it as plain text first"
MEDIA = "is {}, not text"

# Offset, bytes, sentence. All hold bytes that no text in UTF-8 starts with, or a word too odd to be prose.
SIGNATURES = (
    (0, b"\x1f\x8b", COMPRESSED.format("gzip")),
    (4, b"1AY&SY", COMPRESSED.format("bzip2")),
    (0, b"\xfd7zXZ\x00", COMPRESSED.format("xz")),
    (0, b"\x28\xb5\x2f\xfd", COMPRESSED.format("zstd")),
    (0, b"\x04\x22\x4d\x18", COMPRESSED.format("lz4")),
    (0, b"7z\xbc\xaf\x27\x1c", COMPRESSED.format("7-Zip")),
    (0, b"Rar!\x1a\x07", COMPRESSED.format("RAR")),
    (257, b"ustar", "is a tar archive: unpack it first"),
    (0, b"%PDF-", DOCUMENT.format("PDF")),
    (0, b"{\\rtf", DOCUMENT.format("rich text (RTF)")),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", DOCUMENT.format("Microsoft Office (97-2003)")),
    (0, b"\x89PNG\r\n\x1a\n", MEDIA.format("a PNG image")),
    (0, b"\xff\xd8\xff", MEDIA.format("a JPEG image")),
    (0, b"GIF87a", MEDIA.format("a GIF image")),
    (0, b"GIF89a", MEDIA.format("a GIF image")),
    (8, b"WEBPVP8", MEDIA.format("a WebP image")),
    (8, b"WAVEfmt", MEDIA.format("a sound file")),
    (0, b"ID3\x03\x00", MEDIA.format("a sound file")),
    (0, b"ID3\x04\x00", MEDIA.format("a sound file")),
    (0, b"OggS\x00", MEDIA.format("an Ogg sound or video file")),
    (4, b"ftypmp4", MEDIA.format("a video file")),
    (4, b"ftypisom", MEDIA.format("a video file")),
    (0, b"SQLite format 3\x00", MEDIA.format("an SQLite database")),
    (0, b"\x7fELF", MEDIA.format("a program (ELF)")),
    (0, b"MZ\x90\x00", MEDIA.format("a Windows program")),
    (0, b"PAR1\x15", MEDIA.format("a Parquet table")),
    (0, b"ARROW1\x00\x00", MEDIA.format("an Arrow table")),
    (0, b"\x93NUMPY", MEDIA.format("a NumPy array")),
    (0, b"\x80\x04\x95", MEDIA.format("a Python pickle")),
    (0, b"GGUF\x03\x00", MEDIA.format("a model file (GGUF)")),
)

# A part that only this kind of document has in its zip archive.
ZIP_DOCUMENTS = (
    ("word/", DOCUMENT.format("Word")),
    ("xl/", "is an Excel workbook: export the sheet as text first"),
    ("ppt/", DOCUMENT.format("PowerPoint")),
    ("META-INF/container.xml", "is an EPUB book: convert it to plain text first"),
    ("content.xml", DOCUMENT.format("LibreOffice")),
)

# Asked in this order: where two fit equally well, the stricter encoding is the likelier one.
LEGACY_ENCODINGS = (
    "shift_jis",
    "euc_kr",
    "euc_jp",
    "big5",
    "gb18030",
    "cp1252",
    "cp1251",
    "koi8-r",
    "cp1250",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp874",
    "cp437",
    "utf-16-le",
    "utf-16-be",
)

SAMPLE_BYTES = 1 << 14
"""How much of a file is looked at to judge an encoding; decoding itself always checks every byte."""


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
    kind = _kind_of_binary(data)
    if kind is not None:
        raise CorpusError(f"{name} {kind}")

    notices = []
    if encoding is None:
        chosen, reason = _detect(data)
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


def encoding_candidates(data: bytes) -> tuple[str, ...]:
    """Return the encodings that decode all of `data`, the likeliest first: a choice to offer, not an answer.

    None for what `decode_text` refuses in every encoding: an empty file, an archive, a picture, a document.

    UTF-8 comes first if it fits. The order rests on what letters stand beside each other (a Latin letter
    beside a Greek one, a capital after a small letter, and symbols inside words speak against an encoding).

    >>> encoding_candidates("Größe".encode("cp1252"))[0]
    'cp1252'
    >>> encoding_candidates("日本語の文".encode("shift_jis"))[0]
    'shift_jis'
    """
    if not data or _kind_of_binary(data):
        return ()
    if _decodes(data, "utf-8"):
        return ("utf-8",)
    scored = []
    for encoding in LEGACY_ENCODINGS:
        if encoding.startswith("utf-16") and not _may_be_utf16(data):
            continue
        if _decodes(data, encoding):
            score = _oddness(data[:SAMPLE_BYTES].decode(encoding, "ignore"))
            if encoding.startswith("utf-16") and b"\x00" not in data:
                score = max(score, 0.3)  # possible for Chinese, but any two bytes make some such character
            scored.append((score, encoding))
    # Python sorts stably: equal scores stay in the order of LEGACY_ENCODINGS.
    return tuple(encoding for score, encoding in sorted(scored, key=lambda pair: pair[0]) if score < 0.5)


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


# --- recognising what is not text ---------------------------------------------------------------------


def _kind_of_binary(data: bytes) -> str | None:
    """Return the end of a sentence that says what the file is, or None if it may be text."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _kind_of_zip(data)
    for offset, signature, sentence in SIGNATURES:
        if data.startswith(signature, offset):
            return sentence
    return None


def _kind_of_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        names = []  # cut or of a kind that the library does not know: still a zip archive
    for part, sentence in ZIP_DOCUMENTS:
        if any(name.startswith(part) for name in names):
            return sentence
    return "is a zip archive: unpack it first"


# --- encodings ----------------------------------------------------------------------------------------


def _detect(data: bytes) -> tuple[str, str]:
    """Return the encoding to try, and a notice if that was more than believing a mark or UTF-8."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # FF FE 00 00 is UTF-32, or UTF-16 whose first character is NUL.
            if encoding == "utf-32-le" and not _decodes(data, encoding):
                continue
            return encoding, "" if encoding == "utf-8" else f"Read as {encoding.upper()}, by its mark."
    wide = _utf16_without_mark(data)
    if wide is not None:
        return wide, f"Read as {wide.upper()}, by the pattern of its NUL bytes: choose another if it is wrong."
    return "utf-8", ""


def _utf16_without_mark(data: bytes) -> str | None:
    """Return utf-16-le or utf-16-be if the bytes look like it, else None.

    In UTF-16 one byte of every two says which block of 256 a character is from. A text in an alphabet is
    from one block below U+2000 and from the first (spaces, digits, line ends), so NUL and one more byte make
    up nearly all of that side, and the other side has few NULs. A text in UTF-8 that holds NULs has no such
    side. Scripts of many blocks (Chinese) are told by the second rule: not UTF-8, but plausible in UTF-16.
    """
    if len(data) % 2 or b"\x00" not in data:
        return None
    head = data[:SAMPLE_BYTES]
    sides = {"utf-16-be": Counter(head[0::2]), "utf-16-le": Counter(head[1::2])}
    encoding = max(sides, key=lambda name: sides[name][0])
    blocks = sides.pop(encoding)
    (others,) = sides.values()
    in_alphabet = blocks[0] + max(blocks[block] for block in range(1, 0x20))
    if in_alphabet >= 0.9 * blocks.total() and others[0] < 0.25 * blocks[0] and _decodes(data, encoding):
        return encoding

    if not _decodes(data, "utf-8"):
        fitting = [name for name in ("utf-16-le", "utf-16-be") if _decodes(data, name)]
        scores = {name: _oddness(head.decode(name, "ignore")) for name in fitting}
        best = min(scores, key=lambda name: scores[name], default=None)
        if best is not None and scores[best] < 0.02:
            return best
    return None


def _canonical_name(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise CorpusError(_unknown_encoding(encoding)) from error


def _unknown_encoding(encoding: str) -> str:
    return f"encoding must be a text encoding of Python, such as utf-8 or cp1252, but is {encoding!r}"


def _may_be_utf16(data: bytes) -> bool:
    """Nearly any two bytes make a Chinese character: ask for a NUL, or for fewer spaces than between words."""
    head = data[:SAMPLE_BYTES]
    return b"\x00" in head or head.count(b" ") + head.count(b"\n") < 0.04 * len(head)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeError:
        return False
    return True


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


def _oddness(text: str) -> float:
    """Return how unlike writing a text looks, per character beyond ASCII: 0 is fine, 1 is noise.

    Hand-made, to put encodings in order; see the tests for the languages it is known to sort.
    """
    odd = 0.0
    num_wide = 0
    before = " "
    for char in text:
        if char >= "\x80":
            num_wide += 1
        if not (char < "\x80" and before < "\x80"):
            odd += _odd_pair(before, char)
        elif char < " " and char not in "\t\n\r\f":
            odd += 1
        before = char
    return odd / max(num_wide, 1)


def _odd_pair(before: str, char: str) -> float:
    """Return how odd it is that `char` follows `before`; at least one of the two is beyond ASCII."""
    if unicodedata.category(char) in {"Cc", "Cn", "Co", "Cs"} and char not in "\t\n\r\f":
        return 1.0
    if not (before.isalpha() and char.isalpha()):
        # A symbol or a foreign digit at a letter, as in most mojibake. Quotes and dashes are fine.
        pair = before + char
        in_word = before.isalpha() or char.isalpha()
        return 0.6 if in_word and any(_is_symbol(one) for one in pair) else 0.0
    if _script(before) != _script(char):
        return 1.0
    if before.islower() and char.isupper():
        return 0.8
    # Accented Latin letters seldom touch; they do all the time where Cyrillic is read as Latin.
    both_accented = before >= "\x80" and char >= "\x80" and _script(char) == "LATIN"
    return 0.5 if both_accented else 0.0


def _is_symbol(char: str) -> bool:
    return char >= "\x80" and unicodedata.category(char) in {"So", "Sc", "Sm", "Sk", "No", "Nd"}


def _script(char: str) -> str:
    """Return a name for the script of a letter: the first word of its Unicode name."""
    script = unicodedata.name(char, "?").split(" ", 1)[0].split("-", 1)[0]
    # Chinese and Japanese writing mixes these; half-width letters are Katakana of another width.
    return "CJK" if script in {"CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "FULLWIDTH"} else script


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
