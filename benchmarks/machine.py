"""What the benchmarks share: fresh processes, medians, and a line that names the machine."""

from __future__ import annotations

import json
import lzma
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def machine_line() -> str:
    """Name the machine: processor, cores, Python, and how busy it was."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass  # not Linux
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}{load}"


def plain_file(path: Path) -> Path:
    """Return a file as it is, or unpacked to a temporary one where it is .xz."""
    if path.suffix != ".xz":
        return path
    unpacked = Path(tempfile.gettempdir()) / path.stem
    if not unpacked.exists():
        unpacked.write_bytes(lzma.decompress(path.read_bytes()))
    return unpacked


def run_child(script: str, *arguments: str) -> dict[str, float]:
    """Run a script in a process of its own and return the JSON that it prints: peak memory is its own, too."""
    command = [sys.executable, script, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


class ChildrenPeak:
    """Watches the processes that this one starts, and adds up the largest resident size of each, in MB. Linux only."""

    def __init__(self) -> None:
        self._peaks: dict[str, float] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ChildrenPeak:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def megabytes(self) -> float:
        """Return the sum so far."""
        return sum(self._peaks.values())

    def _watch(self) -> None:
        while not self._is_over.wait(0.05):
            for children in Path("/proc/self/task").glob("*/children"):
                try:
                    pids = children.read_text().split()
                except OSError:
                    continue  # the thread is gone
                for pid in pids:
                    self._look_at(pid)

    def _look_at(self, pid: str) -> None:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            return
        for line in lines:
            if line.startswith("VmHWM:"):
                self._peaks[pid] = int(line.split()[1]) * 1024 / 1e6


def peak_megabytes() -> float:
    """Return the largest resident size of this process so far, in MB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
