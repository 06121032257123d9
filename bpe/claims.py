"""What is said about tokens, checked: each claim with its source and a function that computes what holds.

A claim is data. To add one, write a function that returns a `Finding` and put `@_claim(...)` on it:

    @_claim("emoji-one-token", "An emoji is one token.", source=COMMON, topic="other scripts",
            play=Play("tokenize", "gpt2", text="👍"))
    def _() -> Finding: ...

A verdict is `true` or `false` where the computation leaves no choice, and `depends` where it holds for some
tokenizers or texts and not for others; the answer then says for which. Nothing is looked up: a figure that is
not in the claim itself comes from the tokenizers and the sample texts. Claims on tokenizers that are not to be
had here raise `UnavailableError`, which says what is missing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from statistics import median
from types import MappingProxyType
from typing import Literal

from bpe.errors import SettingsError, UnavailableError
from bpe.greedy import LongestMatch
from bpe.metrics import words_of, writes_spaces
from bpe.pretrained import load_pretrained, pretrained_names
from bpe.quirks import Integers, indent_with, integers_under, tokens_of
from bpe.rank_tokenizer import RankTokenizer
from bpe.samples import list_samples, load_sample, load_udhr, udhr_languages
from bpe.tokenizer import Tokenizer, TokenizerLike

__all__ = ["CLAIMS", "Claim", "Finding", "Play", "Verdict", "find_claim"]

Verdict = Literal["true", "false", "depends"]
Cell = str | int | float
Row = dict[str, Cell]

COMMON = "Often told in articles that explain tokens"
MILLIDGE = "Beren Millidge (2023), Integer tokenization is insane, beren.io"
OPENAI_HELP = "OpenAI Help Center, What are tokens and how to count them?"
META_BLOG = "Meta (2024), Introducing Meta Llama 3, ai.meta.com/blog/meta-llama-3"
META_PAPER = "Grattafiori et al. (2024), The Llama 3 Herd of Models, arXiv 2407.21783"
RUMBELOW = "Rumbelow and Watkins (2023), SolidGoldMagikarp (plus, prompt generation), lesswrong.com"
PETROV = "Petrov et al. (2023), Language Model Tokenizers Introduce Unfairness Between Languages, arXiv 2305.15425"
RADFORD = "Radford et al. (2019), Language Models are Unsupervised Multitask Learners"

GENERATIONS = ("gpt2", "cl100k_base", "o200k_base")
"""Three generations of one publisher's tokenizers: GPT-2, GPT-4, GPT-4o."""


@dataclass(frozen=True)
class Finding:
    """What holds.

    answer  one sentence with the figures that decided
    rows    the figures behind it, each row column -> value; token boundaries are bars, spaces are dots
    """

    verdict: Verdict
    answer: str
    rows: tuple[Mapping[str, Cell], ...]


@dataclass(frozen=True)
class Play:
    """Where a reader can play with a claim: a page by its name in the story, and what it opens on.

    text      what to look at; without it, the first article of the declaration in `language`
    options   further choices on that page, as they stand in its links
    """

    page: str
    tokenizer: str = ""
    text: str = ""
    language: str = "eng"
    options: Mapping[str, str] = field(default_factory=dict)

    def opens_on(self) -> str:
        """Return the text to look at."""
        return self.text or load_udhr(self.language)[0]


@dataclass(frozen=True)
class Claim:
    """A claim, in our own words.

    name    for links;  topic  what it is about;  source  who says so
    check   computes what holds; seconds at most, most of it for vocabularies that are not in memory yet
    """

    name: str
    text: str
    topic: str
    source: str
    play: Play
    check: Callable[[], Finding]


_REGISTRY: dict[str, Claim] = {}

CLAIMS: Mapping[str, Claim] = MappingProxyType(_REGISTRY)
"""Name -> claim, in the order in which they are shown."""


