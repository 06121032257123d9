"""Claims on normal forms, emoji, and the way from text to ids and back."""

from __future__ import annotations

import unicodedata

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import GENERATIONS, count, declaration, listed, load, load_ranks, title_of, verdict_of
from bpe.claims.sources import COMMON, RADFORD
from bpe.samples import load_udhr


@claim(
    "alike-is-equal",
    "Two texts that look the same have the same tokens.",
    topic="Unicode",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Unicode", "phrase": "Café naïve"}),
)
def _alike() -> Finding:
    text = load_udhr("vie")[0]
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    rows: tuple[Row, ...] = tuple(
        {"tokenizer": title_of(name), "NFC": count(name, composed), "NFD": count(name, decomposed)}
        for name in GENERATIONS
    )
    parts = [f"{row['NFC']} or {row['NFD']} in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(load(name).encode(composed) == load(name).encode(decomposed) for name in GENERATIONS),
        f"Article 1 in Vietnamese, with accents composed or apart, is {listed(parts)}.",
        rows,
    )


@claim(
    "emoji-one-token",
    "An emoji is one token.",
    topic="Unicode",
    source=COMMON,
    play=Play("quirks", "o200k_base", options={"quirk": "Unicode", "phrase": "👍 👍🏽 🇩🇪 👩‍👩‍👧‍👦"}),
)
def _emoji() -> Finding:
    emoji = {"thumbs up": "👍", "with a skin tone": "👍🏽", "flag": "🇩🇪", "family": "👩‍👩‍👧‍👦"}
    rows: list[Row] = []
    for name, text in emoji.items():
        row: Row = {"emoji": text, "name": name, "code points": len(text)}
        rows.append(row | {title_of(tokenizer): count(tokenizer, text) for tokenizer in GENERATIONS})
    counts = [int(row[title_of(name)]) for row in rows for name in GENERATIONS]
    return Finding(
        verdict_of(number == 1 for number in counts),
        f"{sum(number == 1 for number in counts)} of {len(counts)} are; the others take up to {max(counts)}.",
        tuple(rows),
    )


@claim(
    "strict-inverses",
    "Encoding and decoding are strict inverses of each other.",
    topic="Unicode",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "Unicode", "phrase": "안녕하세요"}),
)
def _inverses() -> Finding:
    texts = list(declaration().values())
    rows: list[Row] = []
    for name in GENERATIONS:
        tokenizer = load_ranks(name)
        kept = sum(tokenizer.decode_bytes(tokenizer.encode(text)) == text.encode() for text in texts)
        partial = sum(not _is_utf8(token) for token in tokenizer.mergeable_ranks)
        rows.append(
            {
                "tokenizer": title_of(name),
                "texts": len(texts),
                "come back": kept,
                "tokens": len(tokenizer.mergeable_ranks),
                "no text alone": partial,
            }
        )
    parts = [f"{row['no text alone']:,} in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of([*(row["come back"] == row["texts"] for row in rows), *(not row["no text alone"] for row in rows)]),
        f"From text to ids and back they are, for all {len(texts)} languages tried. From ids to text and back they are "
        f"not: tokens that hold part of a character decode to U+FFFD, {listed(parts)}.",
        tuple(rows),
    )


def _is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


@claim(
    "nothing-unknown",
    "A tokenizer that starts from bytes meets no unknown character.",
    topic="Unicode",
    source=RADFORD,
    play=Play("tokenize", "gpt2", text="𒀀 ꙮ 🫠 ﷽ ᚠ"),
)
def _nothing_unknown() -> Finding:
    assigned = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Co")]
    text = "".join(assigned)
    rows: list[Row] = []
    for name in GENERATIONS:
        ids = load(name).encode(text)
        rows.append(
            {
                "tokenizer": title_of(name),
                "characters": len(assigned),
                "tokens": len(ids),
                "text comes back": "yes" if load(name).decode_bytes(ids) == text.encode() else "no",
            }
        )
    held = sum(row["text comes back"] == "yes" for row in rows)
    return Finding(
        verdict_of(row["text comes back"] == "yes" for row in rows),
        f"All {len(assigned):,} assigned characters in a row come back from {held} of {len(rows)} tokenizers.",
        tuple(rows),
    )
