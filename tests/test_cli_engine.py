"""The command line on large files: blocks, workers, bad bytes, the progress line, and getting ready ahead."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bpe import cli
from bpe.__main__ import main
from bpe.counting_files import _deaf_to_interrupts
from bpe.progress_line import ProgressLine
from bpe.samples import load_sample

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(load_sample("kjv-genesis").encode())
    return str(path)


def merges(capfdbinary, *arguments):
    assert main(["train", *arguments, "--num-merges", "50", "--json"]) == 0
    return json.loads(capfdbinary.readouterr().out)["merges"]


def test_blocks_workers_and_engines_learn_the_same(capfdbinary, monkeypatch, corpus):
    expected = merges(capfdbinary, corpus, "--engine", "python")
    for options in (["--engine", "compiled"], ["--workers", "2"], ["--errors", "replace"], []):
        assert merges(capfdbinary, corpus, *options) == expected
    monkeypatch.setattr(cli, "MOST_BYTES_READ_WHOLE", 1000)
    assert merges(capfdbinary, corpus) == expected
    with_mark = Path(corpus).with_name("mark.txt")
    with_mark.write_bytes(b"\xef\xbb\xbf" + Path(corpus).read_bytes())
    assert merges(capfdbinary, str(with_mark)) == expected


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--workers", "2"], "byte 0xFF at offset 5"),
        (["--workers", "0"], "workers must be at least 1"),
        (["--scheduler", "tcp://nowhere.invalid:1", "--errors", "replace"], "cheduler"),
    ],
)
def test_errors_are_one_line_and_leave_the_old_file(capfd, tmp_path, options, says):
    bad, out = tmp_path / "bad.txt", tmp_path / "out.json"
    bad.write_bytes(b"some \xff text " * 9)
    out.write_text("old")
    assert main(["train", str(bad), "--num-merges", "5", "--out", str(out), *options]) == 2
    error = capfd.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "out.json"]


SMALL_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
from bpe.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a POSIX matter")
def test_a_disk_that_fills_up_leaves_the_old_file(tmp_path, corpus):
    out = tmp_path / "out.json"
    out.write_text("old")
    before = sorted(tmp_path.iterdir())
    arguments = ["train", corpus, "--num-merges", "900", "--out", str(out)]
    command = [sys.executable, "-c", SMALL_DISK, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{out} must fit on its disk, but does not (File too large): make room" in done.stderr
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
def test_a_full_disk_behind_standard_output_is_one_line(corpus):
    command = [sys.executable, "-m", "bpe", "train", corpus, "--num-merges", "50", "--json"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "the output must fit on its disk, but does not (No space left on device): make room" in done.stderr


def test_standard_input_cannot_be_spread(capfd):
    assert main(["train", "-", "--num-merges", "1", "--workers", "2"]) == 2
    assert "standard input" in capfd.readouterr().err


def test_warm_says_what_is_ready(capfd, monkeypatch, tmp_path):
    assert main(["warm"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["count", "train", "encode", "machine"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a POSIX matter")
@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_ctrl_c_while_workers_count_leaves_no_file(tmp_path, corpus):
    large, out = tmp_path / "large.txt", tmp_path / "out.json"
    large.write_bytes(Path(corpus).read_bytes() * 400)
    command = [sys.executable, "-m", "bpe", "train", str(large), "--num-merges", "9", "--workers", "2"]
    process = subprocess.Popen(
        [*command, "--out", str(out)], cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while children.exists() and len(children.read_text().split()) < 2:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, "python -m bpe: interrupted\n")
    assert not out.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a POSIX matter")
@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_a_worker_is_deaf_to_ctrl_c_while_it_starts():
    says = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    told = []

    def start() -> None:
        with _deaf_to_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            told.append(subprocess.run([sys.executable, "-c", says], capture_output=True, text=True, check=True).stdout)

    with pytest.raises(KeyboardInterrupt):  # Ctrl-C is not lost: it comes afterwards
        start()
    assert told == ["True\n"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_progress_line_shows_a_bar_and_is_wiped(monkeypatch):
    clock = iter([0.0, 0.1, 1.0, 1.0, 2.0, 2.05, 4.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    terminal = Terminal()
    with ProgressLine(terminal) as line:
        line.show_bytes(1, 10)  # at 0.1 s: too early
        assert terminal.getvalue() == ""
        line.show_bytes(5_000_000, 10_000_000)
        assert terminal.getvalue() == "\rcounting [############............] 5 of 10 MB, 1 s left"
        line.show_merges(0, 100)
        line.show_merges(25, 100)
    shown = terminal.getvalue().split("\r")
    assert shown[-1] == ""
    assert shown[-2].strip() == ""


def test_without_a_terminal_there_is_no_progress_line(monkeypatch):
    monkeypatch.setattr("bpe.progress_line._QUIET_SECONDS", 0)
    pipe = io.StringIO()
    with ProgressLine(pipe) as line:
        line.show_merges(50, 100)
    assert pipe.getvalue() == ""
