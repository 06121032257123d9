"""Scanners by bit masks: 64 bytes a step give one mask per class, and starts of pre-tokens are bit algebra on them.

For GPT-2, cl100k, Llama 3 and o200k; 4 times the scalar scanners of scan.py on mixed text, and equal to them. The text
goes in chunks of some 4,096 bytes that begin and end where a pre-token surely starts. A chunk that holds a rare
kind of character, or no such place, takes the scalar scanner instead.

In every mask, bit q of word w stands for byte 64 w + q of the chunk. `before(mask)` below means the mask moved one
byte to the right: whether the byte before belongs to the class.
"""

from __future__ import annotations

import numpy as np

from bpe.kernels.source.declare import Byte, Bytes, Int32s, UInt, UInt64s, helper
from bpe.kernels.source.intrinsics import range_mask, trailing_zeros
from bpe.kernels.source.scan import (
    BLANK,
    CL100K,
    GPT2,
    LETTER,
    MARK,
    NUMBER,
    O200K,
    OTHER,
    QUOTE,
    SLASH,
    SPACE,
    UNCASED,
    UPPER,
    char_class,
    contraction_length,
    lower_contraction_length,
    pre_token_end,
)

__all__ = ["CHUNK_BYTES", "before", "scan_chunk"]

CHUNK_BYTES = 4096

_U = np.uint64
_ONE = _U(1)
_ALL = _U(0xFFFFFFFFFFFFFFFF)
_TOP = _U(63)


@helper
def before(mask: UInt, carry: UInt) -> UInt:
    """Return the mask moved up by one byte; the carry is the last bit of the word before."""
    return (mask << _ONE) | carry


@helper
def is_set(words: UInt64s, at: int) -> bool:
    """Tell whether a bit is set."""
    return (words[at >> 6] >> _U(at & 63)) & _ONE != _U(0)


@helper
def set_bit(words: UInt64s, at: int) -> None:
    """Set a bit."""
    words[at >> 6] |= _ONE << _U(at & 63)


@helper
def clear_bit(words: UInt64s, at: int) -> None:
    """Clear a bit."""
    words[at >> 6] &= ~(_ONE << _U(at & 63))


@helper
def list_bits(words: UInt64s, num_bytes: int, starts: Int32s) -> int:
    """Write the places of the set bits, then `num_bytes`, to `starts`; return how many bits there are."""
    num_words = (num_bytes + 63) >> 6
    if num_bytes & 63:
        words[num_words - 1] &= (_ONE << _U(num_bytes & 63)) - _ONE
    found = np.int64(0)
    for w in range(num_words):
        mask = words[w]
        base = w << 6
        while mask != _U(0):
            starts[found] = base + trailing_zeros(mask)
            found += 1
            mask &= mask - _ONE
    starts[found] = num_bytes
    return found


@helper
def scan_scalar(buf: Bytes, at: int, end: int, limit: int, classes: Bytes, pattern: int, starts: Int32s) -> int:
    """List the starts of pre-tokens one by one, up to the first that begins at `limit` or later."""
    found = np.int64(0)
    here = at
    while here < limit:
        starts[found] = here - at
        found += 1
        here = pre_token_end(buf, here, end, classes, pattern)
    starts[found] = here - at
    return found


@helper
def filled_up(seed: UInt, run: UInt) -> UInt:
    """Return the bits of each run from a seed inside it upwards; the seeds are in `run`."""
    for shift in range(6):
        step = _ONE << _U(shift)
        seed |= run & (seed << step)
        run &= run << step
    return seed


@helper
def mark_last_space(words: UInt64s, w: int, space_ends: UInt, after_2: UInt, after_3: UInt) -> None:
    """Set the bits of the last characters of white space, given where it ends in word w.

    after_2, after_3   right after characters of white space that have two and three bytes
    """
    ends_2 = space_ends & after_2
    ends_3 = space_ends & after_3
    ends_1 = space_ends & ~(after_2 | after_3)
    words[w] |= (ends_1 >> _ONE) | (ends_2 >> _U(2)) | (ends_3 >> _U(3))
    if w > 0:
        words[w - 1] |= (ends_1 << _TOP) | (ends_2 << _U(62)) | (ends_3 << _U(61))


