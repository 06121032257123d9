"""The parts of the page, in the order of the story, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui import state
from ui.algorithms import bench, digits, dropout, gage, greedy, lattice, race

__all__ = ["PARTS", "choose_part"]

PARTS: dict[str, Callable[[], None]] = {
    "Textbook bench": bench.show,
    "Three on one corpus": race.show,
    "Lattice": lattice.show,
    "Dropout": dropout.show,
    "Longest match": greedy.show,
    "Compression": gage.show,
    "Digits": digits.show,
}


def choose_part() -> Callable[[], None]:
    """Draw the choice and return what draws the part."""
    names = list(PARTS)
    state.check_link(state.ALGORITHM, names, "part of this page")
    name = st.segmented_control(
        "Part", names, default=names[0], required=True, key=state.ALGORITHM, bind="query-params"
    )
    return PARTS[str(name)]
