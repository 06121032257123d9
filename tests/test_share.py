"""Links that bring texts: packed by key, opened on any page, bounded, and never trusted."""

from __future__ import annotations

import base64
import json
import zlib

import pytest
from pagetest import head_of, open_page, page_at, plain, said

from bpe import TrainSettings, train
from ui import state
from ui.links import LONGEST_IN_LINK, LinkError, pack_text, pack_texts, unpack_text, unpack_texts

PAGES = (
    "app.py",
    "pages/1_Train.py",
    "pages/2_Compare.py",
    "pages/3_Languages.py",
    "pages/4_Algorithms.py",
    "pages/5_Quirks.py",
    "pages/6_Vocabulary.py",
    "pages/7_Costs.py",
    "pages/8_Fact_check.py",
)

OLD_LINK = "1eNoFwcENACAIBLBVbgCX4gF6kUACxPltj7onZAtjQRoCZ1ykYY7CWD14Ws2MD0npD2g"
"""A text as the first version packed it. It must open for ever."""


def packed_by_hand(content: bytes, version: str = "2") -> str:
    return version + base64.urlsafe_b64encode(zlib.compress(content)).decode().rstrip("=")


def test_a_link_of_the_first_version_opens():
    text = "hello again, as a link of the first version"
    assert unpack_texts(OLD_LINK) == {"text": text}
    assert unpack_text(OLD_LINK) == text


@pytest.mark.parametrize(
    "texts", [{}, {"text": ""}, {"code": "\tx\n", "text": "안녕 👩‍👩‍👧‍👦 \ufffd"}, {"text": "long " * 300_000}]
)
def test_texts_come_back(texts):
    assert unpack_texts(pack_texts(texts)) == texts


def test_texts_beyond_two_megabytes_are_refused_with_a_sentence():
    with pytest.raises(LinkError, match=r"at most 2,000,000 bytes.* send them as a file"):
        pack_texts({"text": "x" * 2_000_001})


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        ("", "another version"),
        ("9abc", "another version"),
        ("2!!!", "changed on its way"),
        (packed_by_hand(b"no JSON"), "changed on its way"),
        (packed_by_hand(b'["a list"]'), "changed on its way"),
        (packed_by_hand(b'{"text": 3}'), "changed on its way"),
        (packed_by_hand(b"[" * 100_000), "changed on its way"),
        (packed_by_hand(b'{"text": "' + b"x" * 10_000_000 + b'"}'), "unfolds to more than 2,000,000 bytes"),
        (pack_texts({"text": "cut in the middle"})[:-8], "cut on its way"),
    ],
)
def test_a_damaged_or_hostile_link_is_refused(packed, says):
    with pytest.raises(LinkError, match=says):
        unpack_texts(packed)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_offers_a_link(page):
    app = page_at(page).run()
    assert not app.exception
    assert shared(app) == ({}, [])


def test_a_pasted_corpus_comes_along():
    text = "a corpus of one reader, of one reader only"
    app = open_page("pages/1_Train.py", source="paste", z=pack_texts({state.CORPUS_PASTE: text}))
    assert app.text_area(key=state.CORPUS_PASTE).value == text
    assert head_of(app)["num_merges"] == train(text, TrainSettings(num_merges=500)).num_merges
    app.text_area(key=state.CORPUS_PASTE).set_value("something else").run()
    assert app.text_area(key=state.CORPUS_PASTE).value == "something else"


def test_a_word_table_comes_along():
    key = f"{state.WORD_COUNTS}-lowest"
    app = open_page("pages/1_Train.py", source="word counts", z=pack_texts({key: "abab\t7\n"}))
    assert app.text_area(key=key).value == "abab\t7\n"


def test_code_comes_along():
    app = open_page("pages/5_Quirks.py", quirk="White space", z=pack_texts({state.CODE: "if x:\n\ty()\n"}))
    assert app.text_area(key=state.CODE).value == "if x:\n\ty()\n"


def test_a_link_fills_text_areas_and_nothing_else():
    stranger = {"own-tokenizer": "x", state.UPLOAD: "x", state.SHARE_BUTTON: "x", "merges": "x"}
    app = open_page("app.py", z=pack_texts(stranger))
    assert not app.warning
    assert "own-tokenizer" not in app.session_state


def test_a_text_that_cannot_be_read_is_said_on_a_page_without_a_text_area():
    app = open_page("pages/6_Vocabulary.py", z="7abc")
    assert any("another version" in plain(warning.value) for warning in app.warning)


def shared(app) -> tuple[dict[str, str], list[str]]:
    """Open the box; return the texts that the link adds to the address, and what is said about it."""
    app.session_state[state.SHARE_BUTTON] = True
    app.run()
    assert not app.exception
    component = next(part for part in app.get("bidi_component") if part.proto.component_name.endswith("share_link"))
    packed = json.loads(component.proto.json)["packed"]
    notices = [plain(notice.value) for notice in (*app.warning, *app.info) if "link" in notice.value]
    return (unpack_texts(packed) if packed else {}), notices


def test_a_view_without_a_text_is_shared_as_it_stands_in_the_address():
    app = open_page("app.py", tokenizer="cl100k_base")
    texts, notices = shared(app)
    assert (texts, notices) == ({}, [])
    assert "nothing that you typed" in said(app)


@pytest.mark.parametrize("params", [{"z": pack_text("mine")}, {"sentence": "mine"}])
def test_a_link_that_holds_a_text_says_so(params):
    app = open_page("pages/1_Train.py" if "sentence" in params else "app.py", **params)
    assert any("The link holds the text you see here" in notice for notice in shared(app)[1])


def test_a_text_too_long_for_the_address_is_added():
    import random

    text = "".join(random.Random(5).choices("abcdefghij \n", k=20_000))
    app = open_page()
    app.text_area(key=state.TEXT_AREA).set_value(text).run()
    texts, notices = shared(app)
    assert texts == {state.TEXT_AREA: text}
    assert len(pack_texts(texts)) > LONGEST_IN_LINK
    assert any("The link holds the text you see here" in notice for notice in notices)


def test_a_pasted_corpus_is_added_and_the_sample_in_its_place_is_not():
    app = open_page("pages/1_Train.py", source="paste")
    assert shared(app)[0] == {}
    app = open_page("pages/1_Train.py", source="paste")
    app.text_area(key=state.CORPUS_PASTE).set_value("my corpus, my corpus").run()
    assert shared(app)[0] == {state.CORPUS_PASTE: "my corpus, my corpus"}


def test_files_stay_here_and_the_reader_is_told():
    app = open_page()
    app.file_uploader(key=state.UPLOAD).set_value(("notes.txt", b"hello", "text/plain")).run()
    assert any("Files that you opened are not in the link" in notice for notice in shared(app)[1])
