"""Claims on how much English a token holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import (
    ENGLISH_SAMPLES,
    GENERATIONS,
    count,
    declaration,
    declaration_counts,
    is_near,
    language_name,
    listed,
    number,
    other_scripts,
    title_of,
    verdict_of,
)
from bpe.claims.sources import COMMON, OPENAI_HELP
from bpe.metrics import words_of, writes_spaces
from bpe.samples import load_sample


def _english_rows(value: Callable[[str, int], float], unit: str) -> tuple[Row, ...]:
    rows: list[Row] = []
    for sample, title in ENGLISH_SAMPLES.items():
        text = load_sample(sample)
        for name in GENERATIONS:
            rows.append({"text": title, "tokenizer": title_of(name), unit: round(value(text, count(name, text)), 2)})
    return tuple(rows)


def _english_ranges(rows: Sequence[Row], column: str) -> str:
    parts = []
    for title in ENGLISH_SAMPLES.values():
        values = [number(row, column) for row in rows if row["text"] == title]
        parts.append(f"{min(values):.2f} to {max(values):.2f} in {title}")
    return listed(parts)


@claim(
    "four-characters",
    "A token of English is about four characters: 3.5 to 4.5.",
    topic="languages",
    source=OPENAI_HELP,
    play=Play("languages", "cl100k_base", options={"measure": "tokens per character"}),
)
def _four_characters() -> Finding:
    unit = "characters a token"
    rows = _english_rows(lambda text, tokens: len(text) / tokens, unit)
    return Finding(
        verdict_of(3.5 <= number(row, unit) <= 4.5 for row in rows),
        f"It is {_english_ranges(rows, unit)}: it depends on the English, more than on the tokenizer.",
        rows,
    )


@claim(
    "tokens-a-word",
    "English takes about 1.3 tokens a word: a hundred tokens are 75 words.",
    topic="languages",
    source=OPENAI_HELP,
    play=Play("languages", "cl100k_base", options={"measure": "fertility"}),
)
def _tokens_a_word() -> Finding:
    unit = "tokens a word"
    rows = _english_rows(lambda text, tokens: tokens / len(text.split()), unit)
    return Finding(
        verdict_of(is_near(number(row, unit), 1.3) for row in rows),
        f"It is {_english_ranges(rows, unit)}, words being what stands between white space.",
        rows,
    )


@claim(
    "window-of-32000",
    "A window of 32,000 tokens holds 24,000 words of English, and perhaps 8,000 of a costly language.",
    topic="languages",
    source=COMMON,
    play=Play("languages", "cl100k_base", language="tam", options={"view": "bill"}),
)
def _window() -> Finding:
    window = 32_000
    spaced = [code for code in other_scripts() if writes_spaces([declaration()[code]])]
    num_words = {code: len(words_of([declaration()[code]])[0]) for code in ["eng", *spaced]}
    genesis = load_sample("kjv-genesis")
    num_genesis = len(words_of([genesis])[0])
    rows: list[Row] = []
    cases = []
    for name in GENERATIONS:
        counts = declaration_counts(name)
        fits = {code: window * words / counts[code] for code, words in num_words.items()}
        least = min(spaced, key=fits.__getitem__)
        english = window * num_genesis / count(name, genesis)
        middle = median(fits[code] for code in spaced)
        cases += [is_near(english, 24_000), is_near(middle, 8_000)]
        rows.append(
            {
                "tokenizer": title_of(name),
                "English words, Genesis": round(english),
                "English words, declaration": round(fits["eng"]),
                "Hindi words": round(fits["hin"]),
                "median of other scripts": round(middle),
                "fewest words": round(fits[least]),
                "in": language_name(least),
            }
        )
    middles = [f"{row['median of other scripts']:,} in {row['tokenizer']}" for row in rows]
    english_range = sorted(int(row["English words, Genesis"]) for row in rows)
    return Finding(
        verdict_of(cases),
        f"Of Genesis in English {english_range[0]:,} to {english_range[-1]:,} words fit. Of the declaration in "
        f"{len(spaced)} languages in other scripts that write spaces, the median is {listed(middles)}; the fewest are "
        f"{min(int(row['fewest words']) for row in rows):,}.",
        tuple(rows),
    )
