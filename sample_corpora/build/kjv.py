"""The King James Bible (1611/1769), one verse a line, from Debian's `bible-kjv-text`.

The package holds the text in a compressed form of its own; its small reader (`bible` of the package
`bible-kjv`, unpacked but not installed) prints it. Here the references are dropped; a blank line stands
between chapters, and each book starts with its name.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .download import check, debian_package
from .entries import Entry

__all__ = ["build", "layout"]

SHA256 = "6c746c2acc8a34bfded980883ff1701a5d68934a1c853ebf88a07b978fe0ae0e"  # of bible.data
NUM_VERSES = 31_102

# The reader's abbreviations in order, with the names of the books.
BOOKS = dict(
    pair.split("=")
    for line in """\
Ge=Genesis Exo=Exodus Lev=Leviticus Num=Numbers Deu=Deuteronomy Josh=Joshua Jdgs=Judges Ruth=Ruth
1Sm=1_Samuel 2Sm=2_Samuel 1Ki=1_Kings 2Ki=2_Kings 1Chr=1_Chronicles 2Chr=2_Chronicles Ezra=Ezra
Neh=Nehemiah Est=Esther Job=Job Psa=Psalms Prv=Proverbs Eccl=Ecclesiastes SSol=Song_of_Solomon
Isa=Isaiah Jer=Jeremiah Lam=Lamentations Eze=Ezekiel Dan=Daniel Hos=Hosea Joel=Joel Amos=Amos
Obad=Obadiah Jonah=Jonah Mic=Micah Nahum=Nahum Hab=Habakkuk Zep=Zephaniah Hag=Haggai Zec=Zechariah
Mal=Malachi Mat=Matthew Mark=Mark Luke=Luke John=John Acts=Acts Rom=Romans 1Cor=1_Corinthians
2Cor=2_Corinthians Gal=Galatians Eph=Ephesians Phi=Philippians Col=Colossians 1Th=1_Thessalonians
2Th=2_Thessalonians 1Tim=1_Timothy 2Tim=2_Timothy Titus=Titus Phmn=Philemon Heb=Hebrews Jas=James
1Pet=1_Peter 2Pet=2_Peter 1Jn=1_John 2Jn=2_John 3Jn=3_John Jude=Jude Rev=Revelation""".splitlines()
    for pair in line.split()
)
REFERENCE = re.compile(r"(\d?[A-Za-z]+)(\d+):\d+ (.*)")


def layout(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (book, text) from lines such as `Ge1:1 In the beginning ...`, in the order of the books."""
    verses: dict[str, dict[int, list[str]]] = {}
    for line in lines:
        found = REFERENCE.fullmatch(line)
        if found is None:
            raise SystemExit(f"a verse must start with its reference, but the reader printed {line!r}")
        book, chapter, verse = found[1], int(found[2]), re.sub(" +", " ", found[3]).strip()
        verses.setdefault(BOOKS[book].replace("_", " "), {}).setdefault(chapter, []).append(verse)
    for book, chapters in verses.items():
        yield book, "\n\n".join([book, *("\n".join(chapter) for chapter in chapters.values())]) + "\n"


def build(folder: Path) -> list[Entry]:
    """Return Genesis, and the whole Bible."""
    data = debian_package("bible-kjv-text", folder) / "usr/lib"
    check(data / "bible.data", SHA256)
    reader = debian_package("bible-kjv", folder) / "usr/bin/bible"
    printed = subprocess.run(
        [str(reader), "-f", "-p", str(data), "Gen1:1-Rev22:21"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    if len(printed) != NUM_VERSES:
        raise SystemExit(f"the reader must print {NUM_VERSES} verses, but printed {len(printed)}")

    books = dict(layout(printed))
    texts = {
        "kjv-genesis": ("Genesis, King James Version", "texts/kjv-genesis.txt", books["Genesis"]),
        "kjv": ("The Bible, King James Version", "texts/kjv.txt.xz", "\n\n".join(books.values())),
    }
    return [
        Entry(
            name=name,
            title=title,
            language="en",
            language_name="English",
            script="Latn",
            kind="text",
            source="Debian bible-kjv-text 4.38",
            licence="Public domain (Crown rights in the United Kingdom); data file free for any use",
            file=file,
            text=text,
        )
        for name, (title, file, text) in texts.items()
    ]
