"""A Streamlit server of the app in a process of its own, on a port that was free, with its memory and CPU in view."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

__all__ = ["ROOT", "Server"]

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Server:
    """The app on loopback. Use it as a context manager, or call `start` and `stop`.

    log      file that takes what the server prints
    options  further options of `streamlit run`, `environment` further variables
    """

    def __init__(
        self, log: Path, *, options: tuple[str, ...] = (), environment: Mapping[str, str] | None = None, port: int = 0
    ) -> None:
        self.log = log
        self.port = port or _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._options = options
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and wait until it answers; may be called again after it ended."""
        command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={self.port}"]
        command += ["--server.address=127.0.0.1", "--server.headless=true", *self._options]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self._environment},
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.is_healthy():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it, with whatever it started."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a crash or a full machine does."""
        self._signal(signal.SIGKILL)

    def is_healthy(self) -> bool:
        """Whether it answers on its health check."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.url}/_stcore/health", timeout=2) as answer:
                return bool(answer.read() == b"ok")
        except (urllib.error.URLError, OSError):
            return False

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    def resident_bytes(self) -> int:
        """Memory that the process holds now; 0 where the system does not tell."""
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE_BYTES
        except OSError:
            return 0

    def cpu_seconds(self) -> float:
        """CPU that the process has used, all threads together; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def _signal(self, number: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
