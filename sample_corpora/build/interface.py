"""Interface strings of the web framework Django in many languages: short, everyday, aligned by message.

A second domain beside the declaration of human rights: buttons, labels and error messages instead of solemn
articles. The strings are read from the .po files of the package; the English side is the message id.

Left out: messages with placeholders, mark-up or several lines, which tell of code and not of language; plural
forms and messages with a context, which do not align one to one; fuzzy translations; the names of languages
(96 proper names); and messages that fewer than 45 languages have.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from .download import pypi_wheel
from .entries import Entry

__all__ = ["LANGUAGES", "build", "messages_of", "table_of"]

VERSION = "5.2.19"
SHA256 = "5965d974a5218a2b68a11dd1276434707f23886525c23f0598eccedaf4f4ca00"
APPS = ("conf", "contrib/admin", "contrib/auth", "contrib/admindocs", "contrib/flatpages", "contrib/postgres")
APPS += ("contrib/contenttypes", "contrib/humanize", "contrib/redirects", "contrib/sessions", "contrib/sites")
FEWEST_LANGUAGES = 45

# Code as in udhr.py -> locale in the package. Languages of the declaration for which the package has at least
# a hundred of these strings.
LANGUAGES = {
    "eng": "en",
    "ara": "ar",
    "azj": "az",
    "ben": "bn",
    "bul": "bg",
    "cat": "ca",
    "ces": "cs",
    "cmn_hans": "zh_Hans",
    "dan": "da",
    "deu": "de",
    "ell": "el",
    "epo": "eo",
    "est": "et",
    "eus": "eu",
    "fin": "fi",
    "fra": "fr",
    "heb": "he",
    "hin": "hi",
    "hrv": "hr",
    "hye": "hy",
    "ibo": "ig",
    "ind": "id",
    "isl": "is",
    "ita": "it",
    "jpn": "ja",
    "kan": "kn",
    "kat": "ka",
    "kaz": "kk",
    "khm": "km",
    "kor": "ko",
    "lav": "lv",
    "lit": "lt",
    "mal": "ml",
    "mar": "mr",
    "mon": "mn",
    "mya": "my",
    "nld": "nl",
    "nob": "nb",
    "pan": "pa",
    "pes": "fa",
    "pol": "pl",
    "por": "pt_BR",
    "ron": "ro",
    "rus": "ru",
    "slv": "sl",
    "spa": "es",
    "srp": "sr",
    "swa": "sw",
    "swe": "sv",
    "tam": "ta",
    "tel": "te",
    "tha": "th",
    "tur": "tr",
    "uig": "ug",
    "ukr": "uk",
    "urd": "ur",
    "uzn": "uz",
    "vie": "vi",
}


def messages_of(po: str) -> dict[str, str]:
    """Return message id -> translation of a .po file, without plurals, contexts and fuzzy translations.

    >>> messages_of('msgid "Log in"\\nmsgstr ""\\n"An"\\n"melden"\\n')
    {'Log in': 'Anmelden'}
    """
    messages: dict[str, str] = {}
    for block in re.split(r"\n\s*\n", po):
        if re.search(r"^(msgctxt|msgid_plural)|^#,.*\bfuzzy\b", block, re.MULTILINE):
            continue
        parts = {"msgid": "", "msgstr": ""}
        current = ""
        for line in block.splitlines():
            found = re.match(r"(msgid|msgstr) (?=\")", line)
            if found:
                current = found[1]
                line = line[found.end() :]
            if current and line.startswith('"'):
                parts[current] += ast.literal_eval(line)
        if parts["msgid"]:
            messages[parts["msgid"]] = parts["msgstr"]
    return messages


def table_of(translations: Mapping[str, Mapping[str, str]], fewest: int) -> str:
    """Return a TSV: a column for each language, a line for each English message that `fewest` languages have."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(translations)
    for message in translations["eng"]:
        row = [_clean(translations[code].get(message, "")) for code in translations]
        if sum(map(bool, row)) >= fewest:
            writer.writerow(row)
    return out.getvalue()


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


def _is_plain(message: str) -> bool:
    return re.search(r"[%<>{}&\n]", message) is None and any(map(str.isalpha, message))


def _language_names(settings: str) -> set[str]:
    """Return the names in the LANGUAGES list of Django's global settings."""
    for node in ast.parse(settings).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "LANGUAGES":
            return {constant.value for constant in ast.walk(node.value) if _is_text(constant)}
    raise SystemExit("django/conf/global_settings.py holds no list LANGUAGES")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _po_files(wheel: zipfile.ZipFile, locale: str) -> Iterator[str]:
    for app in APPS:
        name = f"django/{app}/locale/{locale}/LC_MESSAGES/django.po"
        if name in wheel.namelist():
            yield wheel.read(name).decode("utf-8")


def build(folder: Path) -> list[Entry]:
    """Return the one table of all languages."""
    with zipfile.ZipFile(pypi_wheel("django", VERSION, folder, SHA256)) as wheel:
        names = _language_names(wheel.read("django/conf/global_settings.py").decode("utf-8"))
        translations: dict[str, dict[str, str]] = {}
        for code, locale in LANGUAGES.items():
            merged = translations.setdefault(code, {})
            for po in _po_files(wheel, locale):
                for message, translation in messages_of(po).items():
                    # The first translation counts where two apps share a message.
                    merged[message] = merged.get(message) or translation
    english = [message for message in translations["eng"] if _is_plain(message) and message not in names]
    translations["eng"] = {message: message for message in english}
    return [
        Entry(
            name="interface-strings",
            title=f"Interface strings in {len(LANGUAGES)} languages",
            language="mul",
            language_name="Several languages",
            script="Zyyy",
            kind="text",
            source=f"PyPI Django {VERSION}, the .po files of its apps",
            licence="BSD-3-Clause, the Django Software Foundation and contributors (licences/BSD-3-Clause-django.txt)",
            file="texts/interface-strings.tsv.xz",
            text=table_of(translations, FEWEST_LANGUAGES),
        )
    ]
