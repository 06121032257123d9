"""Claims on integers and long numbers."""

from __future__ import annotations

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import GENERATIONS, count, cut, cut_rows, integers_of, listed, title_of, verdict_of
from bpe.claims.sources import COMMON, MILLIDGE

MILLIDGE_COUNT = 916
"""Single tokens among the first 10,000 integers, as the article counts them."""


@claim(
    "integers-to-521",
    "Every integer from 0 to 521 is one GPT-2 token.",
    topic="digits",
    source=MILLIDGE,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers", "integer": "521"}),
)
def _integers_to_521() -> Finding:
    integers = integers_of("gpt2")
    first = integers.first_split
    assert first is not None
    rows: tuple[Row, ...] = tuple(
        {"integer": number, "tokens": integers.splits[number], "count": int(integers.num_tokens[number])}
        for number in range(517, 527)
    )
    return Finding(
        "true" if first > 521 else "false",
        f"In GPT-2 0 to {first - 1} are single tokens; {first} is {integers.splits[first]}.",
        rows,
    )


@claim(
    "tenth-of-integers",
    "Almost a tenth of the first 10,000 integers are single GPT-2 tokens.",
    topic="digits",
    source=MILLIDGE,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers"}),
)
def _tenth_of_integers() -> Finding:
    singles = {name: integers_of(name).num_single for name in GENERATIONS}
    total = len(integers_of("gpt2").splits)
    share = singles["gpt2"] / total
    rows: tuple[Row, ...] = tuple(
        {"tokenizer": title_of(name), "single tokens": single, "share in %": round(100 * single / total, 2)}
        for name, single in singles.items()
    )
    return Finding(
        "true" if 0.09 <= share < 0.1 else "false",
        f"{singles['gpt2']} of the integers from 0 to {total - 1:,} are, {100 * share:.1f} %. The article counts "
        f"{MILLIDGE_COUNT}.",
        rows,
    )


@claim(
    "380-and-381",
    "380 may be one token and 381 two.",
    topic="digits",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers", "integer": "380"}),
)
def _three_hundred_eighty() -> Finding:
    pairs = {name: (count(name, "380"), count(name, "381")) for name in GENERATIONS}
    last = {name: integers_of(name).first_split for name in GENERATIONS}
    kept = [f"{title_of(name)} from {first}" for name, first in last.items() if first is not None]
    both = sum(pair == (1, 1) for pair in pairs.values())
    return Finding(
        verdict_of(pair == (1, 2) for pair in pairs.values()),
        f"Both are one token in {both} of {len(pairs)}; neighbours first differ later, in {listed(kept)}.",
        cut_rows(GENERATIONS, ["380", "381"]),
    )


@claim(
    "years",
    "1984 and 2024 are one token each, 1985 is 198 + 5 and 2025 is 20 + 25.",
    topic="digits",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers", "integer": "1985"}),
)
def _years() -> Finding:
    said = {"1984": "1984", "2024": "2024", "1985": "198|5", "2025": "20|25"}
    rows: list[Row] = []
    for name in GENERATIONS:
        row: Row = {"tokenizer": title_of(name)}
        row |= {year: cut(name, year) for year in said}
        row["as said"] = sum(row[year] == tokens for year, tokens in said.items())
        rows.append(row)
    parts = [f"{row['as said']} of {len(said)} in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(row["as said"] == len(said) for row in rows),
        f"No one tokenizer does all of it: as said are {listed(parts)}.",
        tuple(rows),
    )


@claim(
    "threes-from-the-left",
    "GPT-4 reads a long number in threes from the left, so 1234567890 becomes 123, 456, 789 and 0.",
    topic="digits",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Numbers", "first": "1234567890", "second": "0"}),
)
def _threes() -> Finding:
    numbers = [str(10**power + 7 * 10 ** (power // 2) + 89) for power in range(4, 24)]
    rows: list[Row] = []
    for name in GENERATIONS:
        held = sum(
            cut(name, number) == "|".join(number[at : at + 3] for at in range(0, len(number), 3)) for number in numbers
        )
        rows.append(
            {
                "tokenizer": title_of(name),
                "1234567890": cut(name, "1234567890"),
                "long numbers tried": len(numbers),
                "in threes from the left": held,
            }
        )
    gpt4 = rows[1]
    return Finding(
        "true"
        if gpt4["1234567890"] == "123|456|789|0" and gpt4["in threes from the left"] == len(numbers)
        else "false",
        f"cl100k does so with {gpt4['in threes from the left']} of {len(numbers)} long numbers, GPT-2 with "
        f"{rows[0]['in threes from the left']}: for cl100k it is a rule of the split pattern, not learned.",
        tuple(rows),
    )


@claim(
    "commas-help",
    "Commas make a tokenizer cut a number at its thousands: 1,234,567 becomes 1, 234 and 567.",
    topic="digits",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers", "first": "1234567", "second": "0"}),
)
def _commas() -> Finding:
    numbers = range(1_000_000, 2_000_000, 997)
    rows: list[Row] = []
    for name in GENERATIONS:
        whole = sum(cut(name, f"{number:,}") == f"{number:,}".replace(",", "|,|") for number in numbers)
        bare = sum(cut(name, str(number)) == f"{number:,}".replace(",", "|") for number in numbers)
        rows.append(
            {
                "tokenizer": title_of(name),
                "1,234,567": cut(name, "1,234,567"),
                "numbers tried": len(numbers),
                "cut at thousands": whole,
                "without commas": bare,
            }
        )
    parts = [f"{row['cut at thousands']:,} in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(row["cut at thousands"] == len(numbers) for row in rows),
        f"Of {len(numbers):,} numbers between one and two millions that holds for {listed(parts)}.",
        tuple(rows),
    )
