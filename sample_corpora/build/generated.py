"""Texts made by rule from a seed: a server's log, DNA, arithmetic. Equal bit for bit on every machine.

Python's `random` promises that only for `random()` itself, so the numbers come from SplitMix64 (Steele, Lea
and Flood 2014), which is three lines. The choices are meant to be learnable: a log repeats its phrases, a
genome repeats its motifs with slips, and sums follow from their digits only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .entries import Entry

__all__ = ["SplitMix64", "arithmetic_text", "build", "dna_text", "log_text"]

T = TypeVar("T")
MASK = 2**64 - 1


class SplitMix64:
    """A small random number generator with a fixed definition."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        """Return the next number below 2**64."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)

    def below(self, limit: int) -> int:
        """Return a number in range(limit). The bias of the remainder is far below what a text shows."""
        return self.next() % limit

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options, each as likely."""
        return options[self.below(len(options))]


def log_text(num_lines: int = 800, seed: int = 1) -> str:
    """Return the log of an invented web shop: time, level, service, message.

    Addresses are from the ranges kept for documentation (RFC 5737), names are invented.
    """
    rng = SplitMix64(seed)
    paths = ["/", "/cart", "/checkout", "/login", "/search?q=lamp", "/item/{n}", "/img/{n}.webp", "/api/v2/stock"]
    users = ["amara", "bjorn", "chen", "dilnoza", "emeka", "farah", "giulia", "hiro"]
    networks = ["192.0.2", "198.51.100", "203.0.113"]
    seconds = 6 * 3600

    lines = []
    for _ in range(num_lines):
        seconds += rng.below(40)
        hours, rest = divmod(seconds % 86_400, 3600)
        time = (
            f"2024-03-{11 + seconds // 86_400:02d}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.{rng.below(1000):03d}Z"
        )
        user, number = rng.choice(users), rng.below(9000)
        address = f"{rng.choice(networks)}.{1 + rng.below(254)}"
        kind = rng.below(100)

        if kind < 62:
            path = rng.choice(paths).format(n=number)
            status = rng.choice([200, 200, 200, 200, 304, 304, 404])
            entry = f'INFO  [web] {address} "GET {path} HTTP/1.1" {status} {rng.below(60_000)} {rng.below(400)}ms'
        elif kind < 76:
            entry = f"INFO  [auth] session opened for user {user} from {address} id={rng.next() & 0xFFFFFFFF:08x}"
        elif kind < 88:
            entry = f"DEBUG [db] SELECT * FROM orders WHERE id = {number} -- {rng.below(90)} rows in {rng.below(50)}ms"
        elif kind < 96:
            entry = f"WARN  [auth] wrong password for user {user} from {address} (attempt {1 + rng.below(5)} of 5)"
        else:
            entry = f"ERROR [pay] order {number} declined: upstream timed out after {1000 * (1 + rng.below(9))}ms"
        lines.append(f"{time} {entry}")
    return "\n".join(lines) + "\n"


def dna_text(num_bases: int = 60_000, seed: int = 2, line_length: int = 60) -> str:
    """Return an invented sequence of A, C, G, T in lines, under a FASTA heading.

    A few motifs are planted over and over, one base in forty changed; between them runs chance.
    """
    rng = SplitMix64(seed)
    motifs = ["".join(rng.choice("ACGT") for _ in range(8 + rng.below(32))) for _ in range(12)]

    bases: list[str] = []
    while len(bases) < num_bases:
        if rng.below(3) == 0:
            planted = rng.choice(motifs)
            bases += [base if rng.below(40) else rng.choice("ACGT") for base in planted]
        else:
            bases += [rng.choice("AACGTT") for _ in range(10 + rng.below(30))]
    sequence = "".join(bases[:num_bases])
    lines = [sequence[at : at + line_length] for at in range(0, num_bases, line_length)]
    return "\n".join([f">invented_sequence length={num_bases} seed={seed}", *lines]) + "\n"


def arithmetic_text(num_lines: int = 4_000, seed: int = 3) -> str:
    """Return true equations, one a line: sums, differences, products, quotients with remainder."""
    rng = SplitMix64(seed)
    lines = []
    for _ in range(num_lines):
        left, right = rng.below(10 ** (1 + rng.below(4))), rng.below(10 ** (1 + rng.below(4)))
        operation = rng.choice("++-*/")
        if operation == "+":
            lines.append(f"{left} + {right} = {left + right}")
        elif operation == "-":
            left, right = max(left, right), min(left, right)
            lines.append(f"{left} - {right} = {left - right}")
        elif operation == "*":
            lines.append(f"{left} * {right} = {left * right}")
        else:
            quotient, remainder = divmod(left, right + 1)
            lines.append(f"{left} / {right + 1} = {quotient} remainder {remainder}")
    return "\n".join(lines) + "\n"


def build() -> list[Entry]:
    """Return the three generated texts."""
    texts = {
        "generated-log": ("Log of an invented web shop", "en", "English", log_text()),
        "generated-dna": ("Invented DNA with planted motifs", "zxx", "DNA letters", dna_text()),
        "generated-arithmetic": ("Arithmetic", "zxx", "Numbers", arithmetic_text()),
    }
    return [
        Entry(
            name=name,
            title=title,
            language=language,
            language_name=language_name,
            script="Latn",
            kind="text",
            source="sample_corpora/build/generated.py, seeded",
            licence="MIT, as this project",
            file=f"texts/{name}.txt",
            text=text,
        )
        for name, (title, language, language_name, text) in texts.items()
    ]
