"""Times encoding against its peers: `python benchmarks/encode.py FILE [--ranks cl100k] [--runs N]`, CPU seconds.

One process, one thread; the file is cut into documents of some 8 kB at line ends. All engines take turns over all
documents, and their ids are compared first. `list` gives Python lists, `array` numpy arrays; `recorded` keeps the
lifetimes of all boundaries, `copied out` also writes them out; `cold` begins with an empty piece cache each time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Before tokenizers is imported: one thread for everybody.
os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tiktoken
from machine import machine_line, plain_file

from bpe import SPLIT_PATTERNS
from bpe.kernels.encoding import CompiledEncoder
from bpe.vocabularies import load_ranks

DOCUMENT_CHARS = 6_000
RANKS_OF = {"cl100k": "cl100k", "o200k": "o200k", "gpt2": "r50k"}


def documents(text: str) -> list[str]:
    """Cut a text at line ends."""
    found = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + DOCUMENT_CHARS)
        end = len(text) if end < 0 else end + 1
        found.append(text[start:end])
        start = end
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--ranks", choices=list(RANKS_OF), default="cl100k")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()

    texts = documents(plain_file(options.file).read_bytes().decode())
    data = [text.encode() for text in texts]
    num_bytes = sum(map(len, data))
    ranks = load_ranks(RANKS_OF[options.ranks])
    peer = tiktoken.Encoding(
        options.ranks, pat_str=SPLIT_PATTERNS[options.ranks], mergeable_ranks=ranks, special_tokens={}
    )
    encoder = CompiledEncoder.from_ranks(ranks, options.ranks)
    for text in texts:
        if encoder.encode(text) != peer.encode_ordinary(text):
            raise SystemExit("the ids differ")

    cold: list[CompiledEncoder] = []
    every: dict[str, Callable[[], object]] = {
        "tiktoken, list": lambda: [peer.encode_ordinary(text) for text in texts],
        "ours, list": lambda: [encoder.encode(text) for text in texts],
        "ours, list, recorded": lambda: [encoder.record_list(text) for text in texts],
        "ours, array": lambda: [encoder.encode_array(one) for one in data],
        "ours, array, recorded": lambda: [encoder.record(one) for one in data],
        "ours, array, recorded and copied out": lambda: [encoder.record(one).lifetimes() for one in data],
        "ours, cold, array": lambda: [cold[-1].encode_array(one) for one in data],
    }
    times: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(options.runs):
        cold.append(CompiledEncoder.from_ranks(ranks, options.ranks))
        for name, work in every.items():
            start = time.process_time()
            work()
            times[name].append(time.process_time() - start)
        cold.clear()
    print(f"{machine_line()}\n{options.file.name}, {num_bytes:,} bytes in {len(texts):,} documents, {options.ranks}\n")
    print("| engine | MB/s of CPU | x tiktoken |")
    print("|---|---|---|")
    base = statistics.median(times["tiktoken, list"])
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        print(f"| {name} | {num_bytes / 1e6 / middle:.1f} | {base / middle:.2f} |")

    print()
    for unit, text in (("a", "a" * 10**6), ("ab", "ab" * 500_000), ("random letters", random_letters(10**6))):
        start = time.process_time()
        encoder.encode(text)
        print(f"a million of {unit}: {time.process_time() - start:.3f} s")


def random_letters(size: int) -> str:
    import random

    return "".join(random.Random(1).choices("abcdefghijklmnop", k=size))


if __name__ == "__main__":
    main()
