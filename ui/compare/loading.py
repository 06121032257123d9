"""Loads real tokenizers in the background, one after another, each once a server.

A dozen vocabularies take some 20 s to load. Nobody waits for the last to see the first: the page shows the rows that
are there and looks in for the next. One thread does the work, because two would only share one core.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import streamlit as st

from bpe.errors import BpeError
from bpe.pretrained import load_pretrained

__all__ = ["Loader", "loader"]


class Loader:
    """A queue of names and the thread that loads them.

    load    gives a tokenizer and keeps it; called once a name, from the thread
    """

    def __init__(self, load: Callable[[str], object]) -> None:
        self._load = load
        self._lock = threading.Condition()
        self._queue: list[str] = []
        self._ready: set[str] = set()
        self._failed: dict[str, str] = {}
        self._is_running = False

    def want(self, names: Sequence[str]) -> None:
        """Ask for these names, in this order, before whatever was asked for earlier."""
        with self._lock:
            new = [name for name in names if name not in self._ready and name not in self._failed]
            self._queue = new + [name for name in self._queue if name not in new]
            if self._queue and not self._is_running:
                self._is_running = True
                threading.Thread(target=self._work, name="loading tokenizers", daemon=True).start()

    def ready(self, names: Sequence[str]) -> list[str]:
        """Return those of the names that are loaded."""
        with self._lock:
            return [name for name in names if name in self._ready]

    def failures(self, names: Sequence[str]) -> dict[str, str]:
        """Return why some of the names cannot be loaded."""
        with self._lock:
            return {name: self._failed[name] for name in names if name in self._failed}

    def wait(self, names: Sequence[str], seconds: float) -> bool:
        """Wait until at least one more of the names is settled, or all are; return whether all are."""

        def num_settled() -> int:
            return sum(name in self._ready or name in self._failed for name in names)

        with self._lock:
            before = num_settled()
            self._lock.wait_for(lambda: num_settled() > before or num_settled() == len(names), seconds)
            return num_settled() == len(names)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._is_running = False
                    return
                name = self._queue[0]
            try:
                self._load(name)
                failure = None
            except BpeError as error:
                failure = str(error)
            except Exception as error:  # the thread goes on with the next; the page says what happened
                failure = f"loading it failed ({type(error).__name__})"
            with self._lock:
                if failure is None:
                    self._ready.add(name)
                else:
                    self._failed[name] = failure
                self._queue = [other for other in self._queue if other != name]
                self._lock.notify_all()


@st.cache_resource(show_spinner=False)
def loader() -> Loader:
    """Return the server's loader of real tokenizers."""
    return Loader(load_pretrained)
