"""What a premium does to a bill: tokens, money, what fits into a context, and what a cache holds. Pure.

A workload is given in words or characters of the reference language; every language carries the same content.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BillRow", "Workload", "charge"]


@dataclass(frozen=True)
class Workload:
    """What is done with a model.

    amount          words or characters a month, in the reference language
    document        words or characters of one request
    price           per million tokens, in whatever money
    window          tokens of the context window
    cached_bytes    bytes of key-value cache a token
    """

    amount: int
    document: int
    price: float
    window: int
    cached_bytes: float


@dataclass(frozen=True)
class BillRow:
    """What one language pays.

    num_tokens      a month;   price   a month
    fits            words or characters of the reference language whose content fills the window
    cached_bytes    key-value cache of one document
    """

    num_tokens: int
    price: float
    fits: int
    cached_bytes: int


def charge(tokens_per_unit: float, workload: Workload) -> BillRow:
    """Return what a language pays that takes so many tokens for a word (or character) of the reference.

    >>> charge(1.5, Workload(amount=1_000_000, document=1_000, price=2.0, window=3_000, cached_bytes=10))
    BillRow(num_tokens=1500000, price=3.0, fits=2000, cached_bytes=15000)
    """
    num_tokens = workload.amount * tokens_per_unit
    return BillRow(
        num_tokens=round(num_tokens),
        price=num_tokens / 1e6 * workload.price,
        fits=int(workload.window / tokens_per_unit),
        cached_bytes=round(round(workload.document * tokens_per_unit) * workload.cached_bytes),
    )
