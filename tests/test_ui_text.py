"""Labels and links: what a reader's text may do to a page is nothing."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.links import LONGEST_IN_LINK, LinkError, pack_text, unpack_text
from ui.text import as_sentence, chart_literal, markdown_literal, show_token


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"\x00", "␀"),
        (b"\x1b", "␛"),
        ("\u202e".encode(), "⟨U+202E⟩"),
        ("\u00ad".encode(), "⟨U+00AD⟩"),
        ("\ufeff".encode(), "⟨U+FEFF⟩"),
        ("\u0301".encode(), "◌\u0301"),
        (b"\t\n", "→↵"),
        (b"\xf0\x9f", "⟨f0 9f⟩"),
        ("안".encode(), "안"),
    ],
)
def test_tokens_without_ink_are_named(token, shown):
    assert show_token(token) == shown


@given(st.text())
def test_isolated_labels_are_closed(text):
    shown = show_token(text.encode(errors="replace"), isolate=True)
    assert shown[0] == "\u2068"
    assert shown[-1] == "\u2069"


@given(st.text(alphabet="$a:red[x]*_`<b>&#\\"))
def test_markdown_and_chart_literals_leave_no_active_sign(text):
    import html

    unescaped = html.unescape(chart_literal(text))
    assert unescaped == html.unescape(text.replace("&", "&amp;"))
    assert "<" not in chart_literal(text)
    assert "$" not in chart_literal(text)
    literal = markdown_literal(text)
    bare = [char for before, char in zip(" " + literal, literal, strict=False) if char in "$*_`<[" and before != "\\"]
    assert bare == []


@given(st.text(max_size=500))
def test_a_text_survives_its_link(text):
    packed = pack_text(text)
    if packed is not None:
        assert len(packed) <= LONGEST_IN_LINK
        assert unpack_text(packed) == text


def test_a_long_text_has_no_link():
    import random

    source = random.Random(1)
    assert pack_text("".join(chr(source.randrange(0x4E00, 0x9FFF)) for _ in range(20_000))) is None


def wrapped(data: bytes) -> str:
    return "1" + base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        ("", "another version"),
        ("9abc", "another version"),
        ("1!!!", "changed on its way"),
        ("1abc", "changed on its way"),
        (wrapped(zlib.compress(b"hello")[:-6]), "cut on its way"),
        (wrapped(zlib.compress(b"\xff\xfe")), "changed on its way"),
        (wrapped(zlib.compress(b"0" * 3_000_000)), "unfolds to more than"),
    ],
)
def test_a_broken_link_says_what_is_wrong(packed, says):
    with pytest.raises(LinkError, match=says):
        unpack_text(packed)


def test_a_bomb_is_not_unfolded():
    import tracemalloc

    bomb = wrapped(zlib.compress(b"0" * 500_000_000, 9))
    tracemalloc.start()
    with pytest.raises(LinkError, match="unfolds"):
        unpack_text(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("a token id must be from 0 to 9, but is 12", "A token id must be from 0 to 9, but is 12."),
        ("line 3: the count of 'a.b' must be a whole number", "Line 3: the count of 'a.b' must be a whole number."),
        ("notes.txt must be UTF-8. Choose another.", "notes.txt must be UTF-8. Choose another."),
        ("my notes.txt is empty", "my notes.txt is empty."),
        ("end_of_word='attached' needs base='chars'", "end_of_word='attached' needs base='chars'."),
        ("the search must end within 2 s", "The search must end within 2 s."),
        ("", "."),
    ],
)
def test_a_message_becomes_a_sentence_and_a_file_keeps_its_name(message, sentence):
    assert as_sentence(message) == sentence
