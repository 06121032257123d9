"""Quirks: what people blame on the model and the tokenizer did, each as something to touch."""

import streamlit as st

from ui import frame
from ui.quirks import controls, menu

frame.begin("quirks")
with frame.readable_errors():
    draw = menu.choose_quirk()
    chosen = controls.choose_tokenizer()
    st.divider()
    draw(chosen)
frame.show_notices()
frame.end()