@helper
def gpt2_starts(buf: Bytes, at: int, end: int, classes: Bytes, words: UInt64s, starts: Int32s) -> int:
    """List the starts of the GPT-2 pre-tokens of a chunk.

    A pre-token starts where the class changes, except after a single blank, which goes with what follows; where
    white space begins; and at the last character of white space that something follows.
    """
    num_bytes = end - at
    num_words = (num_bytes + 63) >> 6
    letter_carry = _U(0)
    number_carry = _U(0)
    space_carry = _U(0)
    blank_carry = _U(0)
    other_carry = _U(0)
    letter_spill = _U(0)  # bytes of a character that begins in the word before
    number_spill = _U(0)
    space_spill = _U(0)
    after_2_spill = _U(0)  # right after a space of two bytes
    after_3_spill = _U(0)
    for w in range(num_words):
        p = at + (w << 6)
        blank = range_mask(buf, p, Byte(0), Byte(32), Byte(0))
        space = blank | range_mask(buf, p, Byte(0), Byte(9), Byte(4)) | space_spill
        letter = range_mask(buf, p, Byte(32), Byte(97), Byte(25)) | letter_spill
        number = range_mask(buf, p, Byte(0), Byte(48), Byte(9)) | number_spill
        lead = range_mask(buf, p, Byte(0), Byte(0xC0), Byte(0x3F))
        after_2 = after_2_spill
        after_3 = after_3_spill
        letter_spill = _U(0)
        number_spill = _U(0)
        space_spill = _U(0)
        after_2_spill = _U(0)
        after_3_spill = _U(0)
        inside = _ALL
        if (w << 6) + 64 > num_bytes:
            inside = (_ONE << _U(num_bytes & 63)) - _ONE
            lead &= inside
        while lead != _U(0):
            q = trailing_zeros(lead)
            lead &= lead - _ONE
            found = char_class(buf, p + q, classes)
            here = found >> 3
            covered = (_ONE << _U(found & 7)) - _ONE
            if here == LETTER:
                letter |= covered << _U(q)
                if q > 60:
                    letter_spill = covered >> _U(64 - q)
            elif here == NUMBER:
                number |= covered << _U(q)
                if q > 60:
                    number_spill = covered >> _U(64 - q)
            elif here != OTHER:
                space |= covered << _U(q)
                if q > 60:
                    space_spill = covered >> _U(64 - q)
                if found & 7 == 2:
                    after_2 |= (_ONE << _U(q)) << _U(2)
                    after_2_spill |= (_ONE << _U(q)) >> _U(62)
                else:
                    after_3 |= (_ONE << _U(q)) << _U(3)
                    after_3_spill |= (_ONE << _U(q)) >> _U(61)
        other = ~(letter | number | space)
        solid = ~space & inside
        changed = (
            (letter & ~before(letter, letter_carry))
            | (number & ~before(number, number_carry))
            | (other & ~before(other, other_carry))
        )
        after_space = before(space, space_carry)
        words[w] = (changed & ~before(blank, blank_carry)) | (space & ~after_space)
        mark_last_space(words, w, solid & after_space, after_2, after_3)
        letter_carry = letter >> _TOP
        number_carry = number >> _TOP
        space_carry = space >> _TOP
        blank_carry = blank >> _TOP
        other_carry = other >> _TOP
    words[0] |= _ONE
    words[num_words] = _U(0)

    # A quote that starts a pre-token may start a contraction, which then ends two or three bytes on.
    for w in range(num_words):
        quotes = range_mask(buf, at + (w << 6), Byte(0), Byte(QUOTE), Byte(0)) & words[w]
        while quotes != _U(0):
            q = (w << 6) + trailing_zeros(quotes)
            quotes &= quotes - _ONE
            if q >= num_bytes:
                break
            length = lower_contraction_length(buf, at + q, end)
            if length > 0:
                clear_bit(words, q + 1)
                set_bit(words, q + length)
    return list_bits(words, num_bytes, starts)


