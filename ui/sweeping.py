"""Takes away what visitors leave behind: once in a while for all, instead of after every rerun of everybody.

A session that has ended is a web of objects that point at each other, with a reader's texts and results in it: only a
full garbage collection finds it. Streamlit would run one after each script (`runner.postScriptGC`), 0.1 s with the
interpreter held, for every touch of every visitor. Python's own collector counts objects, not bytes, and would let
hundreds of megabytes wait. So a thread collects every 20 seconds if something has happened since, and hands freed
memory back to the system.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from functools import cache

__all__ = ["start_sweeping", "sweep"]

_SECONDS = 20.0


def sweep() -> None:
    """Collect all garbage, and give the system back what the allocator holds on to (with glibc)."""
    gc.collect()
    trim = _trim()
    if trim is not None:
        trim(0)


_starting = threading.Lock()


def start_sweeping() -> None:
    """Begin to sweep now and then, in the background, until the process ends. The first call counts."""
    with _starting:  # `cache` alone runs a function twice for two visitors who come together
        _start_once()


@cache
def _start_once() -> None:
    threading.Thread(target=_sweep_now_and_then, name="sweeping", daemon=True).start()


def _sweep_now_and_then() -> None:
    last = 0
    while True:
        threading.Event().wait(_SECONDS)
        if _num_collections() != last:
            sweep()
            last = _num_collections()


def _num_collections() -> int:
    """How often the young objects were looked at: with every few hundred new ones, so not on a quiet server."""
    return int(gc.get_stats()[0]["collections"])


@cache
def _trim() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None  # another system, or another C library
