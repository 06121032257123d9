"""Fact check: what is said about tokens, and what the tokenizers say to it."""

import streamlit as st

from ui import frame
from ui.factcheck import cards, checking

frame.begin("factcheck")
with frame.readable_errors():
    verdict, topic = cards.choose()
    results, job = checking.results_so_far()

frame.show_notices(keep=job is not None and not job.is_over)  # the page runs again as results arrive
if job is not None:
    checking.watch(job, len(results))
else:
    st.markdown(cards.summary_sentence(results))
cards.show_cards(cards.chosen(results, verdict, topic), results)
st.caption(
    "Every verdict and every figure is computed on this machine, with the tokenizers and the sample texts of this app; "
    "the claims are in our words. Try next: open a claim and change one thing in it."
)
frame.end()
