"""Times the pure Python core: `python benchmarks/core.py TEXT_FILE [--merges N]`, CPU seconds, medians of three.

Training beside the textbook loop on a part of the same text, encoding of a million equal characters, and
histories. Figures of one run are comparable with each other; across machines only their ratios are.
"""

from __future__ import annotations

import argparse
import lzma
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bpe import TrainSettings, train, train_reference
from bpe.pretrained import load_pretrained


def cpu_seconds(work: Callable[[], object], runs: int = 3) -> float:
    """Return the median CPU time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def read(path: Path) -> str:
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == ".xz" else data).decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--merges", type=int, default=8_000)
    options = parser.parse_args()
    text = read(options.file)
    part = text[:100_000]
    print(f"{len(text.encode()) / 1e6:.2f} MB, GPT-2 split, {options.merges:,} merges; CPU seconds, median of 3")
    for rule in ("first-seen", "lowest-ids", "greatest-pair"):
        settings = TrainSettings(num_merges=options.merges, tie_break=rule)
        print(f"  train, {rule:14} {cpu_seconds(lambda settings=settings: train(text, settings)):7.2f}")
    few = TrainSettings(num_merges=50)
    textbook = cpu_seconds(lambda: train_reference(part, few), runs=1) / 50
    fast = cpu_seconds(lambda: train(part, few)) / 50
    print(f"  a merge on 100 kB: textbook {textbook * 1e3:.1f} ms, incremental {fast * 1e3:.1f} ms")

    training = train(text, TrainSettings(num_merges=options.merges))
    print(f"  history of the corpus    {cpu_seconds(lambda: training.history(text)):7.2f}")
    print(f"  history, encoded anew    {cpu_seconds(lambda: training.tokenizer.history(text)):7.2f}")
    print(f"  history under GPT-2      {cpu_seconds(lambda: load_pretrained('gpt2').history(text)):7.2f}")
    print(f"  contest at step 100      {cpu_seconds(lambda: training.contest(100)):7.3f}")
    for char, name in (("a", "letters a"), (" ", "spaces")):
        tokenizer = train(char * 4096, TrainSettings(split="none", num_merges=10)).tokenizer
        seconds = cpu_seconds(lambda tokenizer=tokenizer, char=char: tokenizer.encode(char * 1_000_000))
        print(f"  encode a million {name:9} {seconds:5.2f}")


if __name__ == "__main__":
    main()
