"""Scanners: where the pre-token that starts at a byte ends, for the patterns GPT-2, cl100k, Llama 3 and o200k.

The text is valid UTF-8, and its buffer ends in at least 80 zero bytes, which scanners may read. The twin is
`bpe.pretokenize.split`. Each scanner follows its pattern's alternatives in order; the pattern is written out
above it. Classes of characters come from a table with one byte a code point (bpe/kernels/classes.py).
"""

from __future__ import annotations

import numpy as np

from bpe.kernels.source.declare import Byte, Bytes, UInt, helper
from bpe.kernels.source.intrinsics import load_bytes, trailing_zeros

__all__ = [
    "BLANK",
    "CL100K",
    "GPT2",
    "LETTER",
    "LLAMA3",
    "MARK",
    "NUMBER",
    "O200K",
    "OTHER",
    "QUOTE",
    "SLASH",
    "SPACE",
    "UNCASED",
    "UPPER",
    "char_class",
    "contraction_length",
    "lower_contraction_length",
    "pre_token_end",
]

# Patterns, as drivers name them.
GPT2 = 0
CL100K = 1
LLAMA3 = 2
O200K = 3

# Classes. A table for o200k tells letters apart; in the other one all letters are LETTER and marks are OTHER.
OTHER = 0
LETTER = 1
NUMBER = 2
SPACE = 3
NEWLINE = 4  # carriage return, line feed
BLANK = 5  # U+0020
UPPER = 6  # o200k: upper or title case; LETTER is then lower case
UNCASED = 7  # o200k: modifier or other letter
MARK = 8  # o200k: combining mark

QUOTE = 39
SLASH = 47

# Letters of the contractions.
_D_, _E_, _L_, _M_, _R_, _S_, _T_, _V_ = map(ord, "delmrstv")

_U = np.uint64
_TOP_BITS = _U(0x8080808080808080)
_LOW_BITS = _U(0x7F7F7F7F7F7F7F7F)
# Added to 8 bytes at once, these carry into the top bit of each byte that is at least 'a', or above 'z'.
_FOLD_CASE = _U(0x2020202020202020)
_FROM_LOWER_A = _U(0x1F1F1F1F1F1F1F1F)
_ABOVE_LOWER_Z = _U(0x0505050505050505)
_FROM_UPPER_A = _U(0x3F3F3F3F3F3F3F3F)
_ABOVE_UPPER_Z = _U(0x2525252525252525)
_NO_FOLD = _U(0)


@helper
def char_class(buf: Bytes, at: int, classes: Bytes) -> int:
    """Return class << 3 | number of bytes of the character at `at`."""
    first = np.int64(buf[at])
    if first < 0x80:
        return (np.int64(classes[first]) << 3) | 1
    second = np.int64(buf[at + 1]) & 0x3F
    if first < 0xE0:
        return (np.int64(classes[((first & 0x1F) << 6) | second]) << 3) | 2
    third = np.int64(buf[at + 2]) & 0x3F
    if first < 0xF0:
        return (np.int64(classes[((first & 0x0F) << 12) | (second << 6) | third]) << 3) | 3
    fourth = np.int64(buf[at + 3]) & 0x3F
    return (np.int64(classes[((first & 0x07) << 18) | (second << 12) | (third << 6) | fourth]) << 3) | 4


@helper
def run_end(buf: Bytes, at: int, end: int, classes: Bytes, wanted: int) -> int:
    """Return where the run of characters of one class ends."""
    while at < end:
        found = char_class(buf, at, classes)
        if (found >> 3) != wanted:
            return at
        at += found & 7
    return at


@helper
def ascii_run_end(buf: Bytes, at: int, fold: UInt, from_first: UInt, above_last: UInt) -> int:
    """Return where a run of ASCII letters ends, 8 bytes a step: 2.5 times a loop over bytes on English text."""
    while True:
        window = load_bytes(buf, at)
        folded = (window | fold) & _LOW_BITS
        outside = (window | ~(folded + from_first) | (folded + above_last)) & _TOP_BITS
        if outside != _U(0):
            return at + (trailing_zeros(outside) >> 3)
        at += 8


