"""Times the page Compare without a browser: `python benchmarks/compare.py [TEXT_FILE] [--bytes N]`.

Loading of every real tokenizer and the memory of the process after it; then one text under ten of them: rows, how
they agree, and what is sent to the browser. Wall time, medians of three; of the first row alone too, because that is
what a reader waits for.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bpe.pretrained import load_pretrained
from bpe.samples import load_sample
from ui.choosing import Mine, find, real_names
from ui.compare.compute import compare, row_of
from ui.compare.payload import build_rows


def seconds(work: Callable[[], object], runs: int = 3) -> float:
    """Return the median wall time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_megabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--bytes", type=int, default=100_000)
    options = parser.parse_args()
    text = options.file.read_text(encoding="utf-8") if options.file else load_sample("kjv-genesis") * 20
    text = text.encode()[: options.bytes].decode(errors="ignore")

    names = real_names()
    print(f"loading; {peak_megabytes():.0f} MB before the first")
    for name in names:
        taken = seconds(lambda name=name: load_pretrained(name), runs=1)
        print(f"  {name:16} {taken:6.2f} s   {peak_megabytes():5.0f} MB so far")

    ten = names[:10]
    print(f"{len(text.encode()):,} bytes under {len(ten)} tokenizers; s, median of 3")
    chosen = [find(name, Mine()) for name in ten]
    for one in chosen:
        print(f"  row of {one.name:16} {seconds(lambda one=one: row_of.__wrapped__(text, 'text', one)):6.3f}")
    rows = [row_of(text, "text", one) for one in chosen]
    print(f"  how they agree          {seconds(lambda: compare(text, rows, 0).agreement.jaccard):6.3f}")
    payload = build_rows(text, rows, 0)
    print(f"  packing                 {seconds(lambda: build_rows(text, rows, 0)):6.3f}   {len(payload) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
