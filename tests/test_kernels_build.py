"""The shipped bitcode is what the build makes of the sources; what numba makes of them stands in for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bpe.kernels.loader import BUILT

ROOT = Path(__file__).resolve().parents[1]

STAND_IN_AND_BUILD = """
import sys
from pathlib import Path
from bpe.kernels.build import main
from bpe import TrainSettings, train
from bpe.kernels import loader
from bpe.kernels.counting import first_bad_byte, padded

# Where no bitcode can be used, numba compiles the sources; the build then takes what is compiled.
def fail(group):
    raise OSError("no bitcode")
loader._load_bitcode = fail
for source in ({"low": 3, "lower": 2, "newest": 5}, "low lower lowest newest widest " * 50):
    for base in ("bytes", "chars"):
        both = [train(source, TrainSettings(base, num_merges=20), engine=engine) for engine in ("compiled", "python")]
        assert list(both[0].merges) == list(both[1].merges)
        assert both[0].lifetimes.tolist() == both[1].lifetimes.tolist()
assert first_bad_byte(padded(b"ok\\xff"), 0, 3) == 2
print("numba trained", loader.is_ready("train"), flush=True)
main(Path(sys.argv[1]))
"""

USE = """
import hashlib, sys
from pathlib import Path
from bpe import TrainSettings, train
from bpe.kernels import loader
loader.BUILT = Path(sys.argv[1])
from bpe.kernels.encoding import CompiledEncoder
from bpe.samples import load_sample, udhr_languages
from bpe.vocabularies import load_ranks
text = "".join(load_sample(f"udhr-{language.code}") for language in udhr_languages())
digest = hashlib.sha256()
for split in ("gpt2", "cl100k", "llama3", "o200k"):
    for tie_break in ("first-seen", "lowest-ids", "greatest-pair"):
        training = train(text, TrainSettings(num_merges=3_000, split=split, tie_break=tie_break), engine="compiled")
        digest.update(repr(list(training.merges)).encode() + training.lifetimes.tobytes())
chars = train(text, TrainSettings(num_merges=3_000, base="chars"), engine="compiled")
digest.update(repr(list(chars.merges)).encode() + chars.lifetimes.tobytes())
digest.update(CompiledEncoder.from_ranks(load_ranks("cl100k"), "cl100k").record(text.encode()).lifetimes().tobytes())
print(digest.hexdigest())
"""


def run(code, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(not os.environ.get("CI"), reason="building takes a minute: CI does it")
def test_a_rebuilt_library_gives_the_same_results_and_numba_trains_without_it(tmp_path):
    """One test, because numba compiles for most of a minute, here for no machine in particular; once serves both."""
    assert run(STAND_IN_AND_BUILD, str(tmp_path)).splitlines()[0] == "numba trained True"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in BUILT.iterdir()}
    shipped, rebuilt = (json.loads((folder / "kernels.json").read_text()) for folder in (BUILT, tmp_path))
    assert (shipped["sources"], shipped["groups"]) == (rebuilt["sources"], rebuilt["groups"])
    assert run(USE, str(tmp_path)) == run(USE, str(BUILT))
