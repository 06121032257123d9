"""Compare: one text under many tokenizers on one axis, the reader's own among them at any step."""

from functools import partial

import streamlit as st

from ui import controls, frame, views
from ui.compare import views as parts
from ui.compare.controls import choose, compared, follow_step, watch_loading
from ui.compare.presets import PRESETS

frame.begin("compare")
with frame.readable_errors():
    entered = controls.enter_text(PRESETS)
    choice = choose()
    comparison = compared(entered.text, choice)

    above = st.container()
    parts.show_rows(comparison, choice.step, partial(follow_step, choice))
    is_loading = watch_loading(choice, comparison)
    parts.show_table(comparison, choice.names)
    parts.show_curve(comparison, choice.step)
    parts.show_agreement(comparison)
    parts.show_changes(comparison)
    parts.show_cards(choice)
    with above:
        frame.show_notices(keep=is_loading)
        views.show_text_notices(entered.notices)
    st.caption(
        "Try next: drag *merges of yours* and watch its cuts join the others; N and P walk through the differences."
    )

frame.end()
