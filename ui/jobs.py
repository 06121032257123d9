"""Long work beside the page: one thread a job, progress that can be read, and a flag that cancels it.

Streamlit reruns a page's script at every touch, and a thread outlives a rerun: so work that may take longer
than a blink runs in a thread that the session holds by its key, and the page looks in until it is done.
Results are kept server-wide in a bounded cache; the key is a digest of everything the result depends on,
so a visitor can only meet a result by bringing the same text and settings.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Job", "JobBoard"]

Result = TypeVar("Result")


@dataclass(eq=False)
class Job(Generic[Result]):
    """One piece of work and how far it is. Fields are written by its thread and read by the page."""

    key: str
    done: int = 0
    asked: int = 1
    started: float = field(default_factory=time.monotonic)
    result: Result | None = None
    error: BaseException | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Ask the work to stop; it does at its next report."""
        self._stop.set()

    @property
    def is_over(self) -> bool:
        """Whether there is a result or an error."""
        return self._over.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether the work was asked to stop."""
        return self._stop.is_set()

    @property
    def seconds_so_far(self) -> float:
        """Time since the work began."""
        return time.monotonic() - self.started

    def wait(self, seconds: float) -> bool:
        """Wait until the work is over, at most so long, and return whether it is."""
        return self._over.wait(seconds)

    def report(self, done: int, asked: int) -> bool:
        """Take note of progress; False means stop. This is the progress function that the work calls."""
        self.done, self.asked = done, max(asked, 1)
        return not self._stop.is_set()

    @property
    def seconds_left(self) -> float | None:
        """Estimated time left, from the pace so far; None before there is one."""
        if not self.done:
            return None
        return self.seconds_so_far * (self.asked - self.done) / self.done


class JobBoard(Generic[Result]):
    """Starts jobs and keeps the last results, at most `num_kept` of them, for all sessions."""

    def __init__(self, num_kept: int) -> None:
        self._num_kept = num_kept
        self._results: OrderedDict[str, Result] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, key: str) -> Result | None:
        """Return the kept result of this key, if there is one."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def start(self, key: str, work: Callable[[Job[Result]], Result], *, keep: Callable[[Result], bool]) -> Job[Result]:
        """Run `work(job)` in a thread of its own; a result for which `keep` holds is kept under the key."""
        job: Job[Result] = Job(key)

        def run() -> None:
            try:
                job.result = work(job)
                if keep(job.result):
                    self._keep(key, job.result)
            except BaseException as error:  # handed to the page, which raises it where a reader can see it
                job.error = error
            finally:
                job._over.set()

        threading.Thread(target=run, name=f"job {key[:8]}", daemon=True).start()
        return job

    def _keep(self, key: str, result: Result) -> None:
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._num_kept:
                self._results.popitem(last=False)
