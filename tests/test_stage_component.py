"""Who moves the stage: the reader, or the page. Decided without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ui.stage.component import StageState, Turn, next_turn, reported
from ui.stage.payload import StageOptions, read_head

APP = Path(__file__).parent / "browser" / "apps" / "stage_app.py"
PLAIN = StageOptions()
MARKS = StageOptions(marks=True)


def head(step: int, *, name: str = "a", options: StageOptions = PLAIN) -> dict[str, Any]:
    shown = {"marks": options.marks, "walls": options.walls, "bytes": options.bytes, "ids": options.ids}
    return {"id": name, "step": step, "options": shown, "num_merges": 100}


def report(turn: Turn, *, step: object = None, options: object = None) -> dict[str, Any]:
    """What the browser reports, in a turn."""
    state = {}
    if step is not None:
        state["step"] = {"of": turn.id, "turn": turn.number, "value": step}
    if options is not None:
        state["options"] = {"of": turn.id, "turn": turn.number, "value": options}
    return state


def test_first_run_gives_what_the_page_asks() -> None:
    turn = next_turn(head(3, options=MARKS), None, None)
    assert turn.given == StageState(3, MARKS)
    assert reported(turn, None, 100) == StageState(3, MARKS)


def test_echo_of_the_reader_changes_nothing_that_is_sent() -> None:
    first = next_turn(head(3), None, None)
    state = report(first, step=7)
    second = next_turn(head(7), first, state)
    assert (second.number, second.given) == (first.number, first.given)
    assert reported(second, state, 100).step == 7


def test_page_that_always_asks_the_same_does_not_pull_the_reader_back() -> None:
    turn = next_turn(head(3), None, None)
    state = report(turn, step=7)
    for _ in range(3):
        turn = next_turn(head(3), turn, state)
        assert turn.number == 0
        assert reported(turn, state, 100).step == 7


def test_page_that_asks_for_another_step_moves_the_stage() -> None:
    first = next_turn(head(3), None, None)
    state = report(first, step=7)
    second = next_turn(head(7), first, state)
    third = next_turn(head(3), second, state)
    assert third.number == first.number + 1
    assert third.given.step == 3
    # The old report of 7 is still in the session: it belongs to the turn before.
    assert reported(third, state, 100).step == 3
    # The same number again, reported in this turn, counts.
    assert reported(third, report(third, step=7), 100).step == 7


def test_moving_the_step_keeps_what_the_reader_switched_on() -> None:
    first = next_turn(head(3), None, None)
    state = report(first, step=7, options={"marks": True})
    moved = next_turn(head(50), first, state)
    assert moved.given == StageState(50, MARKS)


def test_switching_an_option_from_the_page_keeps_the_readers_step() -> None:
    first = next_turn(head(3), None, None)
    moved = next_turn(head(3, options=MARKS), first, report(first, step=7))
    assert moved.given == StageState(7, MARKS)


def test_another_drawing_starts_where_the_page_says() -> None:
    first = next_turn(head(3), None, None)
    state = report(first, step=7)
    other = next_turn(head(0, name="b"), first, state)
    assert reported(other, state, 100).step == 0
    # Back to the first drawing: what was reported there before is not taken for new.
    again = next_turn(head(3), other, state)
    assert reported(again, state, 100).step == 3


@pytest.mark.parametrize("step", [-1, 101, "7", 7.0, True, None, [7]])
def test_step_from_outside_that_is_none_is_not_believed(step: object) -> None:
    turn = next_turn(head(3), None, None)
    state = {"step": {"of": turn.id, "turn": turn.number, "value": step}}
    assert reported(turn, state, 100).step == 3


@pytest.mark.parametrize("options", ["marks", ["marks"], {"marks": "yes", "other": True}, {}])
def test_options_from_outside_that_are_none_are_off(options: object) -> None:
    turn = next_turn(head(3), None, None)
    assert reported(turn, report(turn, options=options), 100).options == PLAIN


@pytest.mark.parametrize(("speed", "taken"), [(4, 4), (60, 60), (5, 15), ("4", 15), (4.5, 15), (None, 15), ([4], 15)])
def test_speed_is_one_that_is_on_offer(speed: object, taken: int) -> None:
    turn = next_turn(head(3), None, None)
    assert reported(turn, report(turn, options={"speed": speed}), 100).options == StageOptions(speed=taken)


@pytest.mark.parametrize("state", [None, "text", {"step": 7}, {"step": {"value": 7}}, {"step": None}])
def test_report_of_another_shape_is_no_report(state: Any) -> None:
    turn = next_turn(head(3), None, None)
    assert reported(turn, state, 100) == StageState(3, PLAIN)


def test_page_with_a_stage_runs_and_sends_its_payload() -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["text"] = "english"
    app.query_params["size"] = "2000"
    app.query_params["step"] = "4"
    app.run()
    assert not app.exception
    sent = read_head(app.get("bidi_component")[0].proto.bytes)
    assert (sent["step"], sent["turn"], sent["height"]) == (4, 0, 400)
    assert any(text.value == "step on the server: 4" for text in app.text)
