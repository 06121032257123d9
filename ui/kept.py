"""Results kept for all sessions, bounded by one number of bytes for the whole server.

Streamlit's own caches are bounded by a number of entries, and an entry may be a hundred bytes or a hundred megabytes.
Here every kind of result shares one budget, and what was used least recently goes first, whatever its kind.

    @kept(num_kept=12)
    def listing_of(key: str, _vocabulary: Vocabulary) -> bytes: ...

As with Streamlit's caches, arguments whose names begin with an underscore are not part of the key, and results are
shared: nobody changes them. Unlike there, a key holds digests of long texts instead of the texts.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.limits import LIMITS

__all__ = ["BUDGET", "Budget", "Keeper", "estimated_bytes", "kept"]

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_LONGEST_IN_KEY = 100


@dataclass
class Budget:
    """Bytes that all its keepers may hold together. Safe from several threads.

    A result that alone is larger than the budget is kept, alone: whoever asked for it is about to ask again.
    """

    most_bytes: int
    num_bytes: int = 0
    _entries: OrderedDict[tuple[Keeper[Any], Hashable], tuple[Any, int]] = field(default_factory=OrderedDict)
    _num_of: Counter[Keeper[Any]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, keeper: Keeper[Result], key: Hashable) -> Result | None:
        """Return what is kept, None for nothing; it counts as used just now."""
        with self._lock:
            entry = self._entries.get((keeper, key))
            if entry is None:
                return None
            self._entries.move_to_end((keeper, key))
            result: Result = entry[0]
            return result

    def put(self, keeper: Keeper[Result], key: Hashable, result: Result) -> None:
        """Keep a result, and drop the oldest of its keeper and of all, as far as it takes."""
        size = estimated_bytes(result)
        with self._lock:
            self._drop((keeper, key))
            self._entries[keeper, key] = (result, size)
            self.num_bytes += size
            self._num_of[keeper] += 1
            if self._num_of[keeper] > keeper.num_kept:
                self._drop(next(place for place in self._entries if place[0] is keeper))
            while self.num_bytes > self.most_bytes and len(self._entries) > 1:
                self._drop(next(iter(self._entries)))

    def clear(self, keeper: Keeper[Any]) -> None:
        """Drop all that a keeper holds."""
        with self._lock:
            for place in [place for place in self._entries if place[0] is keeper]:
                self._drop(place)

    def _drop(self, place: tuple[Keeper[Any], Hashable]) -> None:
        if place in self._entries:
            self.num_bytes -= self._entries.pop(place)[1]
            self._num_of[place[0]] -= 1


BUDGET = Budget(LIMITS.cache_mb * 10**6)
"""What this server keeps."""


@dataclass(eq=False)
class Keeper(Generic[Result]):
    """One kind of result: at most `num_kept` of them, within a budget that it shares."""

    num_kept: int
    budget: Budget = field(default_factory=lambda: BUDGET)

    def get(self, key: Hashable) -> Result | None:
        """Return the kept result of this key, if there is one."""
        return self.budget.get(self, key)

    def put(self, key: Hashable, result: Result) -> None:
        """Keep a result."""
        self.budget.put(self, key, result)

    def clear(self) -> None:
        """Forget all of this kind."""
        self.budget.clear(self)


def kept(
    num_kept: int, *, spinner: str = "", budget: Budget | None = None
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that keeps the results of a function, at most so many and within the budget.

    Whoever asks while another session computes the same waits for that result. Errors are not kept.
    `spinner` is shown meanwhile.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        keeper: Keeper[tuple[Result]] = Keeper(num_kept, budget or BUDGET)  # in a tuple: None is a result, too
        signature = inspect.signature(function)
        turns: dict[Hashable, _Turn] = {}
        turns_lock = threading.Lock()

        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            key = _key_of(signature, args, kwargs)
            known = keeper.get(key)
            if known is not None:
                return known[0]
            with turns_lock:
                turn = turns.setdefault(key, _Turn())
                turn.num_waiting += 1
            try:
                with turn.lock:
                    known = keeper.get(key)
                    if known is None:
                        with _spinning(spinner):
                            known = (function(*args, **kwargs),)
                        keeper.put(key, known)
                    return known[0]
            finally:
                with turns_lock:
                    turn.num_waiting -= 1
                    if not turn.num_waiting:
                        turns.pop(key, None)

        call.clear = keeper.clear  # type: ignore[attr-defined]  # as Streamlit's caches have it
        return call

    return decorate


@dataclass
class _Turn:
    """Those who ask for one result at the same time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    num_waiting: int = 0


def _key_of(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(_short(value) for name, value in bound.arguments.items() if not name.startswith("_"))


def _short(value: Hashable) -> Hashable:
    """Return a long text, or a table of texts and numbers, as its digest; anything else as it is."""
    text = repr(value) if isinstance(value, tuple) else value
    if isinstance(text, str) and len(text) > _LONGEST_IN_KEY:
        return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return value


def _spinning(words: str) -> AbstractContextManager[object]:
    if not words or get_script_run_ctx(suppress_warning=True) is None:
        return nullcontext()
    return st.spinner(words)


# ---------------------------------------------------------------------------------------------- sizes

_MOST_LOOKED_AT = 200
_DEEPEST = 12


def estimated_bytes(value: Any) -> int:
    """Return about how much memory a result takes: arrays and texts exactly, long collections from a sample.

    >>> import numpy as np
    >>> estimated_bytes((np.zeros(1000), b"x" * 500)) >= 8500
    True
    """
    return _estimate(value, set(), _DEEPEST)


def _estimate(value: Any, seen: set[int], depth: int) -> int:
    size = 64
    if isinstance(value, functools.partial):  # what it holds; not what it calls, which others hold as well
        return size + _estimate((value.args, value.keywords), seen, depth - 1)
    if depth == 0 or id(value) in seen or isinstance(value, (type, ModuleType)) or callable(value):
        return size
    seen.add(id(value))
    if isinstance(value, (bytes, bytearray, str)):
        return sys.getsizeof(value)  # of a text, up to four bytes a character
    if hasattr(value, "nbytes"):
        return size + int(value.nbytes)
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        members = value.items() if isinstance(value, dict) else value
        sample = list(islice(members, _MOST_LOOKED_AT))
        whole = sum(_estimate(member, seen, depth - 1) for member in sample)
        return size + whole * len(value) // max(len(sample), 1)
    names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
    return size + sum(_estimate(getattr(value, name, None), seen, depth - 1) for name in names)
