"""Languages: what the same content costs in each language, under each tokenizer."""

import streamlit as st

from ui import frame, views
from ui.languages import controls
from ui.languages.views import show

frame.begin("languages")
with frame.readable_errors():
    choice = controls.choose()
    answer = controls.answered(choice.question)

above = st.container()
show(choice, answer)
with above:
    frame.show_notices()
    views.show_text_notices(choice.notices)
frame.end()