def _claim(
    name: str, text: str, *, topic: str, source: str, play: Play
) -> Callable[[Callable[[], Finding]], Callable[[], Finding]]:
    def register(check: Callable[[], Finding]) -> Callable[[], Finding]:
        assert name not in _REGISTRY, name
        _REGISTRY[name] = Claim(name, text, topic, source, play, check)
        return check

    return register


def find_claim(name: str) -> Claim:
    """Return a claim by name.

    Raises:
        SettingsError: there is no such claim.

    >>> find_claim("integers-to-521").check().answer
    'In GPT-2 0 to 520 are single tokens; 521 is 5|21.'
    """
    if name not in _REGISTRY:
        raise SettingsError(f"a claim must be one of {', '.join(_REGISTRY)}, but is {name[:60]!r}")
    return _REGISTRY[name]


# ---------------------------------------------------------------------------------------------- helpers


def _load(name: str) -> TokenizerLike:
    """Return a real tokenizer, or say that this claim needs it.

    Raises:
        UnavailableError: it is not to be had here.
    """
    if name not in pretrained_names():
        raise UnavailableError(f"this needs the tokenizer {name}, which this version of the app does not know")
    return load_pretrained(name)


def _load_ranks(name: str) -> RankTokenizer:
    """Return one of the byte-level tokenizers, whose tokens can be gone through."""
    tokenizer = _load(name)
    assert isinstance(tokenizer, RankTokenizer), name
    return tokenizer


def _verdict(cases: Iterable[bool]) -> Verdict:
    """True if every case holds, false if none does."""
    held = list(cases)
    if all(held):
        return "true"
    return "depends" if any(held) else "false"


def _cut(name: str, text: str) -> str:
    """Return the tokens of a text with bars between them; spaces as dots, part of a character as bytes."""
    tokenizer = _load(name)
    names = [tokenizer.token_bytes(token).decode("utf-8", "backslashreplace") for token in tokenizer.encode(text)]
    return "|".join(names).replace(" ", "·")


def _count(name: str, text: str) -> int:
    return len(_load(name).encode(text))


def _title(name: str) -> str:
    return {"gpt2": "GPT-2", "cl100k_base": "cl100k", "o200k_base": "o200k"}.get(name, name)


def _cut_rows(names: Iterable[str], texts: Iterable[str]) -> tuple[Row, ...]:
    """Return one row for each text and tokenizer: the text, its tokens and their number."""
    names = list(names)
    return tuple(
        {
            "text": text.replace(" ", "·"),
            "tokenizer": _title(name),
            "tokens": _cut(name, text),
            "count": _count(name, text),
        }
        for text in texts
        for name in names
    )


def _number(row: Mapping[str, Cell], column: str) -> float:
    return float(row[column])


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else "none"


def _is_near(value: float, said: float, tolerance: float = 0.1) -> bool:
    """Whether a figure is within ten per cent of what was said."""
    return abs(value / said - 1) <= tolerance


@lru_cache(maxsize=8)
def _integers(name: str) -> Integers:
    return integers_under(_load(name))


@lru_cache(maxsize=1)
def _declaration() -> dict[str, str]:
    """Return the Universal Declaration of Human Rights by language code."""
    return {language.code: "\n".join(load_udhr(language.code)) for language in udhr_languages()}


@lru_cache(maxsize=16)
def _declaration_counts(name: str) -> dict[str, int]:
    """Return the tokens of the declaration by language code."""
    tokenizer = _load(name)
    return {code: len(tokenizer.encode(text)) for code, text in _declaration().items()}


def _premium(name: str, code: str) -> float:
    """Return tokens of the declaration in a language for one token of the English."""
    counts = _declaration_counts(name)
    return counts[code] / counts["eng"]


def _other_scripts() -> list[str]:
    return [language.code for language in udhr_languages() if language.script != "Latn"]


def _language_name(code: str) -> str:
    return next(language.name for language in udhr_languages() if language.code == code)


