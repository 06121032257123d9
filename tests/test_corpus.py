"""Files and pasted text: what is read, what is refused, and that every sentence says what to do."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import sqlite3
import tarfile
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe.corpus import (
    BOM_NOTICE,
    MAX_COUNT,
    clean_text,
    decode_text,
    encoding_candidates,
    parse_word_counts,
)
from bpe.errors import CorpusError
from bpe.samples import load_udhr

BOM = "\ufeff"
MIXED = "Größe, naïve, 価格, हिन्दी, 👨‍👩‍👧\r\n\ttwo lines\n"


def refusal(data, **options):
    """The message with which a file is refused."""
    with pytest.raises(CorpusError) as caught:
        decode_text(data, **options)
    return str(caught.value)


def zip_of(*names):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return packed.getvalue()


def tar_of(name):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return packed.getvalue()


def sqlite_database(folder):
    path = folder / "words.txt"
    connection = sqlite3.connect(path)
    connection.execute("create table words (word text)")
    connection.commit()
    connection.close()
    return path.read_bytes()


# --- UTF-8 and marks ----------------------------------------------------------------------------------


def test_utf8_is_read_unchanged_and_without_a_notice():
    read = decode_text(MIXED.encode())
    assert (read.text, read.encoding, read.notices) == (MIXED, "utf-8", ())


@given(st.text(min_size=1))
def test_any_text_in_utf8_survives(text):
    """But for a mark at the start, and text that cannot be told from UTF-16 or from a file of another kind."""
    data = text.encode("utf-8", "replace")
    if b"\x00" in data or data.startswith((b"PK", b"%PDF", b"{\\rtf")):
        return
    expected = data.decode()
    assert decode_text(data).text == expected.removeprefix(BOM)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_mark_at_the_start_decides_and_is_dropped_with_a_notice(encoding):
    read = decode_text((BOM + MIXED).encode(encoding))
    assert (read.text, read.encoding) == (MIXED, encoding)
    assert BOM_NOTICE in read.notices
    if encoding != "utf-8":
        assert read.notices[0] == f"Read as {encoding.upper()}, by its mark."


def test_a_mark_in_the_middle_is_kept_and_so_is_a_second_one():
    read = decode_text(f"one{BOM}two".encode())
    assert (read.text, read.notices) == (f"one{BOM}two", ())
    assert decode_text(f"{BOM}{BOM}one".encode()).text == f"{BOM}one"


def test_utf16_that_begins_with_nul_is_not_taken_for_utf32():
    read = decode_text((BOM + "\0abc").encode("utf-16-le") + b"d\x00")
    assert (read.text, read.encoding) == ("\0abcd", "utf-16-le")


def test_only_a_mark_is_an_empty_text():
    assert decode_text(BOM.encode()).text == ""


@pytest.mark.parametrize("encoding", ["utf-16", "UTF_16", "utf-32", "utf-8-sig", "utf8"])
def test_a_mark_is_reported_when_the_encoding_is_named_too(encoding):
    data = "wide".encode("utf-8-sig" if "8" in encoding else encoding)
    read = decode_text(data, encoding=encoding)
    assert (read.text, read.notices) == ("wide", (BOM_NOTICE,))


# --- UTF-16 without a mark ----------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["eng", "rus", "ell", "hin", "heb", "ara", "tha", "cmn_hans", "jpn", "kor"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_detected_and_said(code, encoding):
    text = "\n".join(load_udhr(code))
    read = decode_text(text.encode(encoding))
    assert (read.text, read.encoding) == (text, encoding)
    assert read.notices == (
        f"Read as {encoding.upper()}, by the pattern of its NUL bytes: choose another if it is wrong.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "one\0two\0three",
        "a\0",
        "\0",
        "\0\0\0\0",
        "NUL \0 ESC \x1b BEL \a",
        "ab\0cd\0ef\0gh\0",
        "é\0à\0ü",
        "aaa\0aaa\0",
        "\0" * 501,
    ],
)
def test_nul_in_utf8_is_text(text):
    if text == "a\0":
        # Two bytes: the letter a in UTF-16 as well. The notice tells how to have it otherwise.
        read = decode_text(text.encode())
        assert (read.text, read.encoding) == ("a", "utf-16-le")
        assert "choose another" in read.notices[0]
        assert decode_text(text.encode(), encoding="utf-8").text == text
    else:
        assert decode_text(text.encode()).text == text


# --- other encodings ----------------------------------------------------------------------------------


def test_the_first_bad_byte_is_named_with_offset_value_and_line():
    message = refusal("erste Zeile\nGröße\n".encode("cp1252"), name="notes.txt")
    assert message.startswith("notes.txt must be UTF-8, but byte 0xF6 at offset 14 (line 2) is not. ")
    assert "Choose its encoding; this file could be cp1252," in message


@pytest.mark.parametrize(
    ("code", "encoding"),
    [
        ("deu", "cp1252"),
        ("fra", "cp1252"),
        ("spa", "cp1252"),
        ("swe", "cp1252"),
        ("pol", "cp1250"),
        ("rus", "cp1251"),
        ("rus", "koi8-r"),
        ("ell", "cp1253"),
        ("ara", "cp1256"),
        ("tha", "cp874"),
        ("jpn", "shift_jis"),
        ("jpn", "euc_jp"),
        ("kor", "euc_kr"),
        ("cmn_hans", "gb18030"),
    ],
)
def test_the_right_encoding_comes_first_and_reads_the_text(code, encoding):
    # What the encoding cannot hold (a hyphen of Unicode, say) is left out.
    data = "\n".join(load_udhr(code)).encode(encoding, "ignore")
    assert encoding_candidates(data)[0] == encoding
    assert encoding in refusal(data)
    read = decode_text(data, encoding=encoding)
    assert read.text.encode(encoding) == data
    assert (read.encoding, read.notices) == (encoding, ())


@pytest.mark.parametrize(
    ("code", "encoding"),
    [("ces", "cp1250"), ("tur", "cp1254"), ("heb", "cp1255"), ("jpn", "big5"), ("fra", "cp437")],
)
def test_where_several_fit_the_right_encoding_is_among_them(code, encoding):
    data = "\n".join(load_udhr(code)).encode(encoding, "ignore")
    assert encoding in encoding_candidates(data)


def test_candidates_all_decode_and_utf8_is_alone():
    data = "Größe".encode("cp1252")
    assert all(data.decode(encoding) for encoding in encoding_candidates(data))
    assert encoding_candidates("Größe".encode()) == ("utf-8",)
    assert encoding_candidates(b"plain") == ("utf-8",)


def test_chinese_in_utf16_without_mark_and_line_ends_is_asked_about():
    data = "人人生而自由".encode("utf-16-le")
    assert "utf-16-le" in encoding_candidates(data)
    assert "utf-16-le" in refusal(data)


def test_a_named_encoding_that_does_not_fit_is_refused_with_the_place():
    message = refusal(b"ab\x81", encoding="cp1252", name="x")
    assert message == "x must be CP1252, but byte 0x81 at offset 2 (line 1) is not. Choose another encoding"


@pytest.mark.parametrize("encoding", ["latin-99", "", "hex", "a\0b", "é"])
def test_an_encoding_that_does_not_exist_is_refused(encoding):
    assert "encoding must be a text encoding of Python" in refusal(b"abc", encoding=encoding)


def test_codecs_that_are_odd_still_give_text_or_a_sentence():
    assert decode_text(rb"\ud83d", encoding="unicode_escape").text == "\ufffd"
    assert "cannot be read as undefined" in refusal(b"abc", encoding="undefined")


# --- cut files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_lost", [1, 2, 3])
def test_a_file_cut_within_a_character_says_so(num_lost):
    data = "ab 😀".encode()[:-num_lost]
    message = refusal(data, name="part.txt")
    last = "byte" if num_lost == 3 else f"{4 - num_lost} bytes"
    if num_lost < 3:
        assert message.startswith(
            f"part.txt is cut in the middle of a character: the last {last}, byte 0xF0 at offset 3"
        )
        assert "should go on in UTF-8. Get the whole file" in message
    else:
        # One byte after nothing but ASCII: the last letter of some other encoding is as likely.
        assert "byte 0xF0 at offset 3 (line 1) is not. Choose its encoding" in message


def test_one_last_byte_after_other_utf8_is_a_cut():
    message = refusal("Größe".encode() + b"\xc3")
    assert "is cut in the middle of a character: the last byte, byte 0xC3 at offset 7" in message


def test_a_last_letter_in_cp1252_is_not_called_a_cut():
    message = refusal("un café".encode("cp1252"))
    assert "cut" not in message
    assert "cp1252" in message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-be"])
def test_wide_text_with_a_mark_that_is_cut_says_so(encoding):
    assert "is cut in the middle of a character" in refusal((BOM + "abc").encode(encoding)[:-1])


# --- files that are not text --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (gzip.compress(b"text", mtime=0), "is compressed (gzip): unpack it first"),
        (bz2.compress(b"text"), "is compressed (bzip2): unpack it first"),
        (lzma.compress(b"text"), "is compressed (xz): unpack it first"),
        (bytes.fromhex("28b52ffd20042100006162636410"), "is compressed (zstd): unpack it first"),
        (zip_of("notes.txt"), "is a zip archive: unpack it first"),
        (zip_of(), "is a zip archive: unpack it first"),
        (zip_of("notes.txt")[:20], "is a zip archive: unpack it first"),
        (
            zip_of("[Content_Types].xml", "word/document.xml"),
            "is a Word document: save or export it as plain text first",
        ),
        (zip_of("xl/workbook.xml"), "is an Excel workbook: export the sheet as text first"),
        (zip_of("ppt/slides.xml"), "is a PowerPoint document: save or export it as plain text first"),
        (zip_of("mimetype", "content.xml"), "is a LibreOffice document: save or export it as plain text first"),
        (zip_of("META-INF/container.xml"), "is an EPUB book: convert it to plain text first"),
        (tar_of("notes.txt"), "is a tar archive: unpack it first"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "is a PDF document: save or export it as plain text first"),
        (b"{\\rtf1 text}", "is a rich text (RTF) document: save or export it as plain text first"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100), "is a Microsoft Office (97-2003) document"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "is a PNG image, not text"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "is a JPEG image, not text"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "is a WebP image, not text"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "is a program (ELF), not text"),
    ],
)
def test_other_files_are_known_by_content_and_refused(data, sentence):
    assert refusal(data, name="corpus.txt").startswith(f"corpus.txt {sentence}")
    # A name for the encoding does not make text of them.
    assert refusal(data, name="corpus.txt", encoding="cp437").startswith(f"corpus.txt {sentence}")


@given(st.binary(min_size=1, max_size=60), st.integers(0, 200))
def test_a_damaged_zip_archive_is_refused_without_a_traceback(noise, at):
    packed = bytearray(zip_of("word/document.xml", "notes.txt"))
    at = 4 + at % (len(packed) - 4)
    packed[at : at + len(noise)] = noise
    assert refusal(bytes(packed)).startswith(("file is a zip archive", "file is a Word document"))


def test_a_database_is_refused(tmp_path):
    assert refusal(sqlite_database(tmp_path)) == "file is an SQLite database, not text"


def test_binary_data_of_no_known_kind_is_refused():
    data = bytes(range(256)) * 4
    assert "it looks like binary data" in refusal(data)


@pytest.mark.parametrize("text", ["BZhello", "PK is short for a name", "RIFF off", "GIF is a format", "MZ", "ID3 tags"])
def test_prose_that_begins_like_a_signature_is_text(text):
    assert decode_text(text.encode()).text == text


def test_an_empty_file_is_refused():
    assert refusal(b"", name="a.txt") == "a.txt is empty (0 bytes): choose a file that holds some text"


def test_a_file_too_large_is_refused_with_both_sizes():
    assert decode_text(b"x" * 10, max_bytes=10).text == "x" * 10
    message = refusal(b"x" * 1001, max_bytes=1000, name="big.txt")
    assert message == "big.txt must have at most 1,000 bytes, but has 1,001: take a part of it"


@pytest.mark.parametrize(
    "data",
    [
        b"a" * 4_000_000,
        b" " * 4_000_000,
        "ж".encode("cp1251") * 2_000_000,
        b"\x00" * 4_000_000,
        "私".encode("utf-16-le") * 999_999,
    ],
    ids=["one letter", "spaces", "cp1251", "NUL", "utf-16"],
)
def test_large_and_dull_files_take_no_longer_than_reading_them(data):
    start = time.process_time()
    with contextlib.suppress(CorpusError):
        decode_text(data)
    # Measured: 0.01 to 0.7 s. Anything quadratic in four megabytes would take hours.
    assert time.process_time() - start < 10


# --- pasted text --------------------------------------------------------------------------------------


def test_clean_text_leaves_clean_text_alone():
    assert clean_text(MIXED) == (MIXED, ())
    assert clean_text("") == ("", ())


def test_a_mark_in_pasted_text_is_dropped_at_the_start_only():
    assert clean_text(f"{BOM}a{BOM}b") == (f"a{BOM}b", (BOM_NOTICE,))


def test_lone_surrogates_are_replaced_and_counted():
    text, notices = clean_text("ab\udc00c\ud800")
    assert text == "ab\ufffdc\ufffd"
    assert notices == ("2 lone surrogates were replaced by U+FFFD; the first is U+DC00 at character 3.",)


def test_two_surrogates_that_belong_together_are_one_character():
    assert clean_text("a\ud83d\ude00b") == ("a😀b", ())
    assert clean_text("\ud83d\ud83d\ude00")[0] == "\ufffd😀"


@given(st.text(alphabet="a\ufeff\ud83d\ude00é"))
def test_cleaned_text_can_be_written_and_stays_clean(text):
    cleaned, _ = clean_text(text)
    cleaned.encode("utf-8")
    if not cleaned.startswith(BOM):
        assert clean_text(cleaned) == (cleaned, ())


# --- word tables --------------------------------------------------------------------------------------


def test_a_table_keeps_its_order_and_its_words():
    assert list(parse_word_counts("widest\t3\nlow\t5\n").items()) == [("widest", 3), ("low", 5)]
    # With a TAB the word is taken as it stands.
    assert parse_word_counts(" low\t5\nNew York\t2\na\tb\t1\n") == {" low": 5, "New York": 2, "a\tb": 1}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("low\t5", "low"),
        ("low 5", "low"),
        ("low     5", "low"),
        ("  low 5  ", "low"),
        ("low,5", "low"),
        ("low, 5", "low"),
        ("low , 5", "low"),
        ("low\t 5", "low"),
        (", 5", ","),
        (",,5", ","),
        ("a,b,5", "a,b"),
        ("New York 5", "New York"),
        ("low\u20285 5", "low\u20285"),
        ("#\t5", "#"),
        ("</w>\t5", "</w>"),
        ("low\t+5", "low"),
    ],
)
def test_separators(line, word):
    assert parse_word_counts(line) == {word: 5}
    assert parse_word_counts(f"\n{line}\r\n\r\n") == {word: 5}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("low\t5\nlower", "line 2 must be `word<TAB>count`, but has no count after 'lower'"),
        ("low\t", "line 1: the count of 'low' must be a whole number, but is ''"),
        (
            "word\tcount\nlow\t5",
            "line 1: the count of 'word' must be a whole number, but is 'count' (remove a heading line)",
        ),
        ("low\t5\nlower\ttwo", "line 2: the count of 'lower' must be a whole number, but is 'two'"),
        ("low\t2.5", "line 1: the count of 'low' must be a whole number, but is '2.5'"),
        ("low\t1_000", "line 1: the count of 'low' must be a whole number, but is '1_000'"),
        ("low\t٥", "line 1: the count of 'low' must be a whole number, but is '٥'"),
        ("low\t0", "line 1: the count of 'low' must be from 1 to 1,000,000,000,000, but is 0"),
        ("low\t-3", "line 1: the count of 'low' must be from 1 to 1,000,000,000,000, but is -3"),
        ("low\t9999999999999", "line 1: the count of 'low' must be from 1 to 1,000,000,000,000"),
        ("low\t" + "9" * 5000, "line 1: the count of 'low' must be a whole number, but is '99999"),
        ("\t5", "line 1 must be `word<TAB>count`, but has no word before the count"),
        (",5", "line 1 must be `word<TAB>count`, but has no word before the count"),
        ("low\t5\n\nnew\t1\nlow\t2", "line 4: a word must stand on one line, but 'low' is on line 1 too"),
        ("", "a word table must hold at least one line"),
        ("\n \n\t\n", "a word table must hold at least one line"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(table, message):
    with pytest.raises(CorpusError) as caught:
        parse_word_counts(table)
    assert str(caught.value).startswith(message)


def test_the_largest_count_is_taken():
    assert parse_word_counts(f"low\t{MAX_COUNT}") == {"low": MAX_COUNT}


@given(
    st.dictionaries(st.text(st.characters(blacklist_characters="\n\r\t"), min_size=1), st.integers(1, 9**9), min_size=1)
)
def test_any_table_comes_back(counts):
    table = "".join(f"{word}\t{count}\n" for word, count in counts.items())
    assert list(parse_word_counts(table).items()) == list(counts.items())


def test_a_long_line_without_a_count_is_refused_at_once():
    start = time.process_time()
    with pytest.raises(CorpusError):
        parse_word_counts("a" + " " * 1_000_000 + "," * 1_000_000)
    assert time.process_time() - start < 5
