"""Quirks: what people blame on the model and the tokenizer did, each as something to touch."""

import streamlit as st

from ui import choosing, frame
from ui.quirks import menu

frame.begin("quirks")
with frame.readable_errors():
    draw = menu.choose_quirk()
    chosen = choosing.choose()
    choosing.show_about(chosen)
    st.divider()
    draw(chosen)
frame.show_notices()
frame.end()