@helper
def letters_end(buf: Bytes, at: int, end: int, classes: Bytes) -> int:
    """Return where the run of letters that goes on at `at` ends."""
    at = ascii_run_end(buf, at, _FOLD_CASE, _FROM_LOWER_A, _ABOVE_LOWER_Z)
    if at >= end:
        return end
    if buf[at] < 0x80:
        return at
    return run_end(buf, at, end, classes, LETTER)


@helper
def contraction_length(buf: Bytes, at: int) -> int:
    """Return the length of 's 't 're 've 'm 'll 'd in any case, the quote being at `at`; 0 if none is there.

    U+017F, the long s, is an s in any case.
    """
    first = buf[at + 1]
    if first < 0x80:
        first |= Byte(32)
        if first == _S_ or first == _D_ or first == _M_ or first == _T_:
            return 2
        second = buf[at + 2]
        if second < 0x80:
            second |= Byte(32)
            if (first == _L_ and second == _L_) or (first == _V_ and second == _E_) or (first == _R_ and second == _E_):
                return 3
    elif first == 0xC5 and buf[at + 2] == 0xBF:
        return 3
    return 0


@helper
def lower_contraction_length(buf: Bytes, at: int, end: int) -> int:
    """Return the length of a contraction in lower case that ends by `end`; 0 if none is there."""
    if at + 1 >= end:
        return 0
    first = buf[at + 1]
    if first == _S_ or first == _D_ or first == _M_ or first == _T_:
        return 2
    if at + 2 >= end:
        return 0
    second = buf[at + 2]
    if (first == _L_ and second == _L_) or (first == _V_ and second == _E_) or (first == _R_ and second == _E_):
        return 3
    return 0


# '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
@helper
def gpt2_end(buf: Bytes, at: int, end: int, classes: Bytes) -> int:
    """Return where the GPT-2 pre-token that starts at `at` ends."""
    found = char_class(buf, at, classes)
    here = found >> 3
    after = at + (found & 7)
    if here == LETTER:
        return letters_end(buf, after, end, classes)
    if buf[at] == QUOTE:
        length = lower_contraction_length(buf, at, end)
        if length > 0:
            return at + length
    if here == BLANK and after < end:
        following = char_class(buf, after, classes) >> 3
        if following == LETTER:
            return letters_end(buf, after, end, classes)
        if following <= NUMBER:
            return run_end(buf, after, end, classes, following)
    if here <= NUMBER:
        return run_end(buf, after, end, classes, here)
    # White space: all of it, but the last character is left to what follows.
    last = at
    while after < end:
        found = char_class(buf, after, classes)
        if (found >> 3) <= NUMBER:
            return last if last > at else after
        last = after
        after += found & 7
    return after


@helper
def rest_end(buf: Bytes, at: int, end: int, classes: Bytes, pattern: int) -> int:
    """Return where a pre-token of numbers, punctuation or white space ends, in the later three patterns."""
    found = char_class(buf, at, classes)
    here = found >> 3
    after = at + (found & 7)
    if here == NUMBER:
        num_digits = 1
        while num_digits < 3 and after < end:
            found = char_class(buf, after, classes)
            if (found >> 3) != NUMBER:
                break
            after += found & 7
            num_digits += 1
        return after
    if here == BLANK and after < end:
        found = char_class(buf, after, classes)
        following = found >> 3
        if following == OTHER or following == MARK:
            here = OTHER
            after += found & 7
    if here == OTHER or here == MARK:
        while after < end:
            found = char_class(buf, after, classes)
            following = found >> 3
            if following != OTHER and following != MARK:
                break
            after += found & 7
        while after < end and (buf[after] == 10 or buf[after] == 13 or (pattern == O200K and buf[after] == SLASH)):
            after += 1
        return after
    # White space: up to its last line end; without one, all but the last character.
    last = at
    after_newline = np.int64(-1)
    if here == NEWLINE:
        after_newline = after
    while after < end:
        found = char_class(buf, after, classes)
        here = found >> 3
        if here < SPACE or here > BLANK:
            if after_newline >= 0:
                return after_newline
            return last if last > at else after
        last = after
        after += found & 7
        if here == NEWLINE:
            after_newline = after
    if after_newline >= 0 and pattern != CL100K:
        return after_newline
    return after  # cl100k's \s++$ takes the white space that ends a text as one


