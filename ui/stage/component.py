"""Mounts the token stage in a page and tells the page where the reader is.

The payload is large and the step is small. A page that follows the reader builds its next payload with the step
that the stage has just reported; sent as it is, that would be the whole payload again, for one number that the
browser knows already. So a payload that only echoes the reader goes out as it went out before, and Streamlit sends
a hash instead; a step that did not come from the reader (a link, the back button) goes out as a new *turn*, which
the stage follows. What the reader does is reported together with the turn, so that an old report is recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import streamlit as st

from ui.stage.bundle import stage_css, stage_html, stage_js
from ui.stage.payload import SPEEDS, SWITCHES, StageOptions, read_head, with_head

__all__ = ["StageState", "stage"]

_mount = st.components.v2.component("token_stage", html=stage_html(), css=stage_css(), js=stage_js())


@dataclass(frozen=True)
class StageState:
    """Where the reader is: the number of merges used, and what is shown besides the coloured text."""

    step: int
    options: StageOptions


@dataclass(frozen=True)
class Turn:
    """What a mounted stage was last given to show, and what the page asked for in its last run."""

    id: str
    number: int
    given: StageState
    asked: StageState


def stage(
    payload: bytes,
    *,
    key: str,
    on_step: Callable[[int], None] | None = None,
    on_options: Callable[[StageOptions], None] | None = None,
    height: int | None = 400,
) -> StageState:
    """Draw a payload of `build_payload` and return where the reader is.

    `height` is the height of the text in pixels; None: what the window leaves to it. `on_step` and `on_options` are
    called with the new value, before the rerun that a change causes. While the reader drags nothing is sent; the step
    arrives on release.

    A page may build its payload with the step that was returned last time (then a link or the back button can
    move the stage), or always with the same step (then only the reader moves it).
    """
    head = read_head(payload)
    record = f"_{key}_turn"
    is_mounted = key in st.session_state
    last: Turn | None = st.session_state.get(record) if is_mounted else None
    turn = next_turn(head, last, st.session_state.get(key))
    st.session_state[record] = turn

    def current() -> StageState:
        return reported(turn, st.session_state.get(key), head["num_merges"])

    def step_changed() -> None:
        if on_step is not None:
            on_step(current().step)

    def options_changed() -> None:
        if on_options is not None:
            on_options(current().options)

    given = turn.given
    _mount(
        data=with_head(payload, step=given.step, options=asdict(given.options), turn=turn.number, height=height),
        key=key,
        on_step_change=step_changed,
        on_options_change=options_changed,
    )
    return current()


def next_turn(head: Mapping[str, Any], last: Turn | None, state: Any) -> Turn:
    """Decide what the stage is given: what it was given before, unless the page asks for something new.

    New is what differs both from what the page asked for last time and from what the reader has done since: the
    first alone would be a page that never follows, the second alone an echo.
    """
    asked = StageState(head["step"], StageOptions(**head["options"]))
    if last is None:
        return Turn(id=head["id"], number=0, given=asked, asked=asked)
    if last.id != head["id"]:
        return Turn(id=head["id"], number=last.number + 1, given=asked, asked=asked)
    now = reported(last, state, head["num_merges"])
    wants_step = asked.step not in (last.asked.step, now.step)
    wants_options = asked.options not in (last.asked.options, now.options)
    if not wants_step and not wants_options:
        return replace(last, asked=asked)
    given = StageState(
        step=asked.step if wants_step else now.step,
        options=asked.options if wants_options else now.options,
    )
    return Turn(id=last.id, number=last.number + 1, given=given, asked=asked)


def reported(turn: Turn, state: Any, num_merges: int) -> StageState:
    """Return where the reader is: what the browser reported in this turn, else what it was given.

    The report comes from outside, so nothing about it is taken for granted.
    """
    step = _report(turn, state, "step")
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= num_merges:
        step = turn.given.step
    options = _report(turn, state, "options")
    if not isinstance(options, Mapping):
        return StageState(step=step, options=turn.given.options)
    shown = StageOptions(**{name: options.get(name) is True for name in SWITCHES})
    speed = options.get("speed")
    is_speed = isinstance(speed, int) and speed in SPEEDS
    return StageState(step=step, options=replace(shown, speed=speed) if is_speed else shown)


def _report(turn: Turn, state: Any, name: str) -> Any:
    """The value of one report, or None if there is none for this drawing and this turn."""
    report = state.get(name) if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping) or report.get("of") != turn.id or report.get("turn") != turn.number:
        return None
    return report.get("value")
