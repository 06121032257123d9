"""The sample corpora: what is there, that it is what the index says, and the figures it must give."""

from __future__ import annotations

import hashlib
import json
import lzma
import unicodedata
from pathlib import Path

import pytest
import regex

from bpe import samples
from bpe.errors import CorpusError, UnavailableError
from bpe.pretrained import load_pretrained
from bpe.samples import (
    list_samples,
    load_sample,
    load_udhr,
    load_word_counts,
    udhr_languages,
)
from sample_corpora.build import generated, kjv, udhr
from sample_corpora.build.tables import build as build_tables

CODES = [language.code for language in udhr_languages()]
WANTED_CODES = """
    eng deu fra spa por ita nld swe pol ces rus ukr bul ell tur ara heb pes urd hin ben tam tel kan mal mar guj
    pan sin mya khm lao tha vie ind cmn_hans jpn kor kat hye amh swa yor hau zul mon bod
""".split()  # noqa: SIM905

# Script of the index -> the Unicode scripts its letters are from.
LETTERS = {
    "Arab": "Arabic",
    "Armn": "Armenian",
    "Beng": "Bengali",
    "Cyrl": "Cyrillic",
    "Deva": "Devanagari",
    "Ethi": "Ethiopic",
    "Geor": "Georgian",
    "Grek": "Greek",
    "Gujr": "Gujarati",
    "Guru": "Gurmukhi",
    "Hans": "Han",
    "Hebr": "Hebrew",
    "Jpan": "Han Hiragana Katakana",
    "Khmr": "Khmer",
    "Knda": "Kannada",
    "Kore": "Hangul",
    "Laoo": "Lao",
    "Latn": "Latin",
    "Mlym": "Malayalam",
    "Mymr": "Myanmar",
    "Sinh": "Sinhala",
    "Taml": "Tamil",
    "Telu": "Telugu",
    "Thaa": "Thaana",
    "Thai": "Thai",
    "Tibt": "Tibetan",
}


