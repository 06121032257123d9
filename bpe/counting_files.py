"""Pre-token counts of files, on all cores, on several processes, or on a Dask cluster.

Files are read in blocks, so that a file of any size is never in memory as a whole. They are cut where no pre-token
can cross, and the counts of the parts are added up in order: however many workers there are, the counts are the
same, in the same order of first occurrence. Only counting is spread; training runs on the sums.

A part whose worker dies is counted again elsewhere. Dask (docs.dask.org) is an existing engine for that on many
machines; it is asked for by the address of its scheduler, and installed from requirements-cluster.txt.

It leaves out everything but UTF-8: corpus.py reads other encodings.
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
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bpe.counting import BLOCK_BYTES, PreTokenCounts, Tally, can_cut, last_cut
from bpe.errors import CorpusError, UnavailableError
from bpe.kernels.counting import PADDING, SCANNED_SPLITS, CompiledCounter, first_bad_byte
from bpe.kernels.loader import load
from bpe.pretokenize import count_pre_tokens

__all__ = ["ByteErrors", "CountingCancelled", "Part", "count_files", "count_part", "num_bytes_of", "plan_parts"]

ByteErrors = Literal["strict", "replace"]
CountProgress = Callable[[int, int], bool | None]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGEST_BLOCK = 1 << 30

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


@dataclass(frozen=True)
class Part:
    """The bytes start..end of a file, which begin and end where no pre-token crosses. `file`: a path, or a URL."""

    file: str
    start: int
    end: int


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


# ---------------------------------------------------------------------------------------------- parts


def plan_parts(files: Sequence[str], split: str, part_bytes: int) -> list[Part]:
    """Cut files into parts of about so many bytes, in order. A file that cannot be cut is one part."""
    parts: list[Part] = []
    for name in files:
        size = num_bytes_of(name)
        num_parts = max(1, round(size / part_bytes)) if can_cut(split) else 1
        cuts = [0]
        if num_parts > 1:
            with _open(name) as file:
                for i in range(1, num_parts):
                    cut = _cut_before(file, size * i // num_parts, cuts[-1], split)
                    if cut > cuts[-1]:
                        cuts.append(cut)
        parts += [Part(name, start, end) for start, end in zip(cuts, [*cuts[1:], size], strict=True)]
    return parts


def _cut_before(file: BinaryIO, place: int, after: int, split: str) -> int:
    """Return the last place before `place` and after `after` to cut a file at; `after` where there is none."""
    window = 1 << 16
    while True:
        start = max(after, place - window)
        file.seek(start)
        data = file.read(place - start)
        cut = last_cut(data, split)
        if cut > 0:
            return start + cut
        if start == after:
            return after
        window *= 8


def num_bytes_of(name: str) -> int:
    """Return the size of a file."""
    if "://" in name:
        filesystem, path = _filesystem(name)
        return int(filesystem.size(path))
    return os.stat(name).st_size


def _open(name: str) -> AbstractContextManager[BinaryIO]:
    if "://" in name:
        filesystem, path = _filesystem(name)
        return cast("AbstractContextManager[BinaryIO]", filesystem.open(path, "rb"))
    return open(name, "rb", buffering=0)


def _filesystem(name: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UnavailableError(
            f"a file named by a URL ({name}) needs fsspec: python -m pip install -r requirements-cluster.txt"
        ) from None
    try:
        filesystem, path = url_to_fs(name)
    except (ValueError, ImportError) as error:
        raise UnavailableError(f"{name} cannot be opened: {error}") from None
    return filesystem, path


# ---------------------------------------------------------------------------------------------- counting a part


def count_part(
    part: Part,
    split: str,
    *,
    compiled: bool,
    errors: ByteErrors = "strict",
    seen: Callable[[int], None] | None = None,
) -> PreTokenCounts:
    """Return the pre-token counts of a part of a file. A byte order mark at the start of a file is left out.

    seen   called with the number of bytes of each block

    Raises:
        CorpusError: invalid UTF-8, or the file ends early.
    """
    if compiled and split in SCANNED_SPLITS:
        try:
            scanner = CompiledCounter(split, part.end - part.start)
        except UnavailableError:  # on this machine of the cluster; the counts are the same
            return count_part(part, split, compiled=False, errors=errors, seen=seen)
        _scan_part(part, split, scanner, errors, seen)
        return PreTokenCounts(*scanner.result())
    sums: dict[str, int] = {}
    for buffer, size in _blocks(part, split, errors, seen, check_bytes=False):
        for pre_token, count in count_pre_tokens(buffer[:size].tobytes().decode(), split).items():
            sums[pre_token] = sums.get(pre_token, 0) + count
    return PreTokenCounts.from_mapping(sums)


def _scan_part(
    part: Part, split: str, scanner: CompiledCounter, errors: ByteErrors, seen: Callable[[int], None] | None
) -> None:
    for buffer, size in _blocks(part, split, errors, seen, check_bytes=True):
        scanner.add(buffer, 0, size)


def _blocks(
    part: Part, split: str, errors: ByteErrors, seen: Callable[[int], None] | None, *, check_bytes: bool
) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Yield (padded buffer, number of bytes) for one block of valid UTF-8 after the other.

    The buffer is used again for the next block. `check_bytes`: check with the compiled kernel.
    """
    buffer = np.zeros(BLOCK_BYTES + PADDING, dtype=np.uint8)
    offset = part.start  # of the first byte in the buffer
    held = 0
    left = part.end - part.start
    with _open(part.file) as file:
        file.seek(part.start)
        while left or held:
            room = min(len(buffer) - PADDING - held, left)
            if room:
                num_read = file.readinto(buffer[held : held + room].data)  # type: ignore[attr-defined]
                if not num_read:
                    raise CorpusError(
                        f"{part.file} must keep its {part.end:,} bytes while it is counted, but ends at "
                        f"{part.end - left:,} now: train again when nothing writes to it"
                    )
                held += num_read
                left -= num_read
            if offset == 0 and buffer[: min(held, 3)].tobytes() == _BYTE_ORDER_MARK:
                buffer[: held - 3] = buffer[3:held].copy()
                held -= 3
                offset = 3
            size = held
            if left:
                size = last_cut(buffer[:held].data, split) if can_cut(split) else 0
                if size == 0:
                    buffer = _longer(buffer, held, part.file, offset, split)
                    continue
            tail = buffer[size : size + PADDING].copy()
            if size == held:
                buffer[size : size + PADDING] = 0
            yield _valid(buffer, size, part.file, offset, errors, check_bytes)
            buffer[size : size + PADDING] = tail
            buffer[: held - size] = buffer[size:held].copy()
            held -= size
            offset += size
            if seen is not None:
                seen(size)


