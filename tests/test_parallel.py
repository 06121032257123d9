"""Parallel text: what ships, and what becomes of a reader's own, whole or damaged."""

from __future__ import annotations

import pytest

from bpe.errors import CorpusError
from bpe.parallel import (
    PARALLEL_NAMES,
    load_parallel,
    parse_numbers,
    parse_parallel_files,
    parse_parallel_table,
)
from bpe.samples import load_udhr, udhr_languages
from sample_corpora.build.interface import LANGUAGES, messages_of, table_of

# --- what ships ---------------------------------------------------------------------------------------


def test_the_declaration_has_thirty_articles_in_at_least_45_languages_and_12_scripts():
    text = load_parallel("declaration")
    assert len(text.languages) >= 45
    assert len({language.script for language in text.languages}) >= 12
    assert text.num_units == 30
    assert text.units["hin"] == load_udhr("hin")
    assert text.common_units(text.units).tolist() == list(range(30))


def test_interface_strings_are_aligned_and_a_missing_translation_is_empty():
    text = load_parallel("interface")
    assert set(text.units) == set(LANGUAGES)
    assert set(text.units) <= {language.code for language in udhr_languages()}
    at = text.units["eng"].index("Log out")
    assert text.units["deu"][at] == "Abmelden"
    assert all(text.units["eng"])
    assert not all(text.units["mya"])
    assert len(text.common_units(["eng", "deu", "fra"])) > 300
    with_burmese = text.common_units(["eng", "mya"])
    assert 90 < len(with_burmese) < 150
    assert all(text.units["mya"][number] for number in with_burmese)


def test_texts_have_different_keys_and_the_same_text_has_the_same():
    keys = {load_parallel(name).key for name in PARALLEL_NAMES}
    assert len(keys) == len(PARALLEL_NAMES)
    one, other = (parse_parallel_table("en,de\na,b\n") for _ in range(2))
    assert one.key == other.key
    assert one.key != parse_parallel_table("en,de\nb,a\n").key


def test_an_unknown_text_or_language_is_refused_with_what_there_is():
    with pytest.raises(CorpusError, match="declaration, interface"):
        load_parallel("bible")
    with pytest.raises(CorpusError, match="one of eng, deu, but is 'fra'"):
        parse_parallel_table("en,de\na,b\n").common_units(["fra"])


def test_messages_that_do_not_align_are_left_out_of_a_po_file():
    po = """
msgid ""
msgstr "Content-Type: text/plain"

#, fuzzy
msgid "Old"
msgstr "Veraltet"

msgctxt "month"
msgid "May"
msgstr "Mai"

msgid "%d day"
msgid_plural "%d days"
msgstr[0] "%d Tag"

msgid "Say \\"yes\\""
msgstr "Sag \\"ja\\""
"""
    assert messages_of(po) == {'Say "yes"': 'Sag "ja"'}


def test_a_message_is_kept_when_enough_languages_have_it():
    translations = {"eng": {"a": "a", "b": "b"}, "deu": {"a": "ä"}, "fra": {"a": "à", "b": "bé"}}
    assert table_of(translations, 3) == "eng\tdeu\tfra\na\tä\tà\n"
    assert table_of(translations, 2).splitlines()[2] == "b\t\tbé"


# --- files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("de.txt", "deu"),
        ("German.txt", "deu"),
        ("europarl.de", "deu"),
        ("flores_deu.txt", "deu"),
        ("pt-BR.txt", "por"),
        ("Chinese (Simplified)", "cmn_hans"),
        ("klingon.txt", "klingon"),
    ],
)
def test_a_language_is_known_by_code_tag_or_name(name, code):
    text = parse_parallel_files({"en.txt": "a", name: "b"})
    assert list(text.units) == ["eng", code]


def test_line_ends_and_empty_lines_at_the_end_do_not_count_but_those_inside_do():
    text = parse_parallel_files({"en": "one\r\n\r\nthree\r\n", "fr": "un\ndeux\ntrois\n\n\n"})
    assert text.units == {"eng": ("one", "", "three"), "fra": ("un", "deux", "trois")}
    assert text.common_units(["eng", "fra"]).tolist() == [0, 2]


def test_files_of_different_length_are_named_with_their_numbers():
    files = {"en.txt": "1\n2\n3", "de.txt": "1\n2\n3", "fr.txt": "1\n2", "it.txt": "1\n2\n3\n4"}
    with pytest.raises(CorpusError, match=r"2 files have 3, but fr.txt has 2, it.txt has 4"):
        parse_parallel_files(files)
    with pytest.raises(CorpusError, match=r"en.txt has 1, but de.txt has 2"):
        parse_parallel_files({"en.txt": "1", "de.txt": "1\n2"})


@pytest.mark.parametrize("files", [{}, {"en.txt": "one language only"}])
def test_one_language_is_not_parallel(files):
    with pytest.raises(CorpusError, match="at least two files"):
        parse_parallel_files(files)


def test_a_file_without_text_is_refused():
    with pytest.raises(CorpusError, match=r"but de.txt does not"):
        parse_parallel_files({"en.txt": "one", "de.txt": "\n \n"})


def test_two_files_of_one_language_keep_their_own_names():
    text = parse_parallel_files({"de.txt": "eins", "German.txt": "zwei"})
    assert list(text.units) == ["deu", "German.txt"]


# --- tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_a_table_is_read_whatever_separates_its_columns(separator):
    text = parse_parallel_table(separator.join(["en", "th"]) + "\n" + separator.join(["yes", "ใช่"]) + "\n")
    assert text.units == {"eng": ("yes",), "tha": ("ใช่",)}


def test_quoted_fields_may_hold_separators_and_line_breaks():
    text = parse_parallel_table('en,de\n"a, b","c\nd"\n\ne,f\n')
    assert text.units == {"eng": ("a, b", "e"), "deu": ("c\nd", "f")}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "at least two languages"),
        ("en\nyes\n", "at least two languages"),
        ("en,de\nyes,ja\nno\n", "line 3 has 1"),
        ("en,de\nyes,ja,oui\n", "line 2 has 3"),
        ("en,,fr\na,b,c\n", "column 2 has none"),
        ("en,en\na,b\n", "en stands there twice"),
        ("en,de,fr\nyes,ja,\nno,nein,\n", "fr is empty"),
        ("en,de\n", "en, de is empty"),
        ('en,de\n"a,b\n', "line 2 is not a line of a table"),
    ],
)
def test_a_damaged_table_is_refused_with_the_place(table, said):
    with pytest.raises(CorpusError, match=said):
        parse_parallel_table(table)


def test_a_line_separator_inside_a_text_does_not_end_its_line():
    assert parse_parallel_table("en,de\na\u2028b,c\n").units["eng"] == ("a\u2028b",)
    assert parse_parallel_files({"en": "a\u2028b", "de": "c"}).num_units == 1


# --- numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "numbers"),
    [("1", [0]), ("3-5, 1", [0, 2, 3, 4]), ("1;2 2", [0, 1]), ("2 - 3", [1, 2]), ("9–10", [8, 9]), (" ", range(30))],
)
def test_numbers_and_ranges(written, numbers):
    assert parse_numbers(written, 30) == tuple(numbers)


@pytest.mark.parametrize("written", ["0", "31", "5-3", "1-31", "one", "1..3", "-3", "1.5"])
def test_what_is_no_number_in_range_is_refused(written):
    with pytest.raises(CorpusError, match="must be"):
        parse_numbers(written, 30)
