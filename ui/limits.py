"""What one visitor may ask of the server: defaults for one core and 1 GB, each to be set by the environment.

| variable | default | bounds |
|---|---|---|
| `BPE_UPLOAD_MB` | 20 | an uploaded text, and each file of a parallel text |
| `BPE_PARALLEL_MB` | 40 | the files of a parallel text together |
| `BPE_TOKENIZER_MB` | 64 | the files of a tokenizer together |
| `BPE_TYPED_CHARS` | 1000000 | a typed or pasted text |
| `BPE_TRAINING_MB` | 20 | a corpus to train on |
| `BPE_JOBS_AT_ONCE` | 2 | trainings that run at the same time; of each other kind of long work as many |
| `BPE_JOB_SECONDS` | 600 | one piece of work, from its turn on |
| `BPE_LEFT_SECONDS` | 20 | how long work goes on for a visitor who has gone |
| `BPE_CACHE_MB` | 150 | results kept for all visitors, of every kind together |

A value that is no whole number of at least 1 stops the start: better than a limit that is not there. Streamlit takes
no upload above its own `server.maxUploadSize` (in `.streamlit/config.toml`, or `STREAMLIT_SERVER_MAX_UPLOAD_SIZE`): a
larger limit here is lowered to it, so that what the pages say holds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from streamlit import config

from bpe.errors import BpeError

__all__ = ["LIMITS", "Limits", "LimitsError", "lower_uploads", "read_limits"]


class LimitsError(BpeError, ValueError):
    """A limit in the environment is no whole number of at least 1."""


@dataclass(frozen=True)
class Limits:
    """The limits of this server; the module says what each bounds."""

    upload_mb: int = 20
    parallel_mb: int = 40
    tokenizer_mb: int = 64
    typed_chars: int = 1_000_000
    training_mb: int = 20
    jobs_at_once: int = 2
    job_seconds: int = 600
    left_seconds: int = 20
    cache_mb: int = 150


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


def lower_uploads(limits: Limits, most_mb: int) -> Limits:
    """Return the limits with no single upload above what the server takes.

    >>> lower_uploads(Limits(), 30).tokenizer_mb
    30
    """
    return replace(limits, upload_mb=min(limits.upload_mb, most_mb), tokenizer_mb=min(limits.tokenizer_mb, most_mb))


LIMITS = lower_uploads(read_limits(os.environ), int(config.get_option("server.maxUploadSize")))
"""The limits of this server."""
