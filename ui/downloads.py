"""Takes the reader's own tokenizer away as files: each is offered only after its own library gave the same ids.

The check costs a fraction of a second a format, too much for every step that a reader scrubs over: so the files of a
step are made when they are asked for, with a bar, and kept.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable

import streamlit as st

from bpe import TokenizerLike, Training
from bpe.errors import BpeError
from bpe.formats import FORMATS, save_tokenizer
from ui import state
from ui.kept import kept
from ui.state import OwnTokenizer
from ui.text import count_of, markdown_literal, show_token

__all__ = ["File", "offer_downloads", "tokenizer_file", "tokenizer_files"]

File = tuple[str, bytes]
"""Name and content."""

Offer = File | str
"""A file, or why there is none."""


@kept(num_kept=64)
def tokenizer_file(key: str, step: int, format_name: str, _tokenizer: TokenizerLike) -> Offer:
    """Return a tokenizer in one format, or why it cannot be had. Two files come as one archive.

    `key` and `step` stand for the tokenizer.
    """
    try:
        files = save_tokenizer(_tokenizer, format_name)
    except BpeError as error:
        return str(error)
    if len(files) == 1:
        return next(iter(files.items()))
    return f"{format_name}.zip", _archive(files)


def tokenizer_files(
    key: str, step: int, tokenizer: TokenizerLike, progress: Callable[[float, str], object] = lambda done, title: None
) -> dict[str, Offer]:
    """Return what a tokenizer can be taken away as: title of the format -> file, or why not.

    progress    called before each format with the share done and its title
    """
    offers: dict[str, Offer] = {}
    for number, file_format in enumerate(FORMATS.values()):
        progress(number / len(FORMATS), file_format.title)
        offers[file_format.title] = tokenizer_file(key, step, file_format.name, tokenizer)
    return offers


def offer_downloads(own: OwnTokenizer) -> None:
    """Files of the tokenizer at the step shown, once the reader asks for them."""
    st.markdown(f"**Take it along:** the tokenizer after {count_of(own.step, 'merge')}")
    asked = (own.key, own.step)
    if st.session_state.get(state.FILES_ASKED) != asked:
        st.button(
            "Make the files",
            on_click=_ask_for,
            args=(asked,),
            icon=":material/save:",
            key=state.MAKE_FILES,
            help="Each is read back by the library that owns its format and must give the same ids.",
        )
    else:
        _offer(own)
    st.caption("It is yours on the other pages now: choose *yours* as the tokenizer.")


def _ask_for(asked: tuple[str, int]) -> None:
    st.session_state[state.FILES_ASKED] = asked


def _offer(own: OwnTokenizer) -> None:
    bar = st.progress(0.0, "Making the files")

    def show_progress(done: float, title: str) -> None:
        bar.progress(done, f"Writing and reading back: {title}")

    offers = tokenizer_files(own.key, own.step, own.training.tokenizer.at_step(own.step), show_progress)
    bar.empty()
    with st.container(horizontal=True):
        for title, offer in offers.items():
            if not isinstance(offer, str):
                name, content = offer
                st.download_button(title, content, name, on_click="ignore", key=f"download-{title}")
        st.download_button(
            "Merges as CSV", _merges_csv(own.training, own.step), "merges.csv", "text/csv", on_click="ignore"
        )
    for title, offer in offers.items():
        if isinstance(offer, str):
            st.caption(f":material/block: Not as {markdown_literal(title)}: {markdown_literal(offer)}.")
    st.caption("Each file was read back, by the library that owns its format and by this program, with equal ids.")


def _archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _merges_csv(training: Training, step: int) -> str:
    name = training.tokenizer.token_bytes
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["rank", "left", "right", "token", "token_hex", "count", "tied", "replaced", "tokens_after"])
    for merge in training.merges[:step]:
        shown = [show_token(name(token)) for token in (merge.left, merge.right, merge.token)]
        counts = [merge.pair_count, merge.num_tied, merge.num_replaced, merge.num_tokens]
        writer.writerow([merge.rank, *shown, name(merge.token).hex(), *counts])
    return out.getvalue()
