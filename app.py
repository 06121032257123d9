"""First page, Tokenize: paste a text and see it as tokens, at every number of merges."""

import streamlit as st

from ui import controls, frame, state, views
from ui.tokenizing import tokenized

frame.begin("tokenize")
with frame.readable_errors():
    with frame.beside_stage("controls"):
        choice = controls.enter_text()
        chosen, special = controls.choose_tokenizer()
    result = tokenized(chosen, choice.text, special)

state.check_stage_link(result.num_merges)
frame.show_notices()
if not frame.is_embedded():
    views.show_text_notices(choice.notices)
    views.show_summary(result)
views.step_stage(result.payload, key=state.TOKENIZE_STAGE, num_merges=result.num_merges)
if not frame.is_embedded():
    views.show_ids(result)
    st.caption("Try next: drag the slider to 0 to see the bytes, then up again and watch words appear.")
frame.end()