def _longer(buffer: NDArray[np.uint8], held: int, name: str, offset: int, split: str) -> NDArray[np.uint8]:
    """Return a buffer of twice the size, for a stretch without a place to cut."""
    if len(buffer) > _LARGEST_BLOCK:
        raise CorpusError(
            f"split {split!r} must find a place to cut in every {_LARGEST_BLOCK:,} bytes, but {name} has none from "
            f"byte {offset:,} on: choose another split, or break the lines"
        )
    return np.concatenate((buffer[:held], np.zeros(len(buffer) + PADDING, dtype=np.uint8)))


def _valid(
    buffer: NDArray[np.uint8], size: int, name: str, offset: int, errors: ByteErrors, check_bytes: bool
) -> tuple[NDArray[np.uint8], int]:
    """Return the block if it is UTF-8; with bad bytes, do what `errors` says."""
    if check_bytes:
        bad = first_bad_byte(buffer, 0, size)
    else:
        try:
            buffer[:size].tobytes().decode()
            bad = size
        except UnicodeDecodeError as error:
            bad = error.start
    if bad == size:
        return buffer, size
    if errors == "strict":
        raise CorpusError(
            f"{name} must be UTF-8, but byte 0x{buffer[bad]:02X} at offset {offset + bad:,} is not: "
            "convert the file, or replace such bytes by U+FFFD (errors='replace', --errors replace)"
        )
    data = buffer[:size].tobytes().decode("utf-8", "replace").encode()
    replaced = np.zeros(len(data) + PADDING, dtype=np.uint8)
    replaced[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return replaced, len(data)


# ---------------------------------------------------------------------------------------------- where to count


def _count_on_threads(
    parts: Sequence[Part], split: str, errors: ByteErrors, num_threads: int, watch: _Watch
) -> PreTokenCounts:
    """Give each thread a stretch of the corpus and a table of its own; the first table takes over the others."""
    load("count")
    stretches = _in_stretches(parts, num_threads)
    scanners = [CompiledCounter(split, sum(part.end - part.start for part in stretch)) for stretch in stretches]

    def scan(i: int) -> None:
        for part in stretches[i]:
            _scan_part(part, split, scanners[i], errors, watch.add)
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
                        running.append((part, pool.submit(count_part, part, split, compiled=compiled, errors=errors)))
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