# Llama 3:  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+
#           |\s+(?!\S)|\s+
# cl100k:   the same, but |\s++$ comes before |\s*[\r\n]
@helper
def cl100k_end(buf: Bytes, at: int, end: int, classes: Bytes, pattern: int) -> int:
    """Return where the pre-token of cl100k or Llama 3 that starts at `at` ends."""
    found = char_class(buf, at, classes)
    here = found >> 3
    after = at + (found & 7)
    if here == LETTER:
        return letters_end(buf, after, end, classes)
    if buf[at] == QUOTE and at + 1 < end:
        length = contraction_length(buf, at)
        if length > 0 and at + length <= end:
            return at + length
    if here != NUMBER and here != NEWLINE and after < end:
        found = char_class(buf, after, classes)
        if (found >> 3) == LETTER:
            return letters_end(buf, after + (found & 7), end, classes)
    return rest_end(buf, at, end, classes, pattern)


@helper
def cased_word_end(buf: Bytes, at: int, end: int, classes: Bytes, may_lack_lower: bool) -> int:
    """Return where the two classes of o200k's words end: any but lower *, any but upper +; -1 for no match.

    With `may_lack_lower`, where that does not match, + and * change places.
    """
    after = ascii_run_end(buf, at, _NO_FOLD, _FROM_UPPER_A, _ABOVE_UPPER_Z)
    if after > end:
        after = end
    after_last_uncased = np.int64(-1)
    here = np.int64(-1)
    while after < end:
        found = char_class(buf, after, classes)
        here = found >> 3
        if here < UPPER:
            break
        after += found & 7
        if here > UPPER:
            after_last_uncased = after
    if after < end and here == LETTER:
        after = ascii_run_end(buf, after, _NO_FOLD, _FROM_LOWER_A, _ABOVE_LOWER_Z)
        if after >= end:
            return end
        while after < end:
            found = char_class(buf, after, classes)
            here = found >> 3
            if here != LETTER and here < UNCASED:
                break
            after += found & 7
        return after
    if after_last_uncased >= 0:
        return after_last_uncased  # upper-case letters after it are given back: the second class needs one
    if may_lack_lower and after > at:
        return after
    return -1


# [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
# |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
# |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
@helper
def o200k_end(buf: Bytes, at: int, end: int, classes: Bytes) -> int:
    """Return where the o200k pre-token that starts at `at` ends."""
    found = char_class(buf, at, classes)
    here = found >> 3
    after = at + (found & 7)
    word_end = np.int64(-1)
    if here == LETTER or here == UPPER or here == UNCASED:
        word_end = cased_word_end(buf, at, end, classes, True)
    elif here != NUMBER and here != NEWLINE:
        following = np.int64(0)
        if after < end:
            following = char_class(buf, after, classes) >> 3
        if following == LETTER or following > BLANK:
            # A mark may be the character in front of the word or the word's own first: the first fits more often.
            word_end = cased_word_end(buf, after, end, classes, here != MARK)
        if word_end < 0 and here == MARK:
            word_end = cased_word_end(buf, at, end, classes, False)
    if word_end < 0:
        return rest_end(buf, at, end, classes, O200K)
    if word_end + 1 < end and buf[word_end] == QUOTE:
        length = contraction_length(buf, word_end)
        if length > 0 and word_end + length <= end:
            return word_end + length
    return word_end


@helper
def pre_token_end(buf: Bytes, at: int, end: int, classes: Bytes, pattern: int) -> int:
    """Return where the pre-token that starts at `at` ends."""
    if pattern == GPT2:
        return gpt2_end(buf, at, end, classes)
    if pattern == O200K:
        return o200k_end(buf, at, end, classes)
    return cl100k_end(buf, at, end, classes, pattern)