@helper
def is_space(class_: int) -> bool:
    """Tell whether a class is white space."""
    return class_ >= SPACE and class_ <= BLANK


@helper
def is_letter(class_: int) -> bool:
    """Tell whether a class is letters."""
    return class_ == LETTER or class_ == UPPER or class_ == UNCASED


@helper
def char_before(buf: Bytes, at: int) -> int:
    """Return where the character before `at` starts."""
    at -= 1
    while buf[at] & Byte(0xC0) == Byte(0x80):
        at -= 1
    return at


@helper
def join_last_space(buf: Bytes, at: int, num_bytes: int, classes: Bytes, words: UInt64s) -> None:
    """Make one pre-token of the white space that ends the text: \\s++$ of cl100k.

    A chunk in the middle of a text does not end in white space, so there it does nothing.
    """
    first = np.int64(-1)
    q = num_bytes
    while q > 0:
        q = char_before(buf, at + q) - at
        if q < 0 or not is_space(char_class(buf, at + q, classes) >> 3):
            break
        if is_set(words, q):
            if first >= 0:
                clear_bit(words, first)
            first = q


@helper
def cl100k_starts(buf: Bytes, at: int, end: int, classes: Bytes, pattern: int, words: UInt64s, starts: Int32s) -> int:
    """List the starts of the cl100k, Llama 3 or o200k pre-tokens of a chunk; -1 where the scalar scanner has to.

    That is where it holds numbers outside ASCII; for o200k also marks, or an upper-case letter after an uncased one.

    Beside the changes of class: one character of punctuation or white space goes with the letters after it; line
    ends go with punctuation before them; white space ends at its last line end; numbers are cut in threes.

    o200k: a word also starts where upper case follows lower case, a contraction ends the word before it, and slashes
    go with the line ends after punctuation.
    """
    num_bytes = end - at
    num_words = (num_bytes + 63) >> 6
    letter_carry = _U(0)
    number_carry = _U(0)
    space_carry = _U(0)
    blank_carry = _U(0)
    other_carry = _U(0)
    newline_carry = _U(0)
    trailing_carry = _U(0)  # line ends that go with punctuation
    lower_carry = _U(0)
    uncased_carry = _U(0)
    letter_spill = _U(0)
    lower_spill = _U(0)
    uncased_spill = _U(0)
    space_spill = _U(0)
    after_2_spill = _U(0)
    after_3_spill = _U(0)
    single_carry = _U(0)  # right after a one-character pre-token of punctuation
    inside_carry = _U(0)  # inside such a character
    pending = np.int64(-1)  # blanks after a line end, whose end lies beyond this word
    has_cases = pattern == O200K
    for w in range(num_words + 1):
        words[w] = _U(0)

    for w in range(num_words):
        p = at + (w << 6)
        inside = _ALL
        if (w << 6) + 64 > num_bytes:
            inside = (_ONE << _U(num_bytes & 63)) - _ONE
        blank = range_mask(buf, p, Byte(0), Byte(32), Byte(0)) & inside
        newline = (
            range_mask(buf, p, Byte(0), Byte(10), Byte(0)) | range_mask(buf, p, Byte(0), Byte(13), Byte(0))
        ) & inside
        space = ((blank | range_mask(buf, p, Byte(0), Byte(9), Byte(4))) & inside) | space_spill
        letter = (range_mask(buf, p, Byte(32), Byte(97), Byte(25)) & inside) | letter_spill
        lower = (range_mask(buf, p, Byte(0), Byte(97), Byte(25)) & inside) | lower_spill
        upper = range_mask(buf, p, Byte(0), Byte(65), Byte(25)) & inside  # of wide characters the first byte
        uncased = uncased_spill
        number = range_mask(buf, p, Byte(0), Byte(48), Byte(9)) & inside
        lead = range_mask(buf, p, Byte(0), Byte(0xC0), Byte(0x3F)) & inside
        follower = range_mask(buf, p, Byte(0), Byte(0x80), Byte(0x3F)) & inside
        wide = lead | follower
        after_2 = after_2_spill
        after_3 = after_3_spill
        letter_spill = _U(0)
        lower_spill = _U(0)
        uncased_spill = _U(0)
        space_spill = _U(0)
        after_2_spill = _U(0)
        after_3_spill = _U(0)
        while lead != _U(0):
            q = trailing_zeros(lead)
            lead &= lead - _ONE
            found = char_class(buf, p + q, classes)
            here = found >> 3
            covered = (_ONE << _U(found & 7)) - _ONE
            if is_letter(here):
                letter |= covered << _U(q)
                spilt = _U(0)
                if q > 60:
                    spilt = covered >> _U(64 - q)
                letter_spill |= spilt
                if here == LETTER:
                    lower |= covered << _U(q)
                    lower_spill |= spilt
                elif here == UPPER:
                    upper |= _ONE << _U(q)
                else:
                    uncased |= covered << _U(q)
                    uncased_spill |= spilt
            elif here == NUMBER or here == MARK:
                return -1
            elif here != OTHER:
                space |= covered << _U(q)
                if q > 60:
                    space_spill = covered >> _U(64 - q)
                if found & 7 == 2:
                    after_2 |= (_ONE << _U(q)) << _U(2)
                    after_2_spill |= (_ONE << _U(q)) >> _U(62)
                else:
                    after_3 |= (_ONE << _U(q)) << _U(3)
                    after_3_spill |= (_ONE << _U(q)) >> _U(61)
        other = ~(letter | number | space) & inside
        gap = space & ~newline
        after_other = before(other, other_carry)
        after_space = before(space, space_carry)
        after_newline = before(newline, newline_carry)
        after_gap = after_space & ~after_newline

        # Line ends right after punctuation: adding makes the first bit of each run ripple through it.
        trailing = _U(0)
        if has_cases:
            # Slashes too, which are punctuation themselves where no line end is before them.
            may_trail = newline | range_mask(buf, p, Byte(0), Byte(SLASH), Byte(0)) & inside
            seed = (newline & after_other) | (trailing_carry & may_trail)
            if seed != _U(0):
                trailing = filled_up(seed, may_trail)
            other &= ~trailing
            after_other = before(other, other_carry)
        else:
            seed = (newline & after_other) | (trailing_carry & newline)
            trailing = newline & ~(newline + seed)
        after_trailing = before(trailing, trailing_carry)

        # Where letters follow one character of punctuation that starts a pre-token, they belong to it.
        other_start = other & ~after_other & ~before(blank, blank_carry)
        wide_seed = before(other_start, inside_carry) & follower
        wide_rippled = follower + wide_seed
        after_single = before(other_start & ~wide, single_carry) | (wide_rippled & ~follower & ~wide_seed)
        after_single |= inside_carry & ~follower
        inside_carry = ((other_start & wide) | (follower & ~wide_rippled)) >> _TOP
        single_carry = (other_start & ~wide) >> _TOP

        found_starts = (
            other_start
            | (number & ~before(number, number_carry))
            | (letter & ~before(letter, letter_carry) & ~after_gap & ~(after_other & after_single))
            | (space & ~after_space & ~trailing)
            | (gap & after_trailing)
        )
        mark_last_space(words, w, (letter | number | other) & after_gap, after_2, after_3)
        if has_cases:
            if upper & before(uncased, uncased_carry) != _U(0):
                return -1  # whether a word starts here depends on what follows
            found_starts |= upper & before(lower, lower_carry)
            lower_carry = lower >> _TOP
            uncased_carry = uncased >> _TOP

        # Blanks after a line end are a pre-token of their own, unless another line end follows them.
        if pending >= 0:
            gap_end = trailing_zeros(~gap)
            if gap_end < 64:
                if ((newline >> _U(gap_end)) & _ONE) == _U(0):
                    set_bit(words, pending)
                pending = np.int64(-1)
        candidates = gap & after_newline & ~after_trailing
        while candidates != _U(0):
            q = trailing_zeros(candidates)
            candidates &= candidates - _ONE
            gap_end = q + trailing_zeros(~(gap >> _U(q)))
            if gap_end >= 64:
                pending = (w << 6) + q
            elif ((newline >> _U(gap_end)) & _ONE) == _U(0):
                found_starts |= _ONE << _U(q)
        words[w] |= found_starts
        letter_carry = letter >> _TOP
        number_carry = number >> _TOP
        space_carry = space >> _TOP
        blank_carry = blank >> _TOP
        other_carry = other >> _TOP
        newline_carry = newline >> _TOP
        trailing_carry = trailing >> _TOP
    if pending >= 0:
        set_bit(words, pending)
    words[0] |= _ONE

    number_carry = _U(0)
    contraction_end = np.int64(-1)
    for w in range(num_words):
        p = at + (w << 6)
        quotes = range_mask(buf, p, Byte(0), Byte(QUOTE), Byte(0)) & words[w]
        number = range_mask(buf, p, Byte(0), Byte(48), Byte(9))
        # Only numbers of two digits and more need a look.
        long_number = number & ~before(number, number_carry) & ((number >> _ONE) | (_ONE << _TOP))
        number_carry = number >> _TOP
        while quotes != _U(0):
            q = (w << 6) + trailing_zeros(quotes)
            quotes &= quotes - _ONE
            if q + 1 >= num_bytes:
                break
            length = contraction_length(buf, at + q)
            if length == 0 or q + length > num_bytes:
                continue
            if has_cases:
                # It belongs to the word before it, one to a word.
                if q == 0 or q == contraction_end:
                    continue
                if not is_letter(char_class(buf, char_before(buf, at + q), classes) >> 3):
                    continue
                clear_bit(words, q)
                clear_bit(words, q + 2)
                contraction_end = q + length
            clear_bit(words, q + 1)
            set_bit(words, q + length)
        while long_number != _U(0):
            q = (w << 6) + trailing_zeros(long_number)
            long_number &= long_number - _ONE
            num_digits = np.int64(0)
            while q < num_bytes and buf[at + q] >= 48 and buf[at + q] < 58:
                if num_digits == 3:
                    set_bit(words, q)
                    num_digits = np.int64(0)
                q += 1
                num_digits += 1
    if pattern == CL100K:
        join_last_space(buf, at, num_bytes, classes, words)
    return list_bits(words, num_bytes, starts)


