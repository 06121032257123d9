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
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.kept import BUDGET, Budget, Keeper, estimated_bytes
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
    budget         bytes that these results share with those of other kinds
    """

    def __init__(self, num_kept: int, *, num_at_once: int = LIMITS.jobs_at_once, budget: Budget = BUDGET) -> None:
        self._num_at_once = num_at_once
        self._results: Keeper[Result] = Keeper(num_kept, budget)
        self._queue: list[_Ticket[Result]] = []
        self._running: list[_Ticket[Result]] = []
        self._lock = threading.Lock()

    def known(self, key: str) -> Result | None:
        """Return the kept result of this key, if there is one."""
        return self._results.get(key)

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
        """Give their turn to as many as may run, and tell the others how many are before them.

        No thread starts before every job knows its place: who sees one begin can read the places of the others.
        """
        with self._lock:
            waiting: list[_Ticket[Result]] = []
            beginning: list[_Ticket[Result]] = []
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
                    beginning.append(ticket)
            self._queue = waiting
            for ticket in beginning:
                name = f"job {ticket.job.key[:8]}"
                threading.Thread(target=self._run, args=(ticket,), name=name, daemon=True).start()

    def _run(self, ticket: _Ticket[Result]) -> None:
        job = ticket.job
        try:
            known = self.known(job.key)
            job.result = ticket.work(job) if known is None else known
            if known is None and ticket.keep(job.result):
                self._results.put(job.key, job.result)
        except BaseException as error:  # handed to the page, which raises it where a reader can see it
            job.error = error
        finally:
            job._over.set()
            with self._lock:
                self._running.remove(ticket)
            self._begin_next()


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
