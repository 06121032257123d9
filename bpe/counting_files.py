"""Pre-token counts of files, on all cores, on several processes, or on a Dask cluster.

Files are divided into parts (file_parts.py), and the counts of the parts are added up in order: however many workers
there are, the counts are the same, in the same order of first occurrence. Only counting is spread; training runs on
the sums.

A part whose worker dies is counted again elsewhere. Dask (docs.dask.org) is an existing engine for that on many
machines; it is asked for by the address of its scheduler, and installed from requirements-cluster.txt.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from multiprocessing import get_context
from typing import Any

from bpe.counting import PreTokenCounts, Tally
from bpe.errors import CorpusError, UnavailableError
from bpe.file_parts import ByteErrors, Part, count_part, num_bytes_of, plan_parts, scan_part
from bpe.kernels.counting import SCANNED_SPLITS, CompiledCounter
from bpe.kernels.loader import load

__all__ = ["CountingCancelled", "count_files"]

CountProgress = Callable[[int, int], bool | None]

# A part of a process or of the cluster: large enough that its distinct pre-tokens are few against its bytes, small
# enough that a part that is lost, or that comes last, costs little.
_PART_BYTES = 32 << 20

# From so many bytes a thread on, a second one pays.
_BYTES_PER_THREAD = 2 << 20
_MOST_THREADS = 16

_MOST_DEATHS = 3
_REPORT_SECONDS = 0.1
_SCHEDULER_SECONDS = 10


class CountingCancelled(Exception):
    """The progress function said to stop. There is no result."""


def count_files(
    files: Sequence[str],
    split: str,
    *,
    compiled: bool,
    workers: int = 1,
    scheduler: str | None = None,
    errors: ByteErrors = "strict",
    progress: CountProgress | None = None,
) -> PreTokenCounts:
    """Return the pre-token counts of files in UTF-8, as one corpus in their order. No pre-token crosses files.

    compiled   use the compiled scanner where the pattern has one, on all cores
    workers    so many processes, if more than one
    scheduler  the address of a Dask scheduler: its workers count, and each must reach the files by these names.
               A name with :// in it is opened with fsspec (s3://..., https://...).
    errors     bytes that are not UTF-8: `strict`, refuse the file; `replace` them by U+FFFD
    progress   called with (bytes counted, bytes in all); False stops with `CountingCancelled`

    Raises:
        CorpusError: no file; one is empty, not UTF-8 (with the offset of the first bad byte), or changes meanwhile.
        UnavailableError: the scheduler does not answer, workers die again and again, a package is missing.
        OSError: a file cannot be opened.
    """
    if not files:
        raise CorpusError("a corpus must have at least one file, but none was given: name a file")
    for file in files:
        if num_bytes_of(file) == 0:
            raise CorpusError(f"{file} is empty (0 bytes): choose a file that holds some text")
    watch = _Watch(sum(map(num_bytes_of, files)), progress)
    if scheduler is not None:
        return _count_on_cluster(plan_parts(files, split, _PART_BYTES), split, compiled, errors, scheduler, watch)
    if workers > 1:
        size = min(_PART_BYTES, max(watch.total // workers, 1))
        return _count_on_processes(plan_parts(files, split, size), split, compiled, errors, workers, watch)
    if compiled and split in SCANNED_SPLITS:
        num_threads = max(1, min(os.cpu_count() or 1, _MOST_THREADS, watch.total // _BYTES_PER_THREAD))
        parts = plan_parts(files, split, -(-watch.total // num_threads))
        return _count_on_threads(parts, split, errors, num_threads, watch)
    tally = Tally()
    for part in plan_parts(files, split, _PART_BYTES):
        tally.add(count_part(part, split, compiled=False, errors=errors, seen=watch.add_and_report))
    return tally.result()


class _Watch:
    """Adds up what was counted, and asks the progress function whether to go on."""

    def __init__(self, total: int, progress: CountProgress | None) -> None:
        self.total = total
        self._progress = progress
        self._lock = threading.Lock()
        self._done = 0
        self._is_cancelled = threading.Event()

    def add(self, num_bytes: int) -> None:
        """Take note of bytes that were counted, from any thread; stop that thread after `cancel`."""
        with self._lock:
            self._done += num_bytes
        if self._is_cancelled.is_set():
            raise CountingCancelled

    def report(self) -> None:
        """Call the progress function. Only the thread that asked for the counts does that."""
        if self._progress is not None and self._progress(min(self._done, self.total), self.total) is False:
            self.cancel()
            raise CountingCancelled

    def add_and_report(self, num_bytes: int) -> None:
        """Do both."""
        self.add(num_bytes)
        self.report()

    def cancel(self) -> None:
        """Make every thread stop at its next block."""
        self._is_cancelled.set()


def _count_on_threads(
    parts: Sequence[Part], split: str, errors: ByteErrors, num_threads: int, watch: _Watch
) -> PreTokenCounts:
    """Give each thread a stretch of the corpus and a table of its own; the first table takes over the others."""
    load("count")
    stretches = _in_stretches(parts, num_threads)
    scanners = [CompiledCounter(split, sum(part.end - part.start for part in stretch)) for stretch in stretches]

    def scan(i: int) -> None:
        for part in stretches[i]:
            scan_part(part, split, scanners[i], errors, watch.add)
        scanners[i].read_out()

    with ThreadPoolExecutor(len(stretches)) as pool:
        futures = [pool.submit(scan, i) for i in range(len(stretches))]
        try:
            for future in futures:
                _wait(future, watch)
        except BaseException:
            watch.cancel()
            raise
    first, *others = scanners
    scanners.clear()
    while others:
        first.absorb(others.pop(0))
    return PreTokenCounts(*first.result())


def _in_stretches(parts: Sequence[Part], num_stretches: int) -> list[list[Part]]:
    """Divide parts, in order, into stretches of about the same number of bytes."""
    total = sum(part.end - part.start for part in parts)
    stretches: list[list[Part]] = [[] for _ in range(num_stretches)]
    done = 0
    for part in parts:
        size = part.end - part.start
        stretches[(2 * done + size) * num_stretches // (2 * total)].append(part)  # by the middle of the part
        done += size
    return [stretch for stretch in stretches if stretch]


def _wait(future: Future[Any], watch: _Watch) -> Any:
    """Return the result of a future, and report while it is not there."""
    while True:
        try:
            result = future.result(timeout=_REPORT_SECONDS)
        except FutureTimeout:
            if future.done():
                raise
            watch.report()
            continue
        watch.report()
        return result


def _count_on_processes(
    parts: Sequence[Part], split: str, compiled: bool, errors: ByteErrors, workers: int, watch: _Watch
) -> PreTokenCounts:
    """Count parts in processes and add them up in order. When a process dies, its part is counted again."""
    tally = Tally()
    waiting = deque(parts)
    deaths = 0
    while waiting:
        try:
            with _process_pool(workers) as pool:
                running: deque[tuple[Part, Future[PreTokenCounts]]] = deque()
                while waiting or running:
                    # Two parts a process: one being counted, one to go on with. More would wait in memory.
                    while waiting and len(running) < 2 * workers:
                        part = waiting.popleft()
                        with _deaf_to_interrupts():  # the pool starts a process when there is work for it
                            future = pool.submit(count_part, part, split, compiled=compiled, errors=errors)
                        running.append((part, future))
                    try:
                        counts = _wait(running[0][1], watch)
                    except BaseException:
                        waiting.extendleft(part for part, _future in reversed(running))
                        raise
                    part, _future = running.popleft()
                    tally.add(counts)
                    watch.add_and_report(part.end - part.start)
                    deaths = 0
        except BrokenProcessPool:
            deaths += 1
            if deaths == _MOST_DEATHS:
                raise UnavailableError(
                    f"a worker died {_MOST_DEATHS} times while counting {waiting[0].file} from byte "
                    f"{waiting[0].start:,} on, most likely for want of memory: use fewer --workers"
                ) from None
    return tally.result()


def _leave_interrupts_alone() -> None:
    """Ctrl-C reaches every process of a terminal, but only the first one has something to say about it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes that are started meanwhile be deaf to Ctrl-C from their first instruction; here it comes later."""
    is_main = threading.current_thread() is threading.main_thread()  # elsewhere no interrupt is raised
    if not is_main or not hasattr(signal, "pthread_sigmask"):  # Windows has none
        yield
        return
    # Blocked is what a new process inherits. Another thread may still take the signal here: so it is only noted.
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        for number in noted[:1]:
            signal.raise_signal(number)


@contextmanager
def _process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that is not waited for when something goes wrong: what it still counts is of no use then."""
    # Fresh processes: a fork would copy locks that other threads of this one may hold.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_leave_interrupts_alone)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _count_on_cluster(
    parts: Sequence[Part], split: str, compiled: bool, errors: ByteErrors, scheduler: str, watch: _Watch
) -> PreTokenCounts:
    """Count parts on a Dask cluster and add them up in order. Dask counts a part again when its worker dies."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise UnavailableError("--scheduler needs Dask: python -m pip install -r requirements-cluster.txt") from None
    try:
        client = distributed.Client(scheduler, timeout=_SCHEDULER_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UnavailableError(
            f"no Dask scheduler answers at {scheduler} ({type(error).__name__}): "
            "start one with `dask scheduler`, or check the address"
        ) from None
    tally = Tally()
    with closing(client):
        num_threads = max(1, sum(client.nthreads().values()))
        waiting = deque(parts)
        running: deque[tuple[Part, Any]] = deque()
        while waiting or running:
            while waiting and len(running) < 2 * num_threads:
                part = waiting.popleft()
                future = client.submit(count_part, part, split, compiled=compiled, errors=errors, pure=False)
                running.append((part, future))
            part, future = running.popleft()
            watch.report()
            try:
                counts = future.result()
            except distributed.KilledWorker as error:
                raise UnavailableError(
                    f"several workers of the cluster died while counting {part.file} from byte {part.start:,} on, most "
                    f"likely for want of memory: give them more ({error.last_worker})"
                ) from None
            tally.add(counts)
            watch.add_and_report(part.end - part.start)
    return tally.result()