@helper
def last_sure_start(buf: Bytes, at: int, limit: int, classes: Bytes) -> int:
    """Return the last place after `at`, and `limit` at most, where a pre-token surely starts; `at` for none.

    That is a space after anything but white space; or after a letter anything but a letter, a mark or a quote.
    """
    here = limit
    while buf[here] & Byte(0xC0) == Byte(0x80):
        here -= 1
    class_here = char_class(buf, here, classes) >> 3
    while here > at:
        previous = char_before(buf, here)
        if previous < at:
            break
        class_before = char_class(buf, previous, classes) >> 3
        if is_letter(class_before):
            if not is_letter(class_here) and class_here != MARK and buf[here] != QUOTE:
                return here
        elif class_here == BLANK and not is_space(class_before):
            return here
        here = previous
        class_here = class_before
    return at


@helper
def scan_chunk(buf: Bytes, at: int, end: int, classes: Bytes, pattern: int, words: UInt64s, starts: Int32s) -> int:
    """List the starts of the pre-tokens of the next chunk, relative to `at`; return how many there are.

    After the last start stands the length of the chunk. `words` has room for CHUNK_BYTES / 64 + 2 words and
    `starts` for CHUNK_BYTES + 2 places. A chunk is longer only when one pre-token is.
    """
    limit = min(at + CHUNK_BYTES, end)
    if limit < end:
        sure = last_sure_start(buf, at, limit, classes)
        if sure == at:
            return scan_scalar(buf, at, end, limit, classes, pattern, starts)
        limit = sure
    if pattern == GPT2:
        return gpt2_starts(buf, at, limit, classes, words, starts)
    found = cl100k_starts(buf, at, limit, classes, pattern, words, starts)
    if found < 0:
        return scan_scalar(buf, at, limit, limit, classes, pattern, starts)
    return found
