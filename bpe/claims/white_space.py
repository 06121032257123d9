"""Claims on spaces and indentation."""

from __future__ import annotations

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import GENERATIONS, count, cut, cut_rows, listed, load, number, title_of, verdict_of
from bpe.claims.sources import COMMON
from bpe.quirks import indent_with, tokens_of
from bpe.samples import load_sample


@claim(
    "four-spaces",
    "Four spaces are four tokens in GPT-2.",
    topic="white space",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "White space"}),
)
def _four_spaces() -> Finding:
    alone, before = tokens_of(load("gpt2"), "    "), tokens_of(load("gpt2"), "    x")
    only_spaces = sum(token.name.isspace() for token in before)
    return Finding(
        verdict_of([len(alone) == 4, only_spaces == 4]),
        f"Alone they are {len(alone)}; before a word {only_spaces} are left, because the last space joins the word: "
        f"{cut('gpt2', '    x')}.",
        cut_rows(GENERATIONS, ["    ", "    x"]),
    )


@claim(
    "tabs-are-cheaper",
    "Code that is indented with tabs takes fewer tokens than code that is indented with spaces.",
    topic="white space",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "White space", "variant": "tabs"}),
)
def _tabs() -> Finding:
    code = load_sample("python-source")[:40_000]
    spaces, tabs = indent_with(code, "    "), indent_with(code, "\t")
    rows: list[Row] = []
    for name in GENERATIONS:
        with_spaces, with_tabs = count(name, spaces), count(name, tabs)
        change = 100 * (with_tabs / with_spaces - 1)
        rows.append(
            {"tokenizer": title_of(name), "spaces": with_spaces, "tabs": with_tabs, "change in %": round(change, 1)}
        )
    parts = [f"{row['change in %']:+.1f} % in {row['tokenizer']}" for row in rows]
    return Finding(
        verdict_of(number(row, "change in %") < 0 for row in rows),
        f"With tabs for four spaces, the same Python takes {listed(parts)}.",
        tuple(rows),
    )