MILLIDGE_COUNT = 916

ENGLISH_SAMPLES = {"udhr-eng": "Declaration of Human Rights", "kjv-genesis": "Genesis, King James"}
PROSE_AND_CODE = {**ENGLISH_SAMPLES, "python-source": "Python source"}


# ---------------------------------------------------------------------------------------------- spelling


@_claim(
    "strawberry-hidden",
    "Inside a sentence strawberry is one GPT-2 token; alone it is str, aw, berry in GPT-4's cl100k.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Spelling", "word": "strawberry"}),
)
def _strawberry() -> Finding:
    inside, alone = _cut("gpt2", " strawberry"), _cut("cl100k_base", "strawberry")
    return Finding(
        _verdict([inside == "·strawberry" and _count("gpt2", " strawberry") == 1, alone == "str|aw|berry"]),
        f"After a space it is {inside} in GPT-2, with one id; cl100k cuts the bare word {alone}.",
        _cut_rows(GENERATIONS, [" strawberry", "strawberry"]),
    )


@_claim(
    "because-both-ways",
    "The word because is one token, with a space before it and without.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "White space", "spaced": "because"}),
)
def _because() -> Finding:
    rows = _cut_rows(GENERATIONS, ["because", " because"])
    cases = [row["count"] == 1 for row in rows]
    return Finding(
        _verdict(cases), f"It is in {sum(cases)} of {len(cases)} cases, with another id after the space.", rows
    )


@_claim(
    "supercalifragilistic",
    "The word supercalifragilistic is six or seven tokens.",
    topic="spelling",
    source=COMMON,
    play=Play("quirks", "cl100k_base", options={"quirk": "Spelling", "word": "supercalifragilistic", "letter": "i"}),
)
def _supercalifragilistic() -> Finding:
    rows = _cut_rows(GENERATIONS, ["supercalifragilistic"])
    parts = [f"{row['count']} in {row['tokenizer']}" for row in rows]
    return Finding(_verdict(row["count"] in (6, 7) for row in rows), f"It is {_listed(parts)}.", rows)


@_claim(
    "quadratic-seven",
    "The question “What is a quadratic equation?” is seven tokens.",
    topic="spelling",
    source=COMMON,
    play=Play("tokenize", "cl100k_base", text="What is a quadratic equation?"),
)
def _quadratic() -> Finding:
    rows = _cut_rows(GENERATIONS, ["What is a quadratic equation?"])
    parts = [f"{row['count']} in {row['tokenizer']}" for row in rows]
    return Finding(_verdict(row["count"] == 7 for row in rows), f"It is {_listed(parts)}.", rows)


