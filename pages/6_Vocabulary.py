"""Vocabulary: every token of a vocabulary, to search, to take apart, and to check against its own text."""

import streamlit as st

from ui import choosing, frame
from ui.vocabulary import compute, controls, views

frame.begin("vocabulary")
with frame.readable_errors():
    chosen = choosing.choose("Vocabulary")
    vocabulary = compute.vocabulary_of(chosen.key, chosen.tokenizer)
    st.caption(controls.describe(chosen, vocabulary))
    wanted = controls.choose_filter(vocabulary)
    rows = compute.rows_of(chosen.key, wanted, vocabulary)

    found = compute.analyses().known(chosen.key)
    views.show_list(chosen, vocabulary, wanted, rows, found)
    frame.show_notices(keep=found is None)  # the page runs again when the analysis is there
    views.show_histograms(vocabulary, rows)
    views.show_unproduced(chosen, vocabulary)
    st.caption("Try next: order by *longest*, or choose o200k_base and look at the tokens that its split pattern cuts.")
    views.show_sources()

frame.end()
