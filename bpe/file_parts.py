"""Parts of files: where to cut them, reading them block by block, and the pre-token counts of one.

A part begins and ends where no pre-token can cross, and is read in blocks of a megabyte, so that a file of any size is
never in memory as a whole. Files are named by paths, or by URLs that fsspec opens.

It leaves out who counts which part: read counting_files.py next; and everything but UTF-8: corpus.py reads other
encodings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bpe.counting import BLOCK_BYTES, PreTokenCounts, can_cut, last_cut
from bpe.errors import CorpusError, UnavailableError
from bpe.kernels.counting import PADDING, SCANNED_SPLITS, CompiledCounter, first_bad_byte
from bpe.pretokenize import count_pre_tokens

__all__ = ["ByteErrors", "Part", "count_part", "num_bytes_of", "plan_parts", "scan_part"]

ByteErrors = Literal["strict", "replace"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGEST_BLOCK = 1 << 30


@dataclass(frozen=True)
class Part:
    """The bytes start..end of a file, which begin and end where no pre-token crosses. `file`: a path, or a URL."""

    file: str
    start: int
    end: int


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
        scan_part(part, split, scanner, errors, seen)
        return PreTokenCounts(*scanner.result())
    sums: dict[str, int] = {}
    for buffer, size in _blocks(part, split, errors, seen, check_bytes=False):
        for pre_token, count in count_pre_tokens(buffer[:size].tobytes().decode(), split).items():
            sums[pre_token] = sums.get(pre_token, 0) + count
    return PreTokenCounts.from_mapping(sums)


def scan_part(
    part: Part, split: str, scanner: CompiledCounter, errors: ByteErrors, seen: Callable[[int], None] | None
) -> None:
    """Count a part into the table of a scanner; otherwise as `count_part`."""
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
