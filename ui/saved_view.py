"""Saves the present view as a file and opens one: what view_file.py packs, gathered from a session and given back.

The address is given back by the browser, which goes to it as its back button would: so every control follows it, with
all the checks that links have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from bpe import BpeError
from ui import state
from ui.brought import check_files
from ui.compute import Corpus, learned_key, training_key
from ui.limits import LIMITS
from ui.page_list import PAGES
from ui.text import as_sentence, markdown_literal
from ui.view_file import MOST_VIEW_BYTES, SavedTraining, View, ViewError, check_size, pack_view, unpack_view

__all__ = ["reopened", "show_view_file", "take_over"]

_LEFT_OUT = ("embed", "embed_options")


def show_view_file(page: str, texts: Mapping[str, str]) -> None:
    """Offer the present view as a file, with the texts that the address does not hold; and open one."""
    st.markdown("**As a file**, for what no link can carry: long texts, files you opened, a tokenizer trained here")
    view = present_view(page, texts)
    try:
        check_size(view)
    except ViewError as error:
        st.warning(markdown_literal(as_sentence(str(error))))
    else:
        st.download_button(
            "Save this view",
            lambda: pack_view(view),
            f"{page}.bpeview",
            "application/octet-stream",
            on_click="ignore",
            icon=":material/save:",
            key=state.SHARE_FILE,
        )
    st.file_uploader(
        "Open a saved view",
        key=state.OPEN_FILE,
        max_upload_size=MOST_VIEW_BYTES // 10**6,
        on_change=_open_file,
    )
    if state.opened_view() is not None:
        st.rerun(scope="app")
    message = st.session_state.get(state.VIEW_ERROR)
    if message:
        st.error(markdown_literal(message), icon=":material/error:")


def present_view(page: str, texts: Mapping[str, str]) -> View:
    """Return what the reader sees, with what the address does not hold."""
    query = [
        (name, value) for name in st.query_params if name not in _LEFT_OUT for value in st.query_params.get_all(name)
    ]
    files = state.uploaded_files()
    brought = state.brought_files()
    if brought:
        files[state.OWN_FILES] = brought
    return View(page, query, texts, files, None if page == "train" else _saved_training())


def _saved_training() -> SavedTraining | None:
    """Return how the session's own tokenizer was trained. The page Train trains again from what it is set to."""
    own = state.own_tokenizer()
    if own is None:
        return None
    training = own.training
    settings = training.settings
    if training.stopped == "cancelled":
        settings = replace(settings, num_merges=training.num_merges, vocab_size=None)
    return SavedTraining(own.corpus, dict(training.pre_tokens.items()), settings, own.step)


def _open_file() -> None:
    file = st.session_state.get(state.OPEN_FILE)
    st.session_state[state.VIEW_ERROR] = ""
    if file is None:
        return
    try:
        view = unpack_view(file.getvalue())
        if view.page not in PAGES:
            raise ViewError(f"this view is of the page {view.page[:40]!r}, which this app does not have")
    except BpeError as error:
        st.session_state[state.VIEW_ERROR] = as_sentence(str(error))
        return
    state.set_opened_view(view)


def take_over(page: str) -> state.Journey | None:
    """Give the session what an opened view holds; return where the browser has to go then, if there is a view."""
    view = state.opened_view()
    if view is None:
        return None
    state.set_opened_view(None)  # first: whatever happens below, it happens once
    if view.training is not None:
        _train_again(view.training)
    state.open_texts_and_files(_short_enough(view.texts), _without_unreadable(view.files))
    st.session_state[state.SHARE_BUTTON] = False
    return state.next_journey(PAGES[view.page].path, PAGES[page].path, view.query)


def _short_enough(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that a text area may hold; of others the reader is told."""
    if any(len(text) > LIMITS.typed_chars for text in texts.values()):
        state.note(f"A text of the view has more than {LIMITS.typed_chars:,} characters: left out. Open it as a file.")
    return {key: text for key, text in texts.items() if len(text) <= LIMITS.typed_chars}


def _without_unreadable(files: Mapping[str, Mapping[str, bytes]]) -> dict[str, Mapping[str, bytes]]:
    """Return the files without a tokenizer that this server does not take; of that the reader is told."""
    kept = dict(files)
    if state.OWN_FILES in kept:
        try:
            check_files(kept[state.OWN_FILES])
        except BpeError as error:
            del kept[state.OWN_FILES]
            state.note(f"The tokenizer of the view was left out: {error}.")
    return kept


def reopened(key: str) -> list[state.ReopenedFile]:
    """Return what a view brought for an upload that has no file of its own, and say so with a way to close it."""
    files = state.reopened_files(key)
    if files:
        with st.container(horizontal=True, vertical_alignment="center"):
            named = ", ".join(markdown_literal(file.name) for file in files)
            st.caption(f":material/folder_open: From the saved view: {named}", width="content")
            st.button("Close", key=f"{key}-close", on_click=state.close_reopened, args=(key,))
    return files


def _train_again(saved: SavedTraining) -> None:
    from ui import waiting  # here, because waiting itself draws in the frame

    corpus = Corpus.of(saved.corpus, saved.words)
    if sum(len(word.encode()) for word in saved.words) > LIMITS.training_mb * 10**6:
        state.note(f"The tokenizer of the view was trained on more than {LIMITS.training_mb:,} MB: left out.")
        return
    try:
        training = waiting.trained(corpus, saved.settings)
    except BpeError as error:
        state.note(f"The tokenizer of the view could not be trained again: {error}.")
        return
    key = learned_key(training_key(corpus, saved.settings), training)
    step = min(saved.step, training.num_merges)
    state.set_own_tokenizer(state.OwnTokenizer(training, key, saved.corpus, step))