@_claim(
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
        small, large = _count(name, text.lower()), _count(name, text.upper())
        rows.append({"tokenizer": _title(name), "small": small, "capitals": large, "ratio": round(large / small, 2)})
    ratios = [f"{row['ratio']:.2f} times in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(_number(row, "ratio") > 1 for row in rows),
        f"The declaration in capitals takes {_listed(ratios)} what it takes in small letters.",
        tuple(rows),
    )


@_claim(
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
        encode = _load(name).encode
        whole = encode(text)
        kept = sum(encode(text[:cut]) + encode(text[cut:]) == whole for cut in range(1, len(text)))
        rows.append(
            {
                "tokenizer": _title(name),
                "places to cut": len(text) - 1,
                "ends of tokens": len(whole) - 1,
                "tokens stay the same": kept,
            }
        )
    held = [f"{row['tokens stay the same']} of {row['places to cut']} in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(row["tokens stay the same"] == row["places to cut"] for row in rows),
        f"Of the places where Article 1 can be cut in two, that holds at {_listed(held)}: it can only hold where a "
        "token ends.",
        tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- digits


@_claim(
    "integers-to-521",
    "Every integer from 0 to 521 is one GPT-2 token.",
    topic="digits",
    source=MILLIDGE,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers", "integer": "521"}),
)
def _integers_to_521() -> Finding:
    integers = _integers("gpt2")
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


@_claim(
    "tenth-of-integers",
    "Almost a tenth of the first 10,000 integers are single GPT-2 tokens.",
    topic="digits",
    source=MILLIDGE,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers"}),
)
def _tenth_of_integers() -> Finding:
    singles = {name: _integers(name).num_single for name in GENERATIONS}
    total = len(_integers("gpt2").splits)
    share = singles["gpt2"] / total
    rows: tuple[Row, ...] = tuple(
        {"tokenizer": _title(name), "single tokens": single, "share in %": round(100 * single / total, 2)}
        for name, single in singles.items()
    )
    return Finding(
        "true" if 0.09 <= share < 0.1 else "false",
        f"{singles['gpt2']} of the integers from 0 to {total - 1:,} are, {100 * share:.1f} %. The article counts "
        f"{MILLIDGE_COUNT}.",
        rows,
    )


@_claim(
    "380-and-381",
    "380 may be one token and 381 two.",
    topic="digits",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "Numbers", "integer": "380"}),
)
def _three_hundred_eighty() -> Finding:
    pairs = {name: (_count(name, "380"), _count(name, "381")) for name in GENERATIONS}
    last = {name: _integers(name).first_split for name in GENERATIONS}
    kept = [f"{_title(name)} from {first}" for name, first in last.items() if first is not None]
    both = sum(pair == (1, 1) for pair in pairs.values())
    return Finding(
        _verdict(pair == (1, 2) for pair in pairs.values()),
        f"Both are one token in {both} of {len(pairs)}; neighbours first differ later, in {_listed(kept)}.",
        _cut_rows(GENERATIONS, ["380", "381"]),
    )


@_claim(
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
        row: Row = {"tokenizer": _title(name)}
        row |= {year: _cut(name, year) for year in said}
        row["as said"] = sum(row[year] == cut for year, cut in said.items())
        rows.append(row)
    parts = [f"{row['as said']} of {len(said)} in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(row["as said"] == len(said) for row in rows),
        f"No one tokenizer does all of it: as said are {_listed(parts)}.",
        tuple(rows),
    )


@_claim(
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
            _cut(name, number) == "|".join(number[at : at + 3] for at in range(0, len(number), 3)) for number in numbers
        )
        rows.append(
            {
                "tokenizer": _title(name),
                "1234567890": _cut(name, "1234567890"),
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


@_claim(
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
        whole = sum(_cut(name, f"{number:,}") == f"{number:,}".replace(",", "|,|") for number in numbers)
        bare = sum(_cut(name, str(number)) == f"{number:,}".replace(",", "|") for number in numbers)
        rows.append(
            {
                "tokenizer": _title(name),
                "1,234,567": _cut(name, "1,234,567"),
                "numbers tried": len(numbers),
                "cut at thousands": whole,
                "without commas": bare,
            }
        )
    parts = [f"{row['cut at thousands']:,} in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(row["cut at thousands"] == len(numbers) for row in rows),
        f"Of {len(numbers):,} numbers between one and two millions that holds for {_listed(parts)}.",
        tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- white space


@_claim(
    "four-spaces",
    "Four spaces are four tokens in GPT-2.",
    topic="white space",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "White space"}),
)
def _four_spaces() -> Finding:
    alone, before = tokens_of(_load("gpt2"), "    "), tokens_of(_load("gpt2"), "    x")
    only_spaces = sum(token.name.isspace() for token in before)
    return Finding(
        _verdict([len(alone) == 4, only_spaces == 4]),
        f"Alone they are {len(alone)}; before a word {only_spaces} are left, because the last space joins the word: "
        f"{_cut('gpt2', '    x')}.",
        _cut_rows(GENERATIONS, ["    ", "    x"]),
    )


@_claim(
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
        with_spaces, with_tabs = _count(name, spaces), _count(name, tabs)
        change = 100 * (with_tabs / with_spaces - 1)
        rows.append(
            {"tokenizer": _title(name), "spaces": with_spaces, "tabs": with_tabs, "change in %": round(change, 1)}
        )
    parts = [f"{row['change in %']:+.1f} % in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(_number(row, "change in %") < 0 for row in rows),
        f"With tabs for four spaces, the same Python takes {_listed(parts)}.",
        tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- English


def _english_rows(value: Callable[[str, int], float], unit: str) -> tuple[Row, ...]:
    rows: list[Row] = []
    for sample, title in ENGLISH_SAMPLES.items():
        text = load_sample(sample)
        for name in GENERATIONS:
            rows.append({"text": title, "tokenizer": _title(name), unit: round(value(text, _count(name, text)), 2)})
    return tuple(rows)


def _english_ranges(rows: Sequence[Row], column: str) -> str:
    parts = []
    for title in ENGLISH_SAMPLES.values():
        values = [_number(row, column) for row in rows if row["text"] == title]
        parts.append(f"{min(values):.2f} to {max(values):.2f} in {title}")
    return _listed(parts)


@_claim(
    "four-characters",
    "A token of English is about four characters: 3.5 to 4.5.",
    topic="languages",
    source=OPENAI_HELP,
    play=Play("languages", "cl100k_base"),
)
def _four_characters() -> Finding:
    unit = "characters a token"
    rows = _english_rows(lambda text, tokens: len(text) / tokens, unit)
    return Finding(
        _verdict(3.5 <= _number(row, unit) <= 4.5 for row in rows),
        f"It is {_english_ranges(rows, unit)}: it depends on the English, more than on the tokenizer.",
        rows,
    )


@_claim(
    "tokens-a-word",
    "English takes about 1.3 tokens a word: a hundred tokens are 75 words.",
    topic="languages",
    source=OPENAI_HELP,
    play=Play("languages", "cl100k_base"),
)
def _tokens_a_word() -> Finding:
    unit = "tokens a word"
    rows = _english_rows(lambda text, tokens: tokens / len(text.split()), unit)
    return Finding(
        _verdict(_is_near(_number(row, unit), 1.3) for row in rows),
        f"It is {_english_ranges(rows, unit)}, words being what stands between white space.",
        rows,
    )


@_claim(
    "window-of-32000",
    "A window of 32,000 tokens holds 24,000 words of English, and perhaps 8,000 of a costly language.",
    topic="languages",
    source=COMMON,
    play=Play("languages", "cl100k_base", language="tam"),
)
def _window() -> Finding:
    window = 32_000
    spaced = [code for code in _other_scripts() if writes_spaces([_declaration()[code]])]
    num_words = {code: len(words_of([_declaration()[code]])[0]) for code in ["eng", *spaced]}
    genesis = load_sample("kjv-genesis")
    num_genesis = len(words_of([genesis])[0])
    rows: list[Row] = []
    cases = []
    for name in GENERATIONS:
        counts = _declaration_counts(name)
        fits = {code: window * words / counts[code] for code, words in num_words.items()}
        least = min(spaced, key=fits.__getitem__)
        english = window * num_genesis / _count(name, genesis)
        middle = median(fits[code] for code in spaced)
        cases += [_is_near(english, 24_000), _is_near(middle, 8_000)]
        rows.append(
            {
                "tokenizer": _title(name),
                "English words, Genesis": round(english),
                "English words, declaration": round(fits["eng"]),
                "Hindi words": round(fits["hin"]),
                "median of other scripts": round(middle),
                "fewest words": round(fits[least]),
                "in": _language_name(least),
            }
        )
    middles = [f"{row['median of other scripts']:,} in {row['tokenizer']}" for row in rows]
    english_range = sorted(int(row["English words, Genesis"]) for row in rows)
    return Finding(
        _verdict(cases),
        f"Of Genesis in English {english_range[0]:,} to {english_range[-1]:,} words fit. Of the declaration in "
        f"{len(spaced)} languages in other scripts that write spaces, the median is {_listed(middles)}; the fewest are "
        f"{min(int(row['fewest words']) for row in rows):,}.",
        tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- languages


@_claim(
    "japanese-greeting",
    "A common Japanese greeting, こんにちは, is one token.",
    topic="languages",
    source=COMMON,
    play=Play("tokenize", "cl100k_base", text="こんにちは"),
)
def _japanese_greeting() -> Finding:
    rows = _cut_rows(GENERATIONS, ["こんにちは"])
    parts = [f"{row['count']} in {row['tokenizer']}" for row in rows]
    return Finding(_verdict(row["count"] == 1 for row in rows), f"It is {_listed(parts)}.", rows)


@_claim(
    "characters-in-other-scripts",
    "In scripts that training saw little of, a token holds only 1 to 1.5 characters.",
    topic="languages",
    source=COMMON,
    play=Play("languages", "cl100k_base", language="hin"),
)
def _characters_in_other_scripts() -> Finding:
    codes = _other_scripts()
    rows: list[Row] = []
    cases = []
    for name in GENERATIONS:
        counts = _declaration_counts(name)
        ratios = [len(_declaration()[code]) / counts[code] for code in codes]
        cases += [1 <= ratio <= 1.5 for ratio in ratios]
        rows.append(
            {
                "tokenizer": _title(name),
                "below 1": sum(ratio < 1 for ratio in ratios),
                "1 to 1.5": sum(1 <= ratio <= 1.5 for ratio in ratios),
                "above 1.5": sum(ratio > 1.5 for ratio in ratios),
                "median": round(median(ratios), 2),
            }
        )
    medians = [f"{row['median']:.2f} in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(cases),
        f"Over the declaration in {len(codes)} languages that do not write Latin, the median is {_listed(medians)}: "
        f"{sum(cases)} of {len(cases)} figures lie in that range.",
        tuple(rows),
    )


@_claim(
    "pay-two-to-five",
    "Such languages pay two to five times what English pays, and some twelve times and more.",
    topic="languages",
    source=PETROV,
    play=Play("languages", "cl100k_base", language="mya"),
)
def _pay() -> Finding:
    codes = _other_scripts()
    rows: list[Row] = []
    cases = []
    for name in GENERATIONS:
        premiums = {code: _premium(name, code) for code in codes}
        most = max(codes, key=premiums.__getitem__)
        cases += [2 <= premium <= 5 or premium >= 12 for premium in premiums.values()]
        rows.append(
            {
                "tokenizer": _title(name),
                "below 2": sum(premium < 2 for premium in premiums.values()),
                "2 to 5": sum(2 <= premium <= 5 for premium in premiums.values()),
                "5 to 12": sum(5 < premium < 12 for premium in premiums.values()),
                "12 and more": sum(premium >= 12 for premium in premiums.values()),
                "median": round(median(premiums.values()), 2),
                "highest": round(premiums[most], 1),
                "in": _language_name(most),
            }
        )
    parts = [f"{row['median']:.1f} in {row['tokenizer']}" for row in rows]
    highest = [f"{row['highest']:.1f} ({row['in']})" for row in rows]
    return Finding(
        _verdict(cases),
        f"Over {len(codes)} languages that do not write Latin the median premium is {_listed(parts)}; the highest "
        f"is {_listed(highest)}.",
        tuple(rows),
    )


@_claim(
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
        row: Row = {"language": _language_name(code), "said": f"{low:g} to {high:g}" if low < high else f"{low:g}"}
        for name in GENERATIONS:
            premium = _premium(name, code)
            row[_title(name)] = round(premium, 2)
            cases.append(low * 0.9 <= premium <= high * 1.1)
        rows.append(row)
    return Finding(
        _verdict(cases),
        f"Within ten per cent of that are {sum(cases)} of {len(cases)} figures: three generations of tokenizers give "
        "three answers.",
        tuple(rows),
    )


@_claim(
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
        changes = {title: _count(larger, text) - _count(smaller, text) for title, text in texts.items()}
        longer = [title for title, change in changes.items() if change > 0]
        rows.append(
            {
                "from": _title(smaller),
                "to": _title(larger),
                "texts": len(texts),
                "fewer tokens": sum(change < 0 for change in changes.values()),
                "more tokens": len(longer),
                "which": ", ".join(longer) or "none",
            }
        )
    parts = [f"{row['more tokens']} from {row['from']} to {row['to']} ({row['which']})" for row in rows]
    return Finding(
        "true" if not any(row["more tokens"] for row in rows) else "false",
        f"Of {len(texts)} texts, most of them the declaration in as many languages, {_listed(parts)} take more: what "
        "counts is which texts the merges were learned from.",
        tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- Unicode


@_claim(
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
        {"tokenizer": _title(name), "NFC": _count(name, composed), "NFD": _count(name, decomposed)}
        for name in GENERATIONS
    )
    parts = [f"{row['NFC']} or {row['NFD']} in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict(_load(name).encode(composed) == _load(name).encode(decomposed) for name in GENERATIONS),
        f"Article 1 in Vietnamese, with accents composed or apart, is {_listed(parts)}.",
        rows,
    )


@_claim(
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
        rows.append(row | {_title(tokenizer): _count(tokenizer, text) for tokenizer in GENERATIONS})
    counts = [int(row[_title(name)]) for row in rows for name in GENERATIONS]
    return Finding(
        _verdict(count == 1 for count in counts),
        f"{sum(count == 1 for count in counts)} of {len(counts)} are; the others take up to {max(counts)}.",
        tuple(rows),
    )


@_claim(
    "strict-inverses",
    "Encoding and decoding are strict inverses of each other.",
    topic="Unicode",
    source=COMMON,
    play=Play("quirks", "gpt2", options={"quirk": "Unicode", "phrase": "안녕하세요"}),
)
def _inverses() -> Finding:
    texts = list(_declaration().values())
    rows: list[Row] = []
    for name in GENERATIONS:
        tokenizer = _load_ranks(name)
        kept = sum(tokenizer.decode_bytes(tokenizer.encode(text)) == text.encode() for text in texts)
        partial = sum(not _is_utf8(token) for token in tokenizer.mergeable_ranks)
        rows.append(
            {
                "tokenizer": _title(name),
                "texts": len(texts),
                "come back": kept,
                "tokens": len(tokenizer.mergeable_ranks),
                "no text alone": partial,
            }
        )
    parts = [f"{row['no text alone']:,} in {row['tokenizer']}" for row in rows]
    return Finding(
        _verdict([*(row["come back"] == row["texts"] for row in rows), *(not row["no text alone"] for row in rows)]),
        f"From text to ids and back they are, for all {len(texts)} languages tried. From ids to text and back they are "
        f"not: tokens that hold part of a character decode to U+FFFD, {_listed(parts)}.",
        tuple(rows),
    )


def _is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


@_claim(
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
        ids = _load(name).encode(text)
        rows.append(
            {
                "tokenizer": _title(name),
                "characters": len(assigned),
                "tokens": len(ids),
                "text comes back": "yes" if _load(name).decode_bytes(ids) == text.encode() else "no",
            }
        )
    held = sum(row["text comes back"] == "yes" for row in rows)
    return Finding(
        _verdict(row["text comes back"] == "yes" for row in rows),
        f"All {len(assigned):,} assigned characters in a row come back from {held} of {len(rows)} tokenizers.",
        tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- vocabularies


@_claim(
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


@_claim(
    "longest-match",
    "Encoding takes the longest token that fits, from left to right.",
    topic="vocabularies",
    source=COMMON,
    play=Play("algorithms", "gpt2", text="unhappily unhappiness"),
)
def _longest_match() -> Finding:
    text = load_sample("kjv-genesis")
    tokenizer = _load_ranks("gpt2")
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


@_claim(
    "glitch-strings",
    "Names of strangers on the web, such as SolidGoldMagikarp, are whole tokens of GPT-2.",
    topic="vocabularies",
    source=RUMBELOW,
    play=Play("vocabulary", "gpt2", text=" SolidGoldMagikarp petertodd StreamerBot davidjl"),
)
def _glitch() -> Finding:
    strings = (" SolidGoldMagikarp", " petertodd", "StreamerBot", " davidjl")
    rows: list[Row] = []
    for text in strings:
        row: Row = {"text": text.replace(" ", "·"), "GPT-2 id": _load("gpt2").encode(text)[0]}
        rows.append(row | {f"tokens in {_title(name)}": _count(name, text) for name in GENERATIONS})
    held = [row["tokens in GPT-2"] == 1 for row in rows]
    later = [sum(row[f"tokens in {_title(name)}"] == 1 for row in rows) for name in GENERATIONS[1:]]
    return Finding(
        _verdict(held),
        f"{sum(held)} of {len(strings)} published ones are; of these {later[0]} in cl100k and {later[1]} in o200k. "
        "That a token exists does not say how a model behaves when it meets it.",
        tuple(rows),
    )


@_claim(
    "llama3-fifteen-percent",
    "Llama 3's vocabulary of 128,000 takes about 15 % fewer tokens than Llama 2's of 32,000.",
    topic="vocabularies",
    source=META_BLOG,
    play=Play("compare", "llama3"),
)
def _llama3() -> Finding:
    for name in ("llama2", "llama3"):
        _load(name)  # says what is missing before any work is done
    texts = {title: load_sample(sample) for sample, title in PROSE_AND_CODE.items()}
    texts |= {f"Declaration, {_language_name(code)}": _declaration()[code] for code in ("deu", "rus", "hin", "tha")}
    rows: list[Row] = []
    for title, text in texts.items():
        before, after = _count("llama2", text), _count("llama3", text)
        rows.append(
            {"text": title, "Llama 2": before, "Llama 3": after, "fewer, in %": round(100 - 100 * after / before, 1)}
        )
    parts = [f"{row['fewer, in %']:.0f} % on {row['text']}" for row in rows]
    return Finding(
        _verdict(10 <= _number(row, "fewer, in %") <= 20 for row in rows), f"It saves {_listed(parts)}.", tuple(rows)
    )


@_claim(
    "llama3-holds-cl100k",
    "Llama 3's vocabulary is 100,000 tokens of GPT-4's and 28,000 more for other languages.",
    topic="vocabularies",
    source=META_PAPER,
    play=Play("compare", "llama3", language="hin"),
)
def _llama3_holds_cl100k() -> Finding:
    theirs, ours = (_load_ranks(name).mergeable_ranks for name in ("llama3", "cl100k_base"))
    shared = sum(token in theirs for token in ours)
    added = len(theirs) - shared
    foreign = sum(token not in ours and not token.isascii() for token in theirs)
    return Finding(
        "true" if _is_near(shared, 100_000, 0.02) and foreign > added / 2 else "false",
        f"{shared:,} of cl100k's {len(ours):,} tokens are among Llama 3's {len(theirs):,}; of the {added:,} others "
        f"{foreign:,} hold a byte that is not ASCII.",
        (
            {"tokens": "in both", "count": shared},
            {"tokens": "only in cl100k", "count": len(ours) - shared},
            {"tokens": "only in Llama 3", "count": added},
            {"tokens": "of these, not ASCII", "count": foreign},
        ),
    )
