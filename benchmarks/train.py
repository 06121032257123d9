"""Times training against its peers: `python benchmarks/train.py FILE [--vocab-size N ...] [--engines NAME ...]`.

Every run is a process of its own, and engines take turns: run 1 of each, run 2 of each, and so on. The clock starts
when the engine is imported and its kernels are loaded, and stops when the merges are there: reading the file,
splitting, counting and merging are in it. Ours also records the history of every boundary and the ties.

    ours-lowest-ids, ours-first-seen, ours-greatest-pair     this package, by tie rule
    ours-workers                                             lowest-ids, counting on two processes
    gigabpe, rustbpe, tokenizers                             peers (requirements-bench.txt)

`--count` times counting alone, per split pattern: of the file, and of texts in one script each, made of a sample of
the project by repetition. `--repeat N` first writes the file N times into a larger one, for what does not fit into
memory. Peak memory is that of the process; with workers, theirs are added up beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import ChildrenPeak, machine_line, medians, peak_megabytes, plain_file, run_child

Task = TypeVar("Task")

SPLITS = ("gpt2", "cl100k", "llama3", "o200k")
SCRIPTS = ("rus", "cmn_hans", "jpn", "hin", "tha")
"""Texts in one script: Cyrillic, Chinese, Japanese, Devanagari, Thai."""
SCRIPT_BYTES = 50_000_000

OURS = ("ours-lowest-ids", "ours-first-seen", "ours-greatest-pair")
PEERS = ("gigabpe", "rustbpe", "tokenizers")
BASELINE = "ours-lowest-ids"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--vocab-size", type=int, nargs="+", default=[1_000, 32_000])
    parser.add_argument("--engines", nargs="+", default=[*OURS, *PEERS], metavar="NAME")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--count", nargs="*", metavar="SPLIT", help="time counting only")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(run_one(options.child, str(options.file), options.vocab_size[0])))
        return

    path = repeated(plain_file(options.file), options.repeat)
    print(f"{machine_line()}\n{path.name}, {path.stat().st_size:,} bytes, medians of {options.runs}\n")
    if options.count is not None:
        files = [path, *map(script_file, SCRIPTS)]
        tasks = [(f"count-{split}", file) for split in options.count or SPLITS for file in files]
        counted = take_turns(tasks, options.runs, lambda task: run_child(__file__, str(task[1]), "--child", task[0]))
        print_counts(counted)
        return
    trainings = [(engine, size) for size in options.vocab_size for engine in options.engines]
    print_trainings(
        take_turns(
            trainings,
            options.runs,
            lambda task: run_child(__file__, str(path), "--child", task[0], "--vocab-size", str(task[1])),
        )
    )


def take_turns(
    tasks: Sequence[Task], num_runs: int, run: Callable[[Task], dict[str, float]]
) -> dict[Task, dict[str, float]]:
    """Run every task, then every task again, and so on; return the medians of each."""
    results: dict[Task, list[dict[str, float]]] = {task: [] for task in tasks}
    for _ in range(num_runs):
        for task in tasks:
            results[task].append(run(task))
    return {task: medians(runs) for task, runs in results.items()}


def script_file(code: str) -> Path:
    """Return a file of SCRIPT_BYTES in one script: a sample of the project, again and again."""
    from bpe.samples import load_sample

    target = Path(tempfile.gettempdir()) / f"script-{code}.txt"
    if not target.exists():
        sample = load_sample(f"udhr-{code}").encode()
        target.write_bytes(sample * (SCRIPT_BYTES // len(sample)))
    return target


def repeated(path: Path, times: int) -> Path:
    """Return a file that holds another one several times, made once."""
    if times == 1:
        return path
    target = path.with_name(f"{path.stem}-x{times}.txt")
    if not target.exists():
        with target.open("wb") as file:
            for _ in range(times):
                file.write(path.read_bytes())
    return target


def print_trainings(rows: dict[tuple[str, int], dict[str, float]]) -> None:
    print("| vocabulary | engine | wall s | CPU s | of ours | peak MB | of workers | merges |")
    print("|---|---|---|---|---|---|---|---|")
    for (engine, size), row in rows.items():
        ours = rows.get((BASELINE, size), row)
        print(
            f"| {size:,} | {engine} | {row['wall']:.3f} | {row['cpu']:.3f} | {row['wall'] / ours['wall']:.2f} | "
            f"{row['peak']:.0f} | {row['children']:.0f} | {row['merges']:,.0f} |"
        )


def print_counts(rows: dict[tuple[str, Path], dict[str, float]]) -> None:
    print("| pattern | text | wall s | MB/s | MB/s of CPU | peak MB | distinct |")
    print("|---|---|---|---|---|---|---|")
    for (engine, file), row in rows.items():
        pattern = engine.removeprefix("count-")
        num_bytes = file.stat().st_size
        print(
            f"| {pattern} | {file.stem} | {row['wall']:.3f} | {num_bytes / 1e6 / row['wall']:.0f} | "
            f"{num_bytes / 1e6 / row['cpu']:.0f} | {row['peak']:.0f} | {row['merges']:,.0f} |"
        )


# ---------------------------------------------------------------------------------------------- one run


def run_one(engine: str, path: str, vocab_size: int) -> dict[str, float]:
    """Prepare an engine, time it, and return its figures."""
    if engine.startswith(("ours-", "count-")):
        work = ours(engine, path, vocab_size)
    else:
        work = {"gigabpe": gigabpe, "rustbpe": rustbpe, "tokenizers": tokenizers}[engine](path, vocab_size)
    with ChildrenPeak() if engine == "ours-workers" else nullcontext() as children:
        wall, cpu = time.perf_counter(), cpu_seconds()
        num_merges = work()
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    return {
        "wall": wall,
        "cpu": cpu,
        "peak": peak_megabytes(),
        "children": children.megabytes() if children else 0.0,
        "merges": num_merges,
    }


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started and that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def ours(engine: str, path: str, vocab_size: int) -> Callable[[], int]:
    from bpe import TrainSettings, train_files
    from bpe.counting_files import count_files
    from bpe.kernels import load
    from bpe.kernels.classes import class_table

    load("count")
    load("train")
    if engine.startswith("count-"):
        split = engine.removeprefix("count-")
        class_table("regex", split == "o200k")
        return lambda: len(count_files([path], split, compiled=True))
    workers = 2 if engine == "ours-workers" else 1
    rule = "lowest-ids" if engine == "ours-workers" else engine.removeprefix("ours-")
    settings = TrainSettings(vocab_size=vocab_size, tie_break=rule, min_pair_count=1)
    return lambda: train_files([path], settings, workers=workers, engine="compiled").num_merges


def gigabpe(path: str, vocab_size: int) -> Callable[[], int]:
    import gigabpe

    # It takes only bytes that occur as base tokens: ask for as many merges as the others learn.
    size = vocab_size - 256 + len(set(Path(path).read_bytes()))
    return lambda: len(gigabpe.train_bpe([path], size, special_tokens=[], pretokenizer="bytelevel")[1])


def rustbpe(path: str, vocab_size: int) -> Callable[[], int]:
    import rustbpe

    from bpe import SPLIT_PATTERNS

    tokenizer = rustbpe.Tokenizer()

    def work() -> int:
        with open(path, encoding="utf-8", newline="") as lines:
            blocks = iter(lambda: "".join(lines.readlines(1 << 16)), "")
            tokenizer.train_from_iterator(blocks, vocab_size=vocab_size, pattern=SPLIT_PATTERNS["gpt2"])
        return len(tokenizer.get_mergeable_ranks()) - 256

    return work


def tokenizers(path: str, vocab_size: int) -> Callable[[], int]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )

    def work() -> int:
        tokenizer.train([path], trainer)
        return tokenizer.get_vocab_size() - 256

    return work


if __name__ == "__main__":
    main()
