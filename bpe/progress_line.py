"""One line on the terminal that says how far a long training is.

Only on a terminal, on standard error, so that no output of a command changes; and only after a moment, so that
quick ones leave no trace.
"""

from __future__ import annotations

import sys
import time
from typing import Self, TextIO

__all__ = ["ProgressLine"]

_QUIET_SECONDS = 0.5
_SECONDS_BETWEEN = 0.1
_BAR_WIDTH = 24


class ProgressLine:
    """A context manager whose methods are progress functions; on leaving, the line is wiped."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = 0
        self._began = time.monotonic()
        self._phase_began = self._began
        self._next = self._began + _QUIET_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._shown:
            self._write("")

    def show_bytes(self, done: int, total: int) -> None:
        """Show how much was counted."""
        self._show("counting", done, total, f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    def show_merges(self, done: int, asked: int) -> None:
        """Show how many merges are done."""
        if done == 0:
            self._phase_began = time.monotonic()
        self._show("merging", done, asked, f"{done:,} of {asked:,} merges")

    def show_removed(self, done: int, asked: int) -> None:
        """Show how many tokens were taken away."""
        if done == 0:
            self._phase_began = time.monotonic()
        self._show("pruning", done, asked, f"{done:,} of {asked:,} tokens taken away")

    def _show(self, what: str, done: int, total: int, amount: str) -> None:
        now = time.monotonic()
        if now < self._next or not self._stream.isatty():
            return
        self._next = now + _SECONDS_BETWEEN
        share = done / max(total, 1)
        filled = int(share * _BAR_WIDTH)
        bar = "#" * filled + "." * (_BAR_WIDTH - filled)
        left = ""
        if done:
            seconds = (now - self._phase_began) * (1 - share) / share
            left = f", {seconds:.0f} s left"
        self._write(f"{what} [{bar}] {amount}{left}")

    def _write(self, line: str) -> None:
        padding = " " * max(0, self._shown - len(line))
        self._stream.write(f"\r{line}{padding}" if line else f"\r{padding}\r")
        self._stream.flush()
        self._shown = len(line)
