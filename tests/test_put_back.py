"""What a button puts into a widget stays there: an older message of the browser takes nothing back, the reader does."""

from __future__ import annotations

import pytest

from ui import state


class Drawn(dict):
    """A session of which all widgets are drawn."""

    def __setitem__(self, key, value):
        raise AssertionError(f"{key} is drawn already")


@pytest.fixture
def session(monkeypatch):
    """A session of plain values, and a clock to be set."""
    session, clock = {}, [100.0]
    monkeypatch.setattr(state.st, "session_state", session)
    monkeypatch.setattr(state.time, "monotonic", lambda: clock[0])
    session["clock"] = clock
    return session


def test_an_older_message_takes_nothing_back(session):
    session["word"] = "old"
    state.put("word", "new")
    for _ in range(2):  # several such messages may be on their way
        session["word"] = "old"
        state.put_back()
        assert session["word"] == "new"


def test_what_the_reader_sets_stays(session):
    session["word"] = "old"
    state.put("word", "new")
    session["word"] = "the reader's"
    state.put_back()
    assert session["word"] == "the reader's"
    session["clock"][0] += 2.1
    session["word"] = "old"
    state.put_back()
    assert session["word"] == "old"


def test_a_second_button_counts(session):
    session["word"] = "old"
    state.put("word", "new")
    state.put("word", "old")
    state.put_back()
    assert session["word"] == "old"


def test_a_widget_that_holds_it_already_is_not_set_again(monkeypatch):
    """In a run of the whole page it is drawn by then, and Streamlit refuses."""
    session = {"word": "held"}
    monkeypatch.setattr(state.st, "session_state", session)
    state.put("word", "held")
    monkeypatch.setattr(state.st, "session_state", Drawn(session))
    state.put_back()


def test_a_widget_that_is_gone_does_not_come_back(session):
    session["word"] = "old"
    state.put("word", "new")
    del session["word"]
    state.put_back()
    assert "word" not in session
