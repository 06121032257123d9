"""What one visitor may ask of the server: defaults for one core and 1 GB, each to be set by the environment.

| variable | default | bounds |
|---|---|---|
| `BPE_UPLOAD_MB` | 20 | an uploaded text |
| `BPE_TYPED_CHARS` | 1000000 | a typed or pasted text |
| `BPE_TRAINING_MB` | 20 | a corpus to train on |
| `BPE_JOBS_AT_ONCE` | 2 | trainings that run at the same time; of each other kind of long work as many |
| `BPE_JOB_SECONDS` | 600 | one piece of work, from its turn on |
| `BPE_LEFT_SECONDS` | 20 | how long work goes on for a visitor who has gone |
| `BPE_CACHE_MB` | 100 | kept results of one kind of work |

A value that is no whole number of at least 1 stops the start: better than a limit that is not there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

from bpe.errors import BpeError

__all__ = ["LIMITS", "Limits", "LimitsError", "read_limits"]


class LimitsError(BpeError, ValueError):
    """A limit in the environment is no whole number of at least 1."""


@dataclass(frozen=True)
class Limits:
    """The limits of this server; the module says what each bounds."""

    upload_mb: int = 20
    typed_chars: int = 1_000_000
    training_mb: int = 20
    jobs_at_once: int = 2
    job_seconds: int = 600
    left_seconds: int = 20
    cache_mb: int = 100


def read_limits(environment: Mapping[str, str]) -> Limits:
    """Return the limits that the environment sets, and the defaults of the others.

    >>> read_limits({"BPE_UPLOAD_MB": "5"}).upload_mb
    5

    Raises:
        LimitsError: a value is no whole number of at least 1.
    """
    given: dict[str, int] = {}
    for field in fields(Limits):
        name = f"BPE_{field.name.upper()}"
        value = environment.get(name, "").strip()
        if not value:
            continue
        if not (value.isascii() and value.isdigit() and int(value) >= 1):
            raise LimitsError(f"{name} must be a whole number of at least 1, but is {value[:40]!r}: change or unset it")
        given[field.name] = int(value)
    return Limits(**given)


LIMITS = read_limits(os.environ)
"""The limits of this server."""
