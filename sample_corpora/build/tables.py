"""The word tables of textbooks on byte-pair encoding: `word<TAB>count` a line."""

from __future__ import annotations

from .entries import Entry

__all__ = ["build"]

TABLES = {
    "lowest": (
        "low, lower, newest, widest",
        {"low": 5, "lower": 2, "newest": 6, "widest": 3},
        "Sennrich, Haddow and Birch 2016, arXiv 1508.07909 (the toy corpus of its listing)",
    ),
    "low-look": (
        "low, look",
        {"low": 3, "look": 2},
        "Written for this project",
    ),
    "hug-pug": (
        "hug, pug, pun, bun, hugs",
        {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5},
        "The worked example of the Hugging Face NLP course, chapter 6",
    ),
}


def build() -> list[Entry]:
    """Return the word tables, lines in the order that makes the textbook's merges."""
    return [
        Entry(
            name=name,
            title=f"Word table: {words}",
            language="en",
            language_name="English",
            script="Latn",
            kind="words",
            source=source,
            licence="Not protected: a list of words and numbers",
            file=f"words/{name}.tsv",
            text="".join(f"{word}\t{count}\n" for word, count in counts.items()),
        )
        for name, (words, counts, source) in TABLES.items()
    ]
