"""Train: learn merges from a corpus and scrub through every one of them."""

import streamlit as st

from ui import compute, controls, downloads, frame, state, views, waiting

frame.begin("train")
with frame.readable_errors():
    with frame.beside_stage("controls"):
        corpus, notices = controls.choose_corpus()
        settings = controls.choose_settings(is_table=corpus.text is None)
    training = waiting.trained(corpus, settings)

if not frame.is_embedded():
    views.show_text_notices(notices)
    st.markdown(views.stop_sentence(training))
    views.show_slower()
state.check_stage_link(training.num_merges)
key = compute.learned_key(compute.training_key(corpus, settings), training)
state.set_own_tokenizer(state.OwnTokenizer(training, key, corpus.title, state.linked_step(training.num_merges)))
frame.show_notices()


@st.fragment
def laboratory() -> None:
    """The stage and what follows its step; only this part runs again when the step changes."""
    with frame.readable_part():
        with frame.beside_stage("sentence"):
            sentence = controls.enter_sentence()
        view = compute.train_view(key, corpus.title, sentence, training, corpus)
        views.show_unknown(view.num_unknown)
        views.show_drawn_part(view.num_drawn_bytes, view.num_bytes)
        step = views.step_stage(view.payload, key=state.TRAIN_STAGE, num_merges=training.num_merges)
        own = state.OwnTokenizer(training, key, corpus.title, step)
        state.set_own_tokenizer(own)
        if frame.is_embedded():
            return
        left, right = st.columns(2)
        with left:
            views.show_contest(training, step, training.contest(step))
        with right:
            views.show_curve(training, corpus, step)
        downloads.offer_downloads(own)


laboratory()
frame.end()
