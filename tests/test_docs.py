"""What the documentation says is so: links open whole, figures are computed again, examples run, pictures are there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from pagetest import finished, page_at, plain

from bpe import Tokenizer, TrainSettings, load_pretrained, train
from bpe.samples import load_sample, load_udhr, load_word_counts
from ui.frame import PAGES

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILES = {"" if page.file == "app.py" else Path(page.file).stem.partition("_")[2]: page.file for page in PAGES.values()}


def links_in(path: Path) -> list[str]:
    return LINK.findall(path.read_text(encoding="utf-8"))


APP_LINKS = sorted({link for path in DOCS for link in links_in(path) if link.startswith("/")})


@pytest.mark.parametrize("link", APP_LINKS)
def test_a_link_into_the_app_opens_whole(link):
    parts = urlsplit(link)
    app = page_at(FILES[parts.path.strip("/")])
    for name, values in parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)).items():
        app.query_params[name] = values if len(values) > 1 else values[0]
    app = finished(app.run())
    assert [plain(warning.value) for warning in app.warning] == []
    assert not app.error


@pytest.mark.parametrize("path", [*DOCS, ROOT / "README.md"], ids=lambda path: path.name)
def test_pictures_and_files_that_are_linked_are_there(path):
    linked = [link for link in links_in(path) if not link.startswith(("/", "http"))]
    assert [link for link in linked if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("name", ["papers.md", "extending.md"])
def test_examples_run(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


# ---------------------------------------------------------------------------------------------- the lessons


def lesson_figures() -> list[str]:
    """The sentences of docs/teachers.md that hold figures, with the figures computed."""
    gpt2, cl100k, o200k = map(load_pretrained, ("gpt2", "cl100k_base", "o200k_base"))
    question = "How many r's are in strawberry?"
    assert len(gpt2.encode(" strawberry")) == 1
    table = load_word_counts("lowest")
    words = train(table, TrainSettings(base="chars", split="whitespace", num_merges=10))
    first = words.merges[0]
    assert first.num_tied >= 1
    genesis_text = load_sample("kjv-genesis")
    genesis = train(genesis_text, TrainSettings(num_merges=1_000))
    low, lower, newest, widest = (table[word] for word in ("low", "lower", "newest", "widest"))
    return [
        f"reads the sentence as {len(gpt2.encode(question))} tokens, not as {len(question)} characters",
        f"alone GPT-2 cuts it `{cut(gpt2, 'strawberry')}`",
        f"under GPT-4's tokenizer: `{cut(cl100k, 'strawberry')}`",
        f"low {low} times, lower {lower}, newest {newest}, widest {widest}",
        f"(`{named(words.tokenizer, first.left)}` + `{named(words.tokenizer, first.right)}`, {first.pair_count} times;",
        "first merges are " + ", ".join(f"`{named(words.tokenizer, merge.token)}`" for merge in words.merges[:4]),
        f"hold {words.num_tokens[0]} letters; after {words.num_merges} merges they are {words.num_tokens[-1]} tokens",
        "first merges are `{}`, `{}` and `{}`".format(
            *(named(genesis.tokenizer, merge.token) for merge in genesis.merges[:3])
        ),
        f"{len(genesis_text.encode()):,} bytes are {genesis.num_tokens[100]:,} tokens after 100 merges and "
        f"{genesis.num_tokens[1_000]:,} after 1,000",
        f"the German text takes {premium(gpt2, 'deu'):.2f} times as many tokens as the English one, "
        f"the Hindi text {premium(gpt2, 'hin'):.2f} times, the Burmese text {premium(gpt2, 'mya'):.2f} times",
        f"Under o200k it is {premium(o200k, 'deu'):.2f}, {premium(o200k, 'hin'):.2f} and "
        f"{premium(o200k, 'mya'):.2f} times",
        f"{single_integers(gpt2)} of the integers below 10,000 are one token each. 2249 is `{cut(gpt2, '2249')}`, "
        f"and 2250 is `{cut(gpt2, '2250')}`",
        f"{single_integers(cl100k):,} integers below 10,000 are one token, those of up to three digits. "
        f"What is 2250 now? (`{cut(cl100k, '2250')}`)",
    ]


def named(tokenizer: Tokenizer, token: int) -> str:
    return tokenizer.token_bytes(token).decode()


def cut(tokenizer, text: str) -> str:
    return "|".join(tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text))


def premium(tokenizer, code: str) -> float:
    counts = [sum(len(tokenizer.encode(article)) for article in load_udhr(language)) for language in (code, "eng")]
    return counts[0] / counts[1]


def single_integers(tokenizer) -> int:
    return sum(len(tokenizer.encode(str(integer))) == 1 for integer in range(10_000))


def test_every_figure_of_the_lessons_is_computed():
    text = (ROOT / "docs" / "teachers.md").read_text(encoding="utf-8")
    lessons = re.sub(r"\s+", " ", LINK.sub("]", text[text.index("## Lesson 1") :]))
    lessons = re.sub(r"\[([^\]]*)\]", r"\1", lessons)
    figures = lesson_figures()
    assert [figure for figure in figures if figure not in lessons] == []
    for figure in figures:
        lessons = lessons.replace(figure, "")
    # What is left may name lessons, steps of a list, places of the slider, tokenizers and settings: no results.
    named_numbers = re.compile(
        r"## Lesson \d|(?<= )\d\. |GPT-\d|cl100k(_base)?|slider to \d(, to \d, to \d)?|after 100 merges|\b10,000\b"
    )
    assert re.findall(r"[^ ]*\d[^ ]*", named_numbers.sub("", lessons)) == []
