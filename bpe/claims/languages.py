"""Claims on what other languages pay."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import (
    GENERATIONS,
    count,
    cut_rows,
    declaration,
    declaration_counts,
    language_name,
    listed,
    other_scripts,
    premium_of,
    title_of,
    verdict_of,
)
from bpe.claims.sources import COMMON, PETROV
from bpe.samples import list_samples, load_sample


@claim(
    "japanese-greeting",
    "A common Japanese greeting, こんにちは, is one token.",
    topic="languages",
    source=COMMON,
    play=Play("tokenize", "cl100k_base", text="こんにちは"),
)
def _japanese_greeting() -> Finding:
    rows = cut_rows(GENERATIONS, ["こんにちは"])
    parts = [f"{row['count']} in {row['tokenizer']}" for row in rows]
    return Finding(verdict_of(row["count"] == 1 for row in rows), f"It is {listed(parts)}.", rows)


@claim(
    "characters-in-other-scripts",
    "In scripts that training saw little of, a token holds only 1 to 1.5 characters.",
    topic="languages",
    source=COMMON,
    play=Play("languages", "cl100k_base", language="hin", options={"measure": "tokens per character"}),
)
def _characters_in_other_scripts() -> Finding:
    codes = other_scripts()
    rows: list[Row] = []
    cases = []
    for name in GENERATIONS:
        counts = declaration_counts(name)
        ratios = [len(declaration()[code]) / counts[code] for code in codes]
        cases += [1 <= ratio <= 1.5 for ratio in ratios]
        rows.append(
            {
                "tokenizer": title_of(name),
                "below 1": sum(ratio < 1 for ratio in ratios),
                "1 to 1.5": sum(1 <= ratio <= 1.5 for ratio in ratios),
                "above 1.5": sum(ratio > 1.5 for ratio in ratios),
                "median": round(median(ratios), 2),
            }
        )
    medians = [f"{row['median']:.2f} in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(cases),
        f"Over the declaration in {len(codes)} languages that do not write Latin, the median is {listed(medians)}: "
        f"{sum(cases)} of {len(cases)} figures lie in that range.",
        tuple(rows),
    )


@claim(
    "pay-two-to-five",
    "Such languages pay two to five times what English pays, and some twelve times and more.",
    topic="languages",
    source=PETROV,
    play=Play("languages", "cl100k_base", language="mya"),
)
def _pay() -> Finding:
    codes = other_scripts()
    rows: list[Row] = []
    cases = []
    for name in GENERATIONS:
        premiums = {code: premium_of(name, code) for code in codes}
        most = max(codes, key=premiums.__getitem__)
        cases += [2 <= premium <= 5 or premium >= 12 for premium in premiums.values()]
        rows.append(
            {
                "tokenizer": title_of(name),
                "below 2": sum(premium < 2 for premium in premiums.values()),
                "2 to 5": sum(2 <= premium <= 5 for premium in premiums.values()),
                "5 to 12": sum(5 < premium < 12 for premium in premiums.values()),
                "12 and more": sum(premium >= 12 for premium in premiums.values()),
                "median": round(median(premiums.values()), 2),
                "highest": round(premiums[most], 1),
                "in": language_name(most),
            }
        )
    parts = [f"{row['median']:.1f} in {row['tokenizer']}" for row in rows]
    highest = [f"{row['highest']:.1f} ({row['in']})" for row in rows]
    return Finding(
        verdict_of(cases),
        f"Over {len(codes)} languages that do not write Latin the median premium is {listed(parts)}; the highest "
        f"is {listed(highest)}.",
        tuple(rows),
    )


@claim(
    "four-languages",
    "Mandarin takes 1.8 times the tokens of English, Japanese 2.1, Korean 2.4, Hindi 3 to 4.",
    topic="languages",
    source=COMMON,
    play=Play("languages", "cl100k_base", language="kor"),
)
def _four_languages() -> Finding:
    said = {"cmn_hans": (1.8, 1.8), "jpn": (2.1, 2.1), "kor": (2.4, 2.4), "hin": (3.0, 4.0)}
    rows: list[Row] = []
    cases = []
    for code, (low, high) in said.items():
        row: Row = {"language": language_name(code), "said": f"{low:g} to {high:g}" if low < high else f"{low:g}"}
        for name in GENERATIONS:
            premium = premium_of(name, code)
            row[title_of(name)] = round(premium, 2)
            cases.append(low * 0.9 <= premium <= high * 1.1)
        rows.append(row)
    return Finding(
        verdict_of(cases),
        f"Within ten per cent of that are {sum(cases)} of {len(cases)} figures: three generations of tokenizers give "
        "three answers.",
        tuple(rows),
    )


@claim(
    "larger-is-shorter",
    "A larger vocabulary never takes more tokens.",
    topic="languages",
    source=COMMON,
    play=Play("compare", "o200k_base"),
)
def _larger_is_shorter() -> Finding:
    samples = [sample for sample in list_samples() if sample.kind != "words" and sample.num_bytes < 1_000_000]
    texts = {sample.title: load_sample(sample.name) for sample in samples} | {"👍": "👍"}
    rows: list[Row] = []
    for smaller, larger in pairwise(GENERATIONS):
        changes = {title: count(larger, text) - count(smaller, text) for title, text in texts.items()}
        longer = [title for title, change in changes.items() if change > 0]
        rows.append(
            {
                "from": title_of(smaller),
                "to": title_of(larger),
                "texts": len(texts),
                "fewer tokens": sum(change < 0 for change in changes.values()),
                "more tokens": len(longer),
                "which": ", ".join(longer) or "none",
            }
        )
    parts = [f"{row['more tokens']} from {row['from']} to {row['to']} ({row['which']})" for row in rows]
    return Finding(
        "true" if not any(row["more tokens"] for row in rows) else "false",
        f"Of {len(texts)} texts, most of them the declaration in as many languages, {listed(parts)} take more: what "
        "counts is which texts the merges were learned from.",
        tuple(rows),
    )
