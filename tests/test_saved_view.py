"""Saving a view and opening it again, through the pages: what the session is given, and where the browser is sent."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from pagetest import finished, open_page, page_at, plain, said

from bpe import TrainSettings, save_tokenizer, train
from ui import brought, saved_view, state
from ui.page_list import PAGES
from ui.view_file import SavedTraining, View, pack_view


def opened(data: bytes, page: str = "app.py"):
    """Return a page on which a reader has opened a saved view."""
    app = page_at(page).run()
    app.session_state[state.SHARE_BUTTON] = True
    app.run()
    app.file_uploader(key=state.OPEN_FILE).set_value(("saved.bpeview", data, "application/octet-stream")).run()
    return finished(app)


def journey_of(app) -> dict | None:
    """Where the browser is sent."""
    for part in app.get("bidi_component"):
        if part.proto.component_name.endswith("link_fragment"):
            return json.loads(part.proto.json).get("journey")
    return None


@pytest.mark.parametrize("name", PAGES)
def test_the_browser_is_sent_to_the_page_and_address_of_the_view(name):
    app = opened(pack_view(View(name, [("tokenizer", "gpt2"), ("shown", "marks"), ("shown", "ids")])))
    journey = journey_of(app)
    assert journey is not None
    assert (journey["path"], journey["leaves"]) == (PAGES[name].path, "")
    assert parse_qs(journey["query"]) == {"tokenizer": ["gpt2"], "shown": ["marks", "ids"]}
    assert not app.title  # the page that is left stops there


def test_texts_and_files_are_given_to_the_session_and_nothing_else():
    texts = {state.TEXT_AREA: "mine", state.CORPUS_PASTE: "a corpus", "own-tokenizer": "x", "merges": "9"}
    files = {state.UPLOAD: {"a.txt": b"hello"}, "own-tokenizer": {"x": b"x"}}
    app = opened(pack_view(View("tokenize", (), texts, files)))
    assert app.session_state[state.TEXT_AREA] == "mine"
    assert app.session_state[state.CORPUS_PASTE] == "a corpus"
    assert "own-tokenizer" not in app.session_state
    assert "merges" not in app.session_state
    app.run()  # the browser has gone
    assert not app.exception
    assert "From the saved view: a.txt" in said(app)
    assert "Showing the file a.txt (5 bytes, UTF-8)" in said(app).replace("utf-8", "UTF-8")
    app.button(key=f"{state.UPLOAD}-close").click().run()
    assert "a.txt" not in said(app)
    assert app.text_area(key=state.TEXT_AREA).value == "mine"


def test_a_corpus_from_a_file_trains_again():
    corpus = "low low lower lowest newest widest " * 5
    view = View("train", [("source", "upload")], {}, {state.CORPUS_UPLOAD: {"corpus.txt": corpus.encode()}})
    app = opened(pack_view(view))
    app.switch_page("pages/1_Train.py")
    app.query_params["source"] = "upload"
    finished(app.run())
    own = app.session_state["own-tokenizer"]
    assert list(own.training.merges) == list(train(corpus, TrainSettings(num_merges=500)).merges)


def test_the_own_tokenizer_is_trained_again():
    text = "low low lower lowest newest widest " * 5
    training = train(text, TrainSettings(num_merges=12))
    saved = SavedTraining("my corpus", dict(training.pre_tokens.items()), training.settings, 5)
    app = opened(pack_view(View("compare", [("compare", "yours")], training=saved)))
    own = app.session_state["own-tokenizer"]
    assert (own.corpus, own.step) == ("my corpus", 5)
    assert own.training.tokenizer.encode(text) == training.tokenizer.encode(text)
    assert own.training.num_tokens.tolist() == training.num_tokens.tolist()


def test_a_tokenizer_that_cannot_be_trained_is_said_and_the_rest_opens():
    saved = SavedTraining("my corpus", {"x": 1}, TrainSettings(base="bytes", vocab_size=3), 0)
    app = opened(pack_view(View("tokenize", (), {state.TEXT_AREA: "mine"}, training=saved)))
    assert journey_of(app) is not None
    assert "own-tokenizer" not in app.session_state
    app.run()
    assert any("could not be trained again" in plain(warning.value) for warning in app.warning)


def test_what_is_beyond_the_limits_of_this_server_is_left_out_and_said(monkeypatch):
    small = replace(saved_view.LIMITS, typed_chars=20, training_mb=1)
    monkeypatch.setattr(saved_view, "LIMITS", small)
    words = {f"{'x' * 100_000}{number}": 1 for number in range(11)}
    saved = SavedTraining("large", words, TrainSettings(num_merges=5), 0)
    texts = {state.TEXT_AREA: "x" * 21, state.CORPUS_PASTE: "x" * 20}
    app = opened(pack_view(View("tokenize", (), texts, training=saved)))
    app.run()
    notices = [plain(warning.value) for warning in app.warning]
    assert any("more than 20 characters" in notice for notice in notices)
    assert any("trained on more than 1 MB" in notice for notice in notices)
    assert app.session_state[state.CORPUS_PASTE] == "x" * 20
    assert app.text_area(key=state.TEXT_AREA).value != "x" * 21
    assert "own-tokenizer" not in app.session_state


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"tokenizer.json": b"{" * 100}, "tokenizer.json"),
        ({f"{number}.json": b"{}" for number in range(5)}, "one file, or two"),
        ({"tokenizer.json": b"x" * 1_100_000}, "at most 1,000,000 bytes"),
    ],
)
def test_a_tokenizer_that_cannot_be_taken_is_left_out_and_said(monkeypatch, files, says):
    monkeypatch.setattr(brought, "MOST_BYTES", 1_000_000)
    app = opened(pack_view(View("tokenize", (), {}, {state.OWN_FILES: files})))
    app.run()
    assert not app.exception
    assert any("left out" in (notice := plain(warning.value)) and says in notice for warning in app.warning)
    assert state.OWN_FILES not in app.session_state


def test_a_tokenizer_of_a_view_is_offered(monkeypatch):
    files = save_tokenizer(train("low lower lowest", TrainSettings(num_merges=5)).tokenizer, "bpe-json")
    app = opened(pack_view(View("tokenize", (), {}, {state.OWN_FILES: files})))
    app.run()
    assert brought.BROUGHT_NAME in app.selectbox(key=state.TOKENIZER).options


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"hello", "no view that was saved here"), (pack_view(View("nowhere")), "which this app does not have")],
)
def test_a_file_that_cannot_be_opened_leaves_the_page_as_it_is(data, says):
    app = opened(data)
    assert journey_of(app) is None
    assert any(says in plain(error.value) for error in app.error)
    assert [title.value for title in app.title] == ["Tokenize"]


def test_a_view_holds_what_the_address_does_not():
    app = open_page("pages/1_Train.py", source="paste")
    app.text_area(key=state.CORPUS_PASTE).set_value("my corpus, my corpus").run()
    app.session_state[state.SHARE_BUTTON] = True
    app.run()
    assert not app.exception
    assert [button.proto.label for button in app.get("download_button")].count("Save this view") == 1
