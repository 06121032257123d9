"""Runs the tests of the stage's scripts in Node, on payloads made here.

Without Node they are skipped, except where the environment variable CI is set: there they fail.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bpe import MergeRows, TrainSettings, train
from bpe.lifetimes import NEVER, History
from bpe.pretrained import load_pretrained
from ui.stage.payload import StageView, build_payload

TESTS = Path(__file__).parent / "stage"
SMALL = {"num_merges": 60, "min_pair_count": 1}
CASES = {
    "bytes": TrainSettings(**SMALL),
    "no-split": TrainSettings(**SMALL, split="none"),
    "chars": TrainSettings(**SMALL, base="chars"),
    "separate": TrainSettings(**SMALL, base="chars", split="whitespace", end_of_word="separate"),
    "attached": TrainSettings(**SMALL, base="chars", split="whitespace", end_of_word="attached"),
}
TEXT = (
    "low low lower, newest widest\n\tnaïve cafe\u0301 字字字 한국어 한국 "
    "\U0001f469\u200d\U0001f680\U0001f469\u200d\U0001f680 "
    "السلام عليكم क्षेत्र क्षेत्र x\u202ey z\u00a0z end\r\nlow\u3000aaaaaaa aaaaaaa\n"
)


def expectation(history: History, ids_at: dict[int, list[int]], names: dict[int, bytes]) -> dict[str, object]:
    """What Python says of a history: token starts at every step, and ids and their names at some."""
    return {
        "starts": [history.token_offsets(step).tolist() for step in range(history.num_merges + 1)],
        "num_tokens": history.num_tokens.tolist(),
        "ids": {str(step): ids for step, ids in ids_at.items()},
        "names": {str(token): name.hex() for token, name in names.items()},
    }


def write_case(folder: Path, name: str, payload: bytes, expected: dict[str, object]) -> None:
    (folder / f"{name}.bin").write_bytes(payload)
    (folder / f"{name}.json").write_text(json.dumps(expected))


def write_trained(folder: Path, name: str, settings: TrainSettings) -> None:
    training = train(TEXT, settings)
    tokenizer = training.tokenizer
    own = "lowest slow q"  # q was never seen
    views = [StageView(training.history(TEXT)), StageView(tokenizer.history(own), "own")]
    steps = range(training.num_merges + 1)
    ids_at = {step: tokenizer.at_step(step).encode(TEXT) for step in steps}
    names = {token: tokenizer.token_bytes(token) for ids in ids_at.values() for token in ids}
    payload = build_payload(
        views, training.rows, tokenizer.base_names(), num_merges=training.num_merges, step=training.num_merges
    )
    write_case(folder, name, payload, expectation(views[0].history, ids_at, names))


def write_gpt2(folder: Path) -> None:
    """A subset of 50,000 merges, byte ids that are not byte values, and lifetimes of four bytes."""
    tokenizer = load_pretrained("gpt2")
    history = tokenizer.history(TEXT)
    rows = tokenizer.merge_rows(np.unique(history.lifetimes[history.lifetimes < tokenizer.num_merges]))
    payload = build_payload([StageView(history)], rows, tokenizer.base_names(), num_merges=tokenizer.num_merges, step=0)
    ids = tokenizer.encode(TEXT)
    byte_ids = {name: token for token, name in tokenizer.base_names().items() if len(name) == 1}
    # Before any merge each byte is a token.
    ids_at = {tokenizer.num_merges: ids, 0: [byte_ids[bytes([byte])] for byte in TEXT.encode()]}
    expected = expectation(history, ids_at, {token: tokenizer.token_bytes(token) for token in ids})
    expected["starts"] = {
        str(step): history.token_offsets(step).tolist() for step in (0, 100, 1000, 20_000, tokenizer.num_merges)
    }
    del expected["num_tokens"]
    write_case(folder, "gpt2", payload, expected)


def write_without_merges(folder: Path) -> None:
    """Tokens that are named otherwise than the text reads, one of them unknown."""
    text = b"unseen playing"
    history = History(
        text=text,
        offsets=np.array([0, 6, 11, 14]),
        lifetimes=np.full(2, NEVER, dtype=np.int32),
        walls=np.array([True, False]),
        num_merges=0,
        final_ids=np.array([-1, 7, 9]),
    )
    none = np.zeros(0, dtype=np.int64)
    names = {7: b"play", 9: b"##ing"}
    payload = build_payload([StageView(history)], MergeRows(none, none, none, none), names, num_merges=0, step=0)
    write_case(folder, "no-merges", payload, expectation(history, {0: [-1, 7, 9]}, names))


def write_rank_table(folder: Path) -> None:
    """A table of ranks in which a token's parent comes after it, so that the last merge inside is not its own.

    `bca` is of rank 0 and is made from `bc` and `a`, of which `bc` is of rank 1. Rank 2 never acts; it only keeps
    the steps below it from being the last one.
    """
    history = History(
        text=b"bcabc",
        offsets=np.arange(6),
        lifetimes=np.array([1, 1, NEVER, 1], dtype=np.int32),
        walls=np.array([False, False, True, False]),
        num_merges=3,
        final_ids=np.array([256, 257]),
    )
    rows = MergeRows(np.array([0, 1]), np.array([257, 98]), np.array([97, 99]), np.array([256, 257]))
    names = {97: b"a", 98: b"b", 99: b"c"}
    payload = build_payload([StageView(history)], rows, names, num_merges=3, step=0)
    ids_at = {0: [98, 99, 97, 98, 99], 1: [98, 99, 97, 98, 99], 2: [256, 257], 3: [256, 257]}
    write_case(folder, "rank-table", payload, expectation(history, ids_at, {256: b"bca", 257: b"bc"}))


def write_empty(folder: Path) -> None:
    training = train("", TrainSettings(num_merges=5))
    history = training.history("")
    payload = build_payload([StageView(history)], training.rows, {}, num_merges=0, step=0)
    write_case(folder, "empty", payload, expectation(history, {0: []}, {}))


@pytest.fixture(scope="session")
def payload_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("payloads")
    for name, settings in CASES.items():
        write_trained(folder, name, settings)
    write_gpt2(folder)
    write_without_merges(folder)
    write_rank_table(folder)
    write_empty(folder)
    (folder / "text.txt").write_bytes(TEXT.encode())
    return folder


@pytest.mark.parametrize("script", sorted(TESTS.glob("*.test.mjs")), ids=lambda path: path.name)
def test_scripts_in_node(script: Path, payload_folder: Path) -> None:
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("no Node: install nodejs to test the stage's scripts")
        pytest.skip("no Node: the stage's scripts are not tested")
    result = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PAYLOADS": str(payload_folder)},
    )
    report = result.stdout + result.stderr
    assert result.returncode == 0, report
    passed = next(line for line in report.splitlines() if line.startswith("# pass "))
    assert int(passed.removeprefix("# pass ")) > 0, report
