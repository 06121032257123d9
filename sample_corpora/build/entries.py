"""What a build script hands over: one text, and what the index says of it."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Entry", "index_json", "write"]

CORPORA = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Entry:
    """One sample corpus.

    name           what `bpe.samples.load_sample` is asked for
    language       BCP 47 tag; `mul` for several languages, `zxx` where the text is in none
    language_name  in English
    script         ISO 15924 code
    kind           text, words (a table of word and count) or parallel (one article a line)
    file           below sample_corpora/; a name ending in .xz is compressed
    text           the text itself
    """

    name: str
    title: str
    language: str
    language_name: str
    script: str
    kind: str
    source: str
    licence: str
    file: str
    text: str

    @property
    def data(self) -> bytes:
        """The text in UTF-8, uncompressed."""
        return self.text.encode("utf-8")

    def record(self) -> dict[str, str | int]:
        """Return this corpus' object in index.json. Size and hash are those of the uncompressed text.

        So the hash does not depend on the version of the compressor.
        """
        return {
            "name": self.name,
            "title": self.title,
            "language": self.language,
            "language_name": self.language_name,
            "script": self.script,
            "kind": self.kind,
            "source": self.source,
            "licence": self.licence,
            "num_bytes": len(self.data),
            "sha256": hashlib.sha256(self.data).hexdigest(),
            "file": self.file,
        }


def index_json(entries: Iterable[Entry]) -> str:
    """Return the text of index.json: one object per corpus, sorted by name."""
    records = sorted((entry.record() for entry in entries), key=lambda record: str(record["name"]))
    return json.dumps(records, ensure_ascii=False, indent=1) + "\n"


def write(entry: Entry) -> None:
    """Write the corpus below sample_corpora/, compressed if its file name says so."""
    path = CORPORA / entry.file
    path.parent.mkdir(exist_ok=True)
    data = entry.data
    if path.suffix == ".xz":
        data = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    path.write_bytes(data)
