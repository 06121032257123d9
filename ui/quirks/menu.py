"""The list of quirks, in the order of the page, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui import state
from ui.choosing import Chosen
from ui.quirks import byte_names, numbers, spelling, unicode, variants, white_space

__all__ = ["QUIRKS", "choose_quirk"]

QUIRKS: dict[str, Callable[[Chosen], None]] = {
    "Spelling": spelling.show,
    "Numbers": numbers.show,
    "White space": white_space.show,
    "Case and spelling": variants.show,
    "Unicode": unicode.show,
    "Bytes as characters": byte_names.show,
}


def choose_quirk() -> Callable[[Chosen], None]:
    """Draw the choice and return what draws the quirk."""
    names = list(QUIRKS)
    state.check_link(state.QUIRK, names, "quirk")
    name = st.segmented_control("Quirk", names, default=names[0], required=True, key=state.QUIRK, bind="query-params")
    return QUIRKS[name]
