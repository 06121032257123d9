"""Times the page Languages without the page: `python benchmarks/languages.py [--languages N] [--tokenizers A,B,...]`.

The first chart (every language under every tokenizer, vocabularies loaded, nothing counted before), the same
with other articles, each measure, and a parallel upload of 20 files of 1 MB. Wall and CPU seconds of one run: the
first is what a reader waits, the second what it would be on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bpe import TrainSettings
from bpe.metrics import MEASURES
from bpe.parallel import ParallelText, load_parallel, parse_parallel_files
from bpe.pretrained import load_pretrained
from ui.choosing import Mine
from ui.jobs import Job
from ui.languages.compute import Shelf, answer
from ui.languages.contenders import TRAINED_NAMES, find_contender
from ui.languages.question import Question, ask

SETTINGS = TrainSettings(num_merges=1_000, split="o200k")


def report(label: str, work: Callable[[], object]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    print(f"  {label:25}{time.perf_counter() - wall:7.2f}{time.process_time() - cpu:7.2f}")


def question(text: ParallelText, names: list[str], codes: tuple[str, ...], measure: str, units: int) -> Question:
    contenders = tuple(find_contender(name, Mine(), SETTINGS, codes) for name in names)
    return ask(text, codes, codes[0], contenders, tuple(range(units)), (measure,))


def uploads(num_files: int, num_bytes: int) -> dict[str, str]:
    """Return as many files of about this size: the declaration in as many languages, over and over, aligned."""
    text = load_parallel("declaration")
    codes = [language.code for language in text.languages][:num_files]
    mean = sum(len(article.encode()) for code in codes for article in text.units[code]) / num_files
    times = round(num_bytes / mean)
    return {code: "\n".join(article.replace("\n", " ") for article in text.units[code] * times) for code in codes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--languages", type=int, default=45)
    parser.add_argument("--tokenizers", default="gpt2,r50k_base,p50k_base,cl100k_base,o200k_base,raw bytes")
    options = parser.parse_args()
    names = options.tokenizers.split(",")
    text = load_parallel("declaration")
    codes = ("eng", *(code for code in text.units if code != "eng"))[: options.languages]
    for name in names:
        if name != "raw bytes":
            load_pretrained(name)

    shelf = Shelf()
    print(f"{len(codes)} languages, {len(names)} tokenizers; wall and CPU seconds")
    first = question(text, names, codes, "premium", 30)
    report("first chart", lambda: answer(first, Job(""), shelf))
    fewer = question(text, names, codes, "premium", 15)
    report("other articles", lambda: answer(fewer, Job(""), shelf))
    for measure in list(MEASURES)[1:]:
        asked = question(text, names, codes, measure, 30)
        report(measure, lambda asked=asked: answer(asked, Job(""), shelf))
    trained = question(text, list(TRAINED_NAMES), codes, "premium", 30)
    report("three trained here", lambda: answer(trained, Job(""), shelf))

    files = uploads(20, 1_000_000)
    num_bytes = sum(len(content.encode()) for content in files.values())
    parsed: list[ParallelText] = []
    print(f"upload of {len(files)} files, {num_bytes / 1e6:.1f} MB")
    report("read and aligned", lambda: parsed.append(parse_parallel_files(files)))
    (own,) = parsed
    asked = question(own, ["o200k_base", "cl100k_base", "gpt2"], tuple(own.units), "premium", own.num_units)
    report("three tokenizers", lambda: answer(asked, Job(""), Shelf()))


if __name__ == "__main__":
    main()
