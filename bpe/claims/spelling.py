"""Claims on words and their letters."""

from __future__ import annotations

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import (
    GENERATIONS,
    count,
    cut,
    cut_rows,
    listed,
    load,
    number,
    title_of,
    verdict_of,
)
from bpe.claims.sources import COMMON
from bpe.samples import load_sample, load_udhr


@claim(
    "strawberry-hidden",
    "Inside a sentence strawberry is one GPT-2 token; alone it is str, aw, berry in GPT-4's cl100k.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Spelling", "word": "strawberry"}),
)
def _strawberry() -> Finding:
    inside, alone = cut("gpt2", " strawberry"), cut("cl100k_base", "strawberry")
    return Finding(
        verdict_of([inside == "·strawberry" and count("gpt2", " strawberry") == 1, alone == "str|aw|berry"]),
        f"After a space it is {inside} in GPT-2, with one id; cl100k cuts the bare word {alone}.",
        cut_rows(GENERATIONS, [" strawberry", "strawberry"]),
    )


@claim(
    "because-both-ways",
    "The word because is one token, with a space before it and without.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "White space", "spaced": "because"}),
)
def _because() -> Finding:
    rows = cut_rows(GENERATIONS, ["because", " because"])
    cases = [row["count"] == 1 for row in rows]
    return Finding(
        verdict_of(cases), f"It is in {sum(cases)} of {len(cases)} cases, with another id after the space.", rows
    )


@claim(
    "supercalifragilistic",
    "The word supercalifragilistic is six or seven tokens.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Spelling", "word": "supercalifragilistic", "letter": "i"}),
)
def _supercalifragilistic() -> Finding:
    rows = cut_rows(GENERATIONS, ["supercalifragilistic"])
    parts = [f"{row['count']} in {row['tokenizer']}" for row in rows]
    return Finding(verdict_of(row["count"] in (6, 7) for row in rows), f"It is {listed(parts)}.", rows)


@claim(
    "quadratic-seven",
    "The question “What is a quadratic equation?” is seven tokens.",
    topic="spelling",
    source=COMMON,
    play=Play("tokenize", "cl100k_base", text="What is a quadratic equation?"),
)
def _quadratic() -> Finding:
    rows = cut_rows(GENERATIONS, ["What is a quadratic equation?"])
    parts = [f"{row['count']} in {row['tokenizer']}" for row in rows]
    return Finding(verdict_of(row["count"] == 7 for row in rows), f"It is {listed(parts)}.", rows)


@claim(
    "capitals-cost",
    "A text in capital letters takes more tokens than the same text in small ones.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Case and spelling"}),
)
def _capitals() -> Finding:
    text = load_sample("udhr-eng")
    rows: list[Row] = []
    for name in GENERATIONS:
        small, large = count(name, text.lower()), count(name, text.upper())
        rows.append({"tokenizer": title_of(name), "small": small, "capitals": large, "ratio": round(large / small, 2)})
    ratios = [f"{row['ratio']:.2f} times in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(number(row, "ratio") > 1 for row in rows),
        f"The declaration in capitals takes {listed(ratios)} what it takes in small letters.",
        tuple(rows),
    )


@claim(
    "parts-add-up",
    "The tokens of a text are the tokens of its two halves, one after the other.",
    topic="spelling",
    source=COMMON,
    play=Play("tokenize", "gpt2", text="straw berry strawberry  strawberry"),
)
def _parts() -> Finding:
    text = load_udhr("eng")[0]
    rows: list[Row] = []
    for name in GENERATIONS:
        encode = load(name).encode
        whole = encode(text)
        kept = sum(encode(text[:at]) + encode(text[at:]) == whole for at in range(1, len(text)))
        rows.append(
            {
                "tokenizer": title_of(name),
                "places to cut": len(text) - 1,
                "ends of tokens": len(whole) - 1,
                "tokens stay the same": kept,
            }
        )
    held = [f"{row['tokens stay the same']} of {row['places to cut']} in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(row["tokens stay the same"] == row["places to cut"] for row in rows),
        f"Of the places where Article 1 can be cut in two, that holds at {listed(held)}: it can only hold where a "
        "token ends.",
        tuple(rows),
    )
