"""Which encoding a text file is in: what its bytes say for certain, and what else it could be.

`detect` believes a byte order mark and the pattern of UTF-16, and else says UTF-8. `encoding_candidates` lists what
would do for bytes that are not UTF-8, likeliest first, by how much the letters look like writing: a choice to offer,
never an answer. Decoding and its messages are in corpus.py, what is no text at all in file_kinds.py.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

from bpe.file_kinds import kind_of_binary

__all__ = ["BYTE_ORDER_MARKS", "detect", "encoding_candidates"]

# UTF-32 before UTF-16: the little-endian mark of UTF-32 begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
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


def detect(data: bytes) -> tuple[str, str]:
    """Return the encoding to try, and a notice if that was more than believing UTF-8.

    >>> detect(b"abc"), detect(b"a\\x00b\\x00c\\x00")[0]
    (('utf-8', ''), 'utf-16-le')
    """
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
    if not data or kind_of_binary(data):
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


# --- what writing looks like ---------------------------------------------------------------------------


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
