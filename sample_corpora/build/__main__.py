"""Make the sample corpora and their index again: `python -m sample_corpora.build`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from . import generated, interface, kjv, python_source, tables, udhr, written
from .entries import CORPORA, Entry, index_json, write


def build_all(folder: Path) -> list[Entry]:
    """Return every corpus; downloads go to `folder` and are not fetched again if they are there."""
    return [
        *udhr.build(folder),
        *kjv.build(folder),
        *python_source.build(folder),
        *interface.build(folder),
        *tables.build(),
        *generated.build(),
        *written.build(),
    ]


def main() -> None:
    """Write all files, or compare with those that are there."""
    parser = argparse.ArgumentParser(prog="python -m sample_corpora.build", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the index would differ")
    parser.add_argument("--downloads", type=Path, help="keep the downloaded packages in this folder")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        folder = (arguments.downloads or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        entries = build_all(folder)

    index = index_json(entries)
    path = CORPORA / "index.json"
    if arguments.check:
        if path.read_text(encoding="utf-8") != index:
            raise SystemExit("index.json differs from what the sources give")
        print(f"{len(entries)} corpora: index.json is what the sources give")
        return
    for entry in entries:
        write(entry)
    path.write_text(index, encoding="utf-8", newline="\n")
    print(f"{len(entries)} corpora written")


if __name__ == "__main__":
    main()
