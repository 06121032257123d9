"""Loading the kernels: from bitcode, from the object cache, without a folder to write to, and not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bpe.errors import UnavailableError
from bpe.kernels import loader
from bpe.kernels.source import sources_digest

ROOT = Path(__file__).resolve().parents[1]

TRAIN = """
import contextlib, json, sys
from bpe import BpeError, TrainSettings, train
from bpe.kernels import loader
text = "low lower lowest newest widest " * 2000
training = train(text, TrainSettings(num_merges=20))
with contextlib.suppress(BpeError):
    loader.load("train")  # where it cannot be quick, it is still loading
print(json.dumps([[m.left, m.right, m.pair_count] for m in training.merges]))
print(json.dumps([loader.is_ready("train"), loader.why_not_ready("train"), str(loader.cache_folder())]))
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules} & {"numba", "llvmlite"})))
"""


def run(code, **environment):
    """Run code in a fresh process; return what it printed, line by line, from JSON."""
    full = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=full, capture_output=True, text=True, check=True, cwd="/")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def expected():
    block = "import sys; sys.modules['llvmlite'] = None; sys.modules['numba'] = None\n"
    merges, (ready, why_not, _folder), _modules = run(block + TRAIN)
    assert not ready
    assert "slower Python engine" in why_not
    assert "\n" not in why_not
    return merges


def test_bitcode_is_that_of_the_sources():
    built = json.loads((ROOT / "bpe/kernels/built/kernels.json").read_text())
    assert built["sources"] == sources_digest(), "run python -m bpe.kernels.build"


def test_kernels_load_without_numba(expected, tmp_path):
    merges, (ready, _why_not, folder), modules = run(TRAIN, BPE_CACHE_DIR=str(tmp_path))
    assert (merges, ready, folder, modules) == (expected, True, str(tmp_path), ["llvmlite"])
    objects = sorted(tmp_path.glob("*.o"))
    assert len(objects) == 2  # count and train
    before = [path.stat().st_mtime_ns for path in objects]
    assert run(TRAIN, BPE_CACHE_DIR=str(tmp_path))[0] == expected
    assert [path.stat().st_mtime_ns for path in objects] == before


def test_a_damaged_object_is_made_again(expected, tmp_path):
    run(TRAIN, BPE_CACHE_DIR=str(tmp_path))
    for path in tmp_path.glob("*.o"):
        path.write_bytes(path.read_bytes()[:1000])
    assert run(TRAIN, BPE_CACHE_DIR=str(tmp_path))[0] == expected
    assert all(path.stat().st_size > 1000 for path in tmp_path.glob("*.o"))


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null/x"])
def test_an_unwritable_cache_folder_only_costs_time(expected, folder):
    merges, (ready, _why_not, _folder), _modules = run(TRAIN, BPE_CACHE_DIR=folder)
    assert (merges, ready) == (expected, True)


def test_an_absent_home_works(expected, tmp_path):
    merges, (ready, _why_not, folder), _modules = run(
        TRAIN, HOME="/proc/nowhere", XDG_CACHE_HOME="", BPE_CACHE_DIR="", TMPDIR=str(tmp_path)
    )
    assert (merges, ready) == (expected, True)
    assert folder.startswith(str(tmp_path))


def test_a_read_only_home_is_read_if_it_holds_objects(monkeypatch, tmp_path):
    """A container that was warmed when it was built: its file system is read-only when it runs."""
    monkeypatch.delenv("BPE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(loader, "_can_write", lambda folder: False)
    home = tmp_path / "bpe-kernels"
    assert loader.cache_folder() != home
    home.mkdir()
    assert loader.cache_folder() != home
    (home / "abc.o").write_bytes(b"code")
    assert loader.cache_folder() == home


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="file ownership is a POSIX matter")
def test_objects_that_others_may_write_to_are_not_run(expected, tmp_path):
    run(TRAIN, BPE_CACHE_DIR=str(tmp_path))
    for path in tmp_path.glob("*.o"):
        path.chmod(0o666)
    assert run(TRAIN, BPE_CACHE_DIR=str(tmp_path))[0] == expected
    assert all(path.stat().st_mode & 0o022 == 0 for path in tmp_path.glob("*.o"))


def test_a_machine_without_kernels_says_so_when_they_are_asked_for(monkeypatch):
    def fail(group):
        raise OSError("no such machine")

    monkeypatch.setattr(loader, "_loaded", {})
    monkeypatch.setattr(loader, "_failed", {})
    monkeypatch.setattr(loader, "_load_bitcode", fail)
    monkeypatch.setattr(loader, "_load_sources", fail)
    with pytest.raises(UnavailableError, match="install llvmlite"):
        loader.load("train")
    assert not loader.is_ready("train")
    assert "no such machine" in loader.why_not_ready("train")


FIRST_TRAINING = """
import json, time
from bpe import TrainSettings, train
from bpe.samples import load_sample
text = load_sample("kjv-genesis")[:200_000]
started = time.process_time()
training = train(text, TrainSettings(num_merges=2_000))
print(json.dumps([time.process_time() - started, training.num_merges]))
"""


@pytest.mark.parametrize("home", ["absent", "a file", "read-only"])
def test_the_first_training_in_an_empty_container_takes_two_seconds(tmp_path, home):
    folder = tmp_path / "home"
    if home == "a file":
        folder.write_text("")
    elif home == "read-only":
        folder.mkdir(mode=0o500)
    environment = {"HOME": str(folder), "XDG_CACHE_HOME": "", "BPE_CACHE_DIR": "/proc/x", "TMPDIR": str(tmp_path)}
    # CPU time, because other work on the machine is no failure; nothing here waits for anything else.
    seconds, num_merges = run(FIRST_TRAINING, **environment)[0]
    assert num_merges == 2_000
    assert seconds < 2


def test_a_program_that_ends_while_kernels_load_ends_well(tmp_path):
    code = "from bpe import TrainSettings, train; train('low lower', TrainSettings(num_merges=1)); print(1)"
    for folder in ("/proc/x", str(tmp_path)):
        assert run(code, BPE_CACHE_DIR=folder) == [1]
