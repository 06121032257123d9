"""How many samples to draw by chance, and from which seed: two controls that several parts share."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import state

__all__ = ["choose_samples"]

_MOST_SAMPLES = 5_000


def choose_samples(left: DeltaGenerator, right: DeltaGenerator) -> tuple[int, int]:
    """Draw the number of samples and the seed into two places and return both."""
    state.check_link_number(state.SEED, 0, 10**6, "as seed")
    state.check_link_number(state.NUM_SAMPLES, 1, _MOST_SAMPLES, "samples")
    with left:
        num_samples = st.number_input(
            "Samples",
            1,
            _MOST_SAMPLES,
            1_000,
            step=100,
            key=state.NUM_SAMPLES,
            bind=state.number_binding(state.NUM_SAMPLES),
        )
    with right:
        seed = st.number_input("Seed", 0, 10**6, 0, key=state.SEED, bind=state.number_binding(state.SEED))
    return int(num_samples or 1), int(seed or 0)
