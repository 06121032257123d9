"""Digits in groups of three, each with its order of magnitude, beside the cuts that a learned vocabulary makes.

Frequency decides how BPE cuts a number: in GPT-2 2249 is 2|249 and 2250 is 22|50, so the place value of a
digit depends on its neighbours. Triadic suffix tokenization cuts by place value instead: the digits before
the decimal point in threes from the right, those after it in threes from the left, each group (triad) with
a marker that says which power of ten it counts:  12345678.1234 -> 12m 345k 678 . 123p 4pp.

Sources: the scheme with markers is a proposal, Chetverina (2026), "A Triadic Suffix Tokenization Scheme for
Numerical Reasoning", arXiv 2604.11582, which leaves experiments to later work: that it helps a model is not
shown there. What has been measured is the direction: Singh and Strouse (2024), "Tokenization counts", arXiv
2402.14903, find that models add better when three-digit groups are counted from the right.

Departures from the proposal: a short group stays short (there it is filled up with zeros, after which 0.1
and 0.100 are the same tokens), so that the text can be told from its tokens; signs, currencies, percent and
scientific notation stay ordinary text. Only commas that group by three are part of a number.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from bpe.errors import SettingsError
from bpe.tokenizer import TokenizerLike

__all__ = ["DigitCuts", "Triad", "TriadicToken", "cut_digits", "triadic_tokens", "triads", "write_triads"]

_WHOLE_MARKERS = ("", "k", "m", "b", "t", "q")
_MOST_REPEATED = 5  # the proposal goes down to 10^-15: ppppp

_WHOLE = r"\p{Nd}{1,3}(?:,\p{Nd}{3})+(?!\p{Nd})|\p{Nd}+"
_NUMBER = regex.compile(rf"(?P<whole>{_WHOLE})(?:\.(?P<fraction>\p{{Nd}}+))?")


class Triad(NamedTuple):
    """Up to three digits, and what their last one counts."""

    digits: str
    marker: str
    """none, k, m, b, t, q before the point; p, pp, ppp, ... after it. Beyond those: e18, e-18, ..."""
    power: int
    """The last digit counts 10 ** power."""


class TriadicToken(NamedTuple):
    """A triad in its text, or (marker None) a stretch of text between triads."""

    text: str
    marker: str | None


class DigitCuts(NamedTuple):
    """How a tokenizer cuts a whole number."""

    tokens: tuple[str, ...]
    num_aligned: int
    """Cuts that lie between two triads."""
    num_cuts: int
    """All cuts inside the number."""
    num_triad_cuts: int
    """Cuts between triads that there could have been."""


def triads(number: str) -> list[Triad]:
    """Return the triads of a number such as `1234567`, `1,234,567` or `0.0045`, most significant first.

    Raises:
        SettingsError: it is not such a number.

    >>> [digits + marker for digits, marker, _power in triads("1,234,567")]
    ['1m', '234k', '567']
    >>> triads("0.0045")[1:]
    [Triad(digits='004', marker='p', power=-3), Triad(digits='5', marker='pp', power=-4)]
    """
    match = _NUMBER.fullmatch(number)
    if match is None:
        raise SettingsError(f"number must be digits, with a decimal point or commas in between, but is {number[:40]!r}")
    return _whole_triads(match["whole"].replace(",", "")) + _fraction_triads(match["fraction"] or "")


def write_triads(number: str) -> str:
    """Return a number as the proposal writes it, each marker joined to its digits.

    >>> write_triads("12345678.1234")
    '12m 345k 678 . 123p 4pp'
    """
    written = [(triad.power < 0, triad.digits + triad.marker) for triad in triads(number)]
    whole = " ".join(text for is_fraction, text in written if not is_fraction)
    fraction = " ".join(text for is_fraction, text in written if is_fraction)
    return f"{whole} . {fraction}" if fraction else whole


def triadic_tokens(text: str) -> list[TriadicToken]:
    """Lay out a text as triads and what lies between them; joined, the texts are the text.

    In `1.2.3` the first point is read as a decimal point: digits alone do not tell a version from a number.

    >>> for token in triadic_tokens("pay 12,500.75 now"):
    ...     print(token)
    TriadicToken(text='pay ', marker=None)
    TriadicToken(text='12', marker='k')
    TriadicToken(text=',', marker=None)
    TriadicToken(text='500', marker='')
    TriadicToken(text='.', marker=None)
    TriadicToken(text='75', marker='p')
    TriadicToken(text=' now', marker=None)
    """
    tokens: list[TriadicToken] = []
    end = 0
    for match in _NUMBER.finditer(text):
        if match.start() > end:
            tokens.append(TriadicToken(text[end : match.start()], None))
        whole, fraction = match["whole"], match["fraction"]
        has_commas = "," in whole
        for triad in _whole_triads(whole.replace(",", "")):
            tokens.append(TriadicToken(triad.digits, triad.marker))
            if has_commas and triad.power:
                tokens.append(TriadicToken(",", None))
        if fraction:
            tokens.append(TriadicToken(".", None))
            tokens += (TriadicToken(triad.digits, triad.marker) for triad in _fraction_triads(fraction))
        end = match.end()
    if end < len(text):
        tokens.append(TriadicToken(text[end:], None))
    return tokens


def cut_digits(tokenizer: TokenizerLike, number: str) -> DigitCuts:
    """Return how a tokenizer cuts a whole number, and how many of its cuts lie between triads.

    Raises:
        SettingsError: the number is not made of the digits 0 to 9.

    >>> from bpe import Tokenizer
    >>> cut_digits(Tokenizer(), "1234")
    DigitCuts(tokens=('1', '2', '3', '4'), num_aligned=1, num_cuts=3, num_triad_cuts=1)
    """
    if not (number.isascii() and number.isdigit()):
        raise SettingsError(f"number must be made of the digits 0 to 9, but is {number[:40]!r}")
    history = tokenizer.history(number)
    cuts = [cut for cut in history.token_offsets(history.num_merges).tolist() if 0 < cut < len(number)]
    tokens = tuple(number[start:end] for start, end in zip([0, *cuts], [*cuts, len(number)], strict=True))
    aligned = sum((len(number) - cut) % 3 == 0 for cut in cuts)
    return DigitCuts(tokens, aligned, len(cuts), (len(number) - 1) // 3)


def _whole_triads(digits: str) -> list[Triad]:
    first = len(digits) % 3 or 3
    found = []
    for end in range(first, len(digits) + 1, 3):
        power = len(digits) - end
        known = power // 3 < len(_WHOLE_MARKERS)
        marker = _WHOLE_MARKERS[power // 3] if known else f"e{power}"
        found.append(Triad(digits[max(end - 3, 0) : end], marker, power))
    return found


def _fraction_triads(digits: str) -> list[Triad]:
    found = []
    for start in range(0, len(digits), 3):
        group = digits[start : start + 3]
        depth = start // 3 + 1
        # A marker of one p for each triad would make the markers of a long fraction quadratic.
        marker = "p" * depth if depth <= _MOST_REPEATED else f"e-{3 * depth}"
        found.append(Triad(group, marker, -(start + len(group))))
    return found