@pytest.fixture
def altered_corpora(tmp_path, monkeypatch):
    """A folder of corpora that a test may damage, in place of the real one."""
    for name in ("words/lowest.tsv", "texts/kjv.txt.xz", "index.json"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes((samples.FOLDER / name).read_bytes())
    monkeypatch.setattr(samples, "FOLDER", tmp_path)
    for cached in (samples._samples, samples._read, samples.udhr_languages):
        cached.cache_clear()
    yield tmp_path
    for cached in (samples._samples, samples._read, samples.udhr_languages):
        cached.cache_clear()


# --- the index ----------------------------------------------------------------------------------------


def test_the_index_is_sorted_and_complete():
    names = [sample.name for sample in list_samples()]
    assert names == sorted(set(names))
    listed = {sample.file for sample in list_samples()}
    folders = ("texts", "udhr", "words")
    present = {path for folder in folders for path in (samples.FOLDER / folder).iterdir()}
    assert {path.relative_to(samples.FOLDER).as_posix() for path in present} == listed


@pytest.mark.parametrize("sample", list_samples(), ids=lambda sample: sample.name)
def test_size_hash_and_fields_are_those_of_the_file(sample):
    path = samples.FOLDER / sample.file
    assert path.stat().st_size < 3_000_000
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    assert len(data) == sample.num_bytes
    assert hashlib.sha256(data).hexdigest() == sample.sha256
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert sample.kind in {"text", "words", "parallel"}
    for value in (sample.title, sample.language, sample.language_name, sample.source, sample.licence):
        assert value.strip() == value != ""
    assert not regex.search("share.?alike|by-sa|gpl", sample.licence, regex.IGNORECASE)


def test_every_licence_file_that_is_named_exists():
    named = {Path(found) for sample in list_samples() for found in regex.findall(r"licences/[\w.-]+", sample.licence)}
    assert named
    assert all((samples.FOLDER / name).is_file() for name in named)


def test_texts_are_of_the_sizes_that_the_pages_offer():
    sizes = {sample.name: sample.num_bytes for sample in list_samples() if sample.kind == "text"}
    assert 150_000 <= sizes["kjv-genesis"] <= 250_000
    assert 4_000_000 <= sizes["kjv"] <= 4_500_000
    assert 150_000 <= sizes["python-source"] <= 250_000
    assert 4_000 <= sizes["emoji-chat"] <= 8_000
    for name in ("generated-log", "generated-dna", "generated-arithmetic"):
        assert 50_000 <= sizes[name] <= 100_000


# --- reading ------------------------------------------------------------------------------------------


def test_unknown_name_lists_near_matches():
    with pytest.raises(CorpusError, match="no sample corpus goes by the name 'kjv-genesys': did you mean kjv-genesis"):
        load_sample("kjv-genesys")
    with pytest.raises(CorpusError, match="did you mean deu"):
        load_udhr("deu_1996")
    with pytest.raises(CorpusError, match="known are hug-pug, low-look, lowest"):
        load_word_counts("zzz")


def test_a_word_table_is_not_given_out_as_text():
    with pytest.raises(CorpusError, match="load_word_counts"):
        load_sample("lowest")
    with pytest.raises(CorpusError, match="no word table"):
        load_word_counts("kjv-genesis")


def test_an_altered_file_is_refused(altered_corpora):
    assert load_word_counts("lowest")["low"] == 5
    samples._read.cache_clear()
    path = altered_corpora / "words/lowest.tsv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(CorpusError, match=r"'lowest' must have the sha256 .* restore words/lowest.tsv"):
        load_word_counts("lowest")


def test_a_cut_archive_is_refused(altered_corpora):
    path = altered_corpora / "texts/kjv.txt.xz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CorpusError, match="'kjv' is damaged"):
        load_sample("kjv")


def test_a_missing_file_is_named(altered_corpora):
    (altered_corpora / "words/lowest.tsv").unlink()
    with pytest.raises(UnavailableError, match="sample 'lowest' must stand in"):
        load_word_counts("lowest")
    (altered_corpora / "index.json").unlink()
    samples._samples.cache_clear()
    with pytest.raises(UnavailableError, match="full copy of the repository"):
        list_samples()


# --- the declaration ----------------------------------------------------------------------------------


def test_the_languages_that_were_asked_for_are_there():
    assert set(WANTED_CODES) <= set(CODES)
    assert len(CODES) >= 45
    assert len({language.script for language in udhr_languages()}) >= 12
    assert len({language.tag for language in udhr_languages()}) == len(CODES)


@pytest.mark.parametrize("code", CODES)
def test_thirty_articles_line_by_line(code):
    articles = load_udhr(code)
    assert len(articles) == 30
    file = (samples.FOLDER / "udhr" / f"{code}.txt").read_text(encoding="utf-8")
    assert [line.replace("\t", "\n") for line in file.splitlines()] == list(articles)
    assert load_sample(f"udhr-{code}") == "\n".join(articles)
    for article in articles:
        assert unicodedata.normalize("NFC", article) == article
        assert all(paragraph and paragraph == " ".join(paragraph.split()) for paragraph in article.split("\n"))
        assert not regex.search(r"[\[\]{}<>|\p{Cc}\p{Co}\p{Cn}\ufffd--[\n]]", article, regex.VERSION1)


@pytest.mark.parametrize("language", udhr_languages(), ids=lambda language: language.code)
def test_letters_are_of_the_script_that_the_index_gives(language):
    allowed = "".join(rf"\p{{Script={script}}}" for script in LETTERS[language.script].split())
    letters = regex.findall(r"\p{L}", "".join(load_udhr(language.code)))
    # Modifier letters such as the Uzbek ʻ are Common.
    assert not [letter for letter in letters if not regex.match(rf"[{allowed}\p{{Lm}}]", letter)]


@pytest.mark.parametrize("code", CODES)
def test_no_article_is_half_as_long_as_its_neighbours_say(code):
    """Each article against the English one, relative to the whole text: a lost half shows as about 0.5."""
    english, articles = load_udhr("eng"), load_udhr(code)
    whole = sum(map(len, articles)) / sum(map(len, english))
    shares = {n: len(articles[n - 1]) / len(english[n - 1]) / whole for n in range(1, 31)}
    assert shares[2] > 0.7
    # Malayalam abridges the second half of article 11.
    short = {n for n, share in shares.items() if share < 0.54}
    assert short == ({11} if code == "mal" else set())
    assert max(shares.values()) < 2.1


@pytest.mark.parametrize(
    ("code", "gpt2", "cl100k", "o200k"),
    [
        ("eng", 33, 33, 33),
        ("deu", 60, 44, 38),
        ("fra", 61, 50, 41),
        ("rus", 172, 74, 41),
        ("cmn_hans", 82, 52, 37),
        ("jpn", 117, 93, 72),
        ("hin", 296, 182, 54),
        ("mya", 726, 512, 134),
    ],
)
def test_tokens_of_article_one(code, gpt2, cl100k, o200k):
    article = load_udhr(code)[0]
    counted = [len(load_pretrained(name).encode(article)) for name in ("gpt2", "cl100k", "o200k")]
    assert counted == [gpt2, cl100k, o200k]


def test_tokens_of_the_english_declaration():
    text = load_sample("udhr-eng")
    counted = [len(load_pretrained(name).encode(text)) for name in ("gpt2", "cl100k", "o200k")]
    assert counted == [1570, 1525, 1524]


# --- the other texts ----------------------------------------------------------------------------------


def test_word_tables_are_the_textbooks():
    assert load_word_counts("lowest") == {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    assert load_word_counts("low-look") == {"low": 3, "look": 2}
    assert load_word_counts("hug-pug") == {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    # The order matters too: with ties, the first pair in the table wins.
    assert list(load_word_counts("hug-pug")) == ["hug", "pug", "pun", "bun", "hugs"]


def test_the_bible_has_its_books_chapters_and_verses():
    text = load_sample("kjv")
    lines = [line for line in text.split("\n") if line]
    assert len(lines) == 31_102 + 66  # verses and names of books
    assert sum(line in set(kjv_books()) for line in lines) == 66
    assert text.startswith(load_sample("kjv-genesis"))
    # A blank line before each of the 1,189 chapters, and one before each book but the first.
    assert text.count("\n\n") == 1_189 + 65
    assert text.isascii()
    assert not regex.search(r"  |\d+:\d+| \n", text)


def kjv_books():
    return [book.replace("_", " ") for book in kjv.BOOKS.values()]


def test_bible_layout_puts_blank_lines_between_chapters_and_books():
    lines = ["Ge1:1 In the  beginning", "Ge1:2 And", "Ge2:1 Thus", "1Sm1:1 Now"]
    assert list(kjv.layout(lines)) == [
        ("Genesis", "Genesis\n\nIn the beginning\nAnd\n\nThus\n"),
        ("1 Samuel", "1 Samuel\n\nNow\n"),
    ]


def test_python_source_compiles():
    compile(
        "\n".join(line for line in load_sample("python-source").splitlines() if not line.startswith("from __future__")),
        "python-source",
        "exec",
    )


def test_the_chat_page_holds_what_breaks_token_views():
    text = load_sample("emoji-chat")
    assert unicodedata.normalize("NFC", text) == text
    assert "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" in text  # a family of four
    assert "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f" in text  # Scotland: tags
    assert "1\ufe0f\u20e3" in text  # a keycap
    assert all(chr(tone) in text for tone in range(0x1F3FB, 0x1F400))
    assert regex.search(r"[\U0001f1e6-\U0001f1ff]{22}", text)  # flags in a row
    scripts = "Latin Cyrillic Greek Arabic Hebrew Devanagari Tamil Han Hiragana Katakana Hangul Thai"
    assert all(regex.search(rf"\p{{Script={script}}}", text) for script in scripts.split())


# --- building -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [*generated.build(), *build_tables()], ids=lambda entry: entry.name)
def test_what_is_made_by_rule_comes_out_equal_bit_for_bit(entry):
    assert (samples.FOLDER / entry.file).read_bytes() == entry.data
    index = json.loads((samples.FOLDER / "index.json").read_text(encoding="utf-8"))
    assert entry.record() in index


def test_splitmix_gives_the_published_numbers():
    """First outputs for the seed 1234567, as published with the reference implementation in C."""
    rng = generated.SplitMix64(1234567)
    assert [rng.next() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_the_equations_are_true():
    for line in generated.arithmetic_text(num_lines=300).splitlines():
        left, right = line.split(" = ")
        if "/" in left:
            dividend, divisor = map(int, left.split(" / "))
            quotient, remainder = map(int, right.split(" remainder "))
            assert dividend == quotient * divisor + remainder
            assert 0 <= remainder < divisor
        else:
            assert eval(left, {"__builtins__": {}}) == int(right)


def test_articles_are_cut_out_of_the_page():
    def page(second):
        articles = "".join(
            f'<article data-number="{n}"><h2>Article {n}</h2>{second if n == 2 else f"<p>text {n}</p>"}</article>'
            for n in range(1, 31)
        )
        return f"<h1>Title</h1><header><h2>Preamble</h2><p>Whereas</p></header>{articles}<footer>credit</footer>"

    articles = udhr.articles_of(page("<ol><li><p>cafe\u0301 \n one &amp;</p></li><li><p>two</p></li></ol>"), "xxx")
    assert articles[:3] == [["text 1"], ["café one &", "two"], ["text 3"]]
    assert len(articles) == 30

    with pytest.raises(SystemExit, match="article 2 holds an editorial mark"):
        udhr.articles_of(page("<p>sic [correct]</p>"), "xxx")
    with pytest.raises(SystemExit, match="article 2 has an empty paragraph"):
        udhr.articles_of(page(""), "xxx")
    with pytest.raises(SystemExit, match="articles must be 1 to 30"):
        udhr.articles_of("<p>nothing</p>", "xxx")
