"""What a button puts into a widget stays there: an older message of the browser takes nothing back, the reader does."""

from __future__ import annotations

import pytest

from ui import state


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
    session["clock"][0] += 3.1
    session["word"] = "old"
    state.put_back()
    assert session["word"] == "old"


def test_a_second_button_counts(session):
    session["word"] = "old"
    state.put("word", "new")
    state.put("word", "old")
    state.put_back()
    assert session["word"] == "old"


def test_a_widget_that_is_gone_does_not_come_back(session):
    session["word"] = "old"
    state.put("word", "new")
    del session["word"]
    state.put_back()
    assert "word" not in session
