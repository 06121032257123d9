"""Large numbers with their units, as a reader says them."""

from __future__ import annotations

__all__ = ["in_bytes", "in_count", "in_percent"]


def in_bytes(number: float) -> str:
    """Return a size in decimal units.

    >>> in_bytes(327_680), in_bytes(2.1e9), in_bytes(12)
    ('328 kB', '2.10 GB', '12 bytes')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{_three_digits(number / size)} {unit}"
    return f"{number:,.0f} bytes" if number >= 10 or number == int(number) else f"{number:.1f} bytes"


def in_count(number: float) -> str:
    """Return a large count in words.

    >>> in_count(1_050_673_152), in_count(38_597_376), in_count(256)
    ('1.05 billion', '38.6 million', '256')
    """
    for word, size in (("quadrillion", 1e15), ("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{_three_digits(number / size)} {word}"
    return f"{number:,.0f}"


def in_percent(share: float) -> str:
    """Return a share in percent, small ones with enough digits to be told from 0.

    >>> in_percent(0.3101), in_percent(0.00042), in_percent(0), in_percent(1.5)
    ('31.0 %', '0.042 %', '0 %', '150 %')
    """
    percent = 100 * share
    if percent == 0:
        return "0 %"
    if percent < 0.1:
        return f"{percent:.2g} %"
    return f"{percent:,.1f} %" if percent < 100 else f"{percent:,.0f} %"


def _three_digits(number: float) -> str:
    return f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"
