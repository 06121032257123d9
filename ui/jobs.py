"""Long work beside the page: few at a time, in turn, with progress that can be read and a flag that cancels it.

Streamlit reruns a page's script at every touch, and a thread outlives a rerun: so work that may take longer
than a blink runs in a thread that the session holds by its key, and the page looks in until it is done.
Results are kept server-wide in a bounded cache; the key is a digest of everything the result depends on,
so a visitor can only meet a result by bringing the same text and settings.

Fairness: a board runs `LIMITS.jobs_at_once` jobs at a time, and the others wait in the order they came. Two jobs
of one key do not run beside each other: the second takes the result of the first, so a class that opens one
link costs one training. A visitor who has gone stops their work, wherever it stands.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from types import ModuleType
from typing import Any, Generic, TypeVar

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.limits import LIMITS

__all__ = ["Job", "JobBoard", "estimated_bytes"]

Result = TypeVar("Result")


@dataclass(eq=False)
class Job(Generic[Result]):
    """One piece of work and how far it is. Fields are written by its thread and read by the page.

    num_ahead        jobs that run or wait before it; 0 once it runs
    has_begun        whether it had its turn
    was_too_long     whether it was stopped because it ran longer than this server grants
    """

    key: str
    done: int = 0
    asked: int = 1
    started: float = field(default_factory=time.monotonic)
    result: Result | None = None
    error: BaseException | None = None
    num_ahead: int = 0
    has_begun: bool = False
    was_too_long: bool = False
    _is_wanted: Callable[[], bool] = lambda: True
    _most_seconds: float = LIMITS.job_seconds
    _stop: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Ask the work to stop; it does at its next report, or when it would have its turn."""
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
    def is_waiting(self) -> bool:
        """Whether others have to finish before it has its turn."""
        return not (self.has_begun or self.is_over)

    @property
    def seconds_so_far(self) -> float:
        """Time since the work began; before its turn, since it was asked for."""
        return time.monotonic() - self.started

    def wait(self, seconds: float) -> bool:
        """Wait until the work is over, at most so long, and return whether it is."""
        return self._over.wait(seconds)

    def report(self, done: int, asked: int) -> bool:
        """Take note of progress; False means stop. This is the progress function that the work calls."""
        self.done, self.asked = done, max(asked, 1)
        if not self._stop.is_set():
            self.was_too_long = self.seconds_so_far > self._most_seconds
            if self.was_too_long or not self._is_wanted():
                self._stop.set()
        return not self._stop.is_set()

    @property
    def seconds_left(self) -> float | None:
        """Estimated time left, from the pace so far; None before there is one."""
        if not self.done:
            return None
        return self.seconds_so_far * (self.asked - self.done) / self.done


@dataclass(frozen=True, eq=False)
class _Ticket(Generic[Result]):
    """A job in the queue, with what it is to do and whether its result is to be kept."""

    job: Job[Result]
    work: Callable[[Job[Result]], Result]
    keep: Callable[[Result], bool]
    is_short: bool


class JobBoard(Generic[Result]):
    """Runs jobs in turn and keeps the last results, bounded in number and in size, for all sessions.

    num_kept       results kept at most;   num_at_once   jobs that run at the same time
    most_bytes     estimated size of all kept results; a result that alone is larger is still kept, alone
    """

    def __init__(
        self,
        num_kept: int,
        *,
        num_at_once: int = LIMITS.jobs_at_once,
        most_bytes: int = LIMITS.cache_mb * 10**6,
    ) -> None:
        self._num_kept = num_kept
        self._num_at_once = num_at_once
        self._most_bytes = most_bytes
        self._results: OrderedDict[str, tuple[Result, int]] = OrderedDict()
        self._queue: list[_Ticket[Result]] = []
        self._running: list[_Ticket[Result]] = []
        self._lock = threading.Lock()

    def known(self, key: str) -> Result | None:
        """Return the kept result of this key, if there is one."""
        with self._lock:
            if key not in self._results:
                return None
            self._results.move_to_end(key)
            return self._results[key][0]

    def start(
        self,
        key: str,
        work: Callable[[Job[Result]], Result],
        *,
        keep: Callable[[Result], bool],
        is_wanted: Callable[[], bool] | None = None,
        is_short: bool = False,
    ) -> Job[Result]:
        """Run `work(job)` in a thread of its own as soon as it is its turn; keep a result for which `keep` holds.

        Work goes on while `is_wanted()`; without it, while the session that asks is there. Short work, which a page
        waits for where it stands, has its turn at once.
        """
        job: Job[Result] = Job(key, _is_wanted=is_wanted or _session_is_there())
        with self._lock:
            self._queue.append(_Ticket(job, work, keep, is_short))
        self._begin_next()
        return job

    def _begin_next(self) -> None:
        """Give their turn to as many as may run, and tell the others how many are before them."""
        with self._lock:
            waiting: list[_Ticket[Result]] = []
            for ticket in self._queue:
                job = ticket.job
                busy = len(self._running) >= self._num_at_once and not ticket.is_short
                if job.is_stopping or not job._is_wanted():
                    job.cancel()
                    job._over.set()
                elif busy or any(other.job.key == job.key for other in self._running):
                    job.num_ahead = len(self._running) + len(waiting)
                    waiting.append(ticket)
                else:
                    job.num_ahead = 0
                    job.started = time.monotonic()
                    job.has_begun = True
                    self._running.append(ticket)
                    threading.Thread(target=self._run, args=(ticket,), name=f"job {job.key[:8]}", daemon=True).start()
            self._queue = waiting

    def _run(self, ticket: _Ticket[Result]) -> None:
        job = ticket.job
        try:
            known = self.known(job.key)
            job.result = ticket.work(job) if known is None else known
            if known is None and ticket.keep(job.result):
                self._keep(job.key, job.result)
        except BaseException as error:  # handed to the page, which raises it where a reader can see it
            job.error = error
        finally:
            job._over.set()
            with self._lock:
                self._running.remove(ticket)
            self._begin_next()

    def _keep(self, key: str, result: Result) -> None:
        size = estimated_bytes(result)
        with self._lock:
            self._results[key] = (result, size)
            total = sum(kept for _, kept in self._results.values())
            while len(self._results) > self._num_kept or (total > self._most_bytes and len(self._results) > 1):
                total -= self._results.popitem(last=False)[1][1]


def _session_is_there() -> Callable[[], bool]:
    """Return a function that says whether the session that asks now is still connected, or was a moment ago.

    A connection that breaks and comes back within `LIMITS.left_seconds` loses nothing. Outside a server, as in
    tests of pages, work is always wanted.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not runtime.exists():
        return lambda: True
    session = context.session_id
    last_there = time.monotonic()

    def is_there() -> bool:
        nonlocal last_there
        now = time.monotonic()
        if not runtime.exists() or runtime.get_instance().is_active_session(session):
            last_there = now
        return now - last_there <= LIMITS.left_seconds

    return is_there


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
    if depth == 0 or id(value) in seen or isinstance(value, (type, ModuleType)) or callable(value):
        return size
    seen.add(id(value))
    if isinstance(value, (bytes, bytearray, str)):
        return size + len(value)
    if hasattr(value, "nbytes"):
        return size + int(value.nbytes)
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        members = value.items() if isinstance(value, dict) else value
        sample = list(islice(members, _MOST_LOOKED_AT))
        whole = sum(_estimate(member, seen, depth - 1) for member in sample)
        return size + whole * len(value) // max(len(sample), 1)
    names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
    return size + sum(_estimate(getattr(value, name, None), seen, depth - 1) for name in names)
