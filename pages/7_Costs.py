"""Costs: what a vocabulary costs a model, and what it saves it on a text."""

import streamlit as st

from ui import choosing, frame
from ui.costs import controls, views
from ui.views import show_text_notices

frame.begin("costs")
with frame.readable_errors():
    choice = controls.choose_text()
    chosen = choosing.choose()
    choosing.show_about(chosen)
    model = controls.choose_model(chosen.tokenizer.vocab_size)
    counts = views.counted(chosen, choice.text)

    frame.show_notices()
    show_text_notices(choice.notices)
    views.show_figures(counts, model)
    views.show_trade(counts, model, chosen.tokenizer.num_merges)
    views.show_units(counts, model)
    left, right = st.columns(2)
    with left:
        views.show_models(model)
    with right:
        views.show_languages(chosen)
    st.caption("Try next: a larger model, and watch the sweet spot move to a larger vocabulary.")
    views.show_sources()

frame.end()
