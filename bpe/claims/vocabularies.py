"""Claims on vocabularies: merge order, strange tokens, size."""

from __future__ import annotations

from bpe.claims.base import Finding, Play, Row, claim
from bpe.claims.helpers import (
    GENERATIONS,
    PROSE_AND_CODE,
    count,
    declaration,
    is_near,
    language_name,
    listed,
    load,
    load_ranks,
    number,
    title_of,
    verdict_of,
)
from bpe.claims.sources import COMMON, META_BLOG, META_PAPER, RUMBELOW
from bpe.greedy import LongestMatch
from bpe.samples import load_sample
from bpe.tokenizer import Tokenizer, TokenizerLike


@claim(
    "order-matters",
    "The same vocabulary with its merges in another order gives other ids.",
    topic="vocabularies",
    source=COMMON,
    play=Play("algorithms", "gpt2", text="unit"),
)
def _order() -> Finding:
    base = Tokenizer.base_of(["unit"], base="chars", split="whitespace")
    i, n, _t, u = (base.encode(char)[0] for char in "intu")
    rows: list[Row] = []
    for merges in (((n, i), (u, n)), ((u, n), (n, i))):
        tokenizer = base.with_merges(merges)
        rows.append({"merges, in order": _merge_names(tokenizer), "unit": _joined(tokenizer, "unit")})
    greedy = LongestMatch(base.with_merges(((n, i), (u, n))))
    by_length = "|".join(greedy.tokenizer.token_bytes(token).decode() for token in greedy.encode("unit"))
    rows.append({"merges, in order": "none: longest match", "unit": by_length})
    return Finding(
        "true" if rows[0]["unit"] != rows[1]["unit"] else "false",
        f"With n+i learned before u+n, unit is {rows[0]['unit']}; the other way round it is {rows[1]['unit']}, as by "
        f"longest match, which knows no order ({by_length}).",
        tuple(rows),
    )


def _merge_names(tokenizer: Tokenizer) -> str:
    name = tokenizer.token_bytes
    return ", ".join(f"{name(left).decode()}+{name(right).decode()}" for left, right in tokenizer.merges)


def _joined(tokenizer: TokenizerLike, text: str) -> str:
    return "|".join(tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text))


@claim(
    "longest-match",
    "Encoding takes the longest token that fits, from left to right.",
    topic="vocabularies",
    source=COMMON,
    play=Play("algorithms", "gpt2", text="unhappily unhappiness"),
)
def _longest_match() -> Finding:
    text = load_sample("kjv-genesis")
    tokenizer = load_ranks("gpt2")
    differences = LongestMatch(tokenizer).differences(text)
    rows: tuple[Row, ...] = tuple(
        {
            "pre-token": difference.pre_token.decode().replace(" ", "·"),
            "times": difference.num_occurrences,
            "by merge rank": "|".join(map(tokenizer.decode, ([token] for token in difference.ranked))).replace(
                " ", "·"
            ),
            "longest first": "|".join(map(tokenizer.decode, ([token] for token in difference.greedy))).replace(
                " ", "·"
            ),
        }
        for difference in differences[:10]
    )
    occurrences = sum(difference.num_occurrences for difference in differences)
    return Finding(
        "true" if not differences else "false",
        f"Merges are replayed by rank. In Genesis {len(differences)} distinct pre-tokens ({occurrences:,} occurrences) "
        "come out otherwise under GPT-2's vocabulary; the rest agrees.",
        rows,
    )


@claim(
    "glitch-strings",
    "Names of strangers on the web, such as SolidGoldMagikarp, are whole tokens of GPT-2.",
    topic="vocabularies",
    source=RUMBELOW,
    play=Play("vocabulary", "gpt2", text=" SolidGoldMagikarp", options={"find": "SolidGoldMagikarp"}),
)
def _glitch() -> Finding:
    strings = (" SolidGoldMagikarp", " petertodd", "StreamerBot", " davidjl")
    rows: list[Row] = []
    for text in strings:
        row: Row = {"text": text.replace(" ", "·"), "GPT-2 id": load("gpt2").encode(text)[0]}
        rows.append(row | {f"tokens in {title_of(name)}": count(name, text) for name in GENERATIONS})
    held = [row["tokens in GPT-2"] == 1 for row in rows]
    later = [sum(row[f"tokens in {title_of(name)}"] == 1 for row in rows) for name in GENERATIONS[1:]]
    return Finding(
        verdict_of(held),
        f"{sum(held)} of {len(strings)} published ones are; of these {later[0]} in cl100k and {later[1]} in o200k. "
        "That a token exists does not say how a model behaves when it meets it.",
        tuple(rows),
    )


@claim(
    "llama3-fifteen-percent",
    "Llama 3's vocabulary of 128,000 takes about 15 % fewer tokens than Llama 2's of 32,000.",
    topic="vocabularies",
    source=META_BLOG,
    play=Play("compare", "llama3"),
)
def _llama3() -> Finding:
    for name in ("llama2", "llama3"):
        load(name)  # says what is missing before any work is done
    texts = {title: load_sample(sample) for sample, title in PROSE_AND_CODE.items()}
    texts |= {f"Declaration, {language_name(code)}": declaration()[code] for code in ("deu", "rus", "hin", "tha")}
    rows: list[Row] = []
    for title, text in texts.items():
        before, after = count("llama2", text), count("llama3", text)
        rows.append(
            {"text": title, "Llama 2": before, "Llama 3": after, "fewer, in %": round(100 - 100 * after / before, 1)}
        )
    parts = [f"{row['fewer, in %']:.0f} % on {row['text']}" for row in rows]
    return Finding(
        verdict_of(10 <= number(row, "fewer, in %") <= 20 for row in rows), f"It saves {listed(parts)}.", tuple(rows)
    )


@claim(
    "llama3-holds-cl100k",
    "Llama 3's vocabulary is 100,000 tokens of GPT-4's and 28,000 more for other languages.",
    topic="vocabularies",
    source=META_PAPER,
    play=Play("compare", "llama3", language="hin"),
)
def _llama3_holds_cl100k() -> Finding:
    theirs, ours = (load_ranks(name).mergeable_ranks for name in ("llama3", "cl100k_base"))
    shared = sum(token in theirs for token in ours)
    added = len(theirs) - shared
    foreign = sum(token not in ours and not token.isascii() for token in theirs)
    return Finding(
        "true" if is_near(shared, 100_000, 0.02) and foreign > added / 2 else "false",
        f"{shared:,} of cl100k's {len(ours):,} tokens are among Llama 3's {len(theirs):,}; of the {added:,} others "
        f"{foreign:,} hold a byte that is not ASCII.",
        (
            {"tokens": "in both", "count": shared},
            {"tokens": "only in cl100k", "count": len(ours) - shared},
            {"tokens": "only in Llama 3", "count": added},
            {"tokens": "of these, not ASCII", "count": foreign},
        ),
    )
