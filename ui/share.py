"""A button on every page that makes a link to the present view, and the other end: opening what a link brings.

Nearly all of a view is in the address already: the page, what its controls are set to, the step, a short text. The
link adds what is not: texts that the address does not follow, and texts too long for a server to take. Those stand
behind the `#`, which a browser keeps to itself: so a small component reads them there and hands them over.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bpe.samples import list_samples, load_word_counts
from ui import state
from ui.links import LONGEST_IN_LINK, LinkError, pack_texts, unpack_texts
from ui.saved_view import show_view_file
from ui.text import as_sentence, count_of

__all__ = ["open_link", "show_button", "show_way_out"]

_FOLDER = Path(__file__).parent / "share_link"


def _source(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_fragment = st.components.v2.component("link_fragment", html="<span hidden></span>\n", js=_source("fragment.js"))
_link = st.components.v2.component(
    "share_link", html=_source("link.html"), css=_source("link.css"), js=_source("link.js")
)
_way_out = st.components.v2.component(
    "way_out", html=_source("way_out.html"), css=_source("way_out.css"), js=_source("way_out.js")
)


def open_link(journey: state.Journey | None) -> None:
    """Take over the texts that the link brings, before the widgets that show them; or send the browser on a journey."""
    if journey is not None:
        _fragment(data={"journey": journey._asdict()}, key=state.LINK_FRAGMENT)
        st.stop()  # the page that is left must not touch the address any more
    state.open_linked_texts()
    _fragment(data={"forget": state.fragment_is_outdated()}, key=state.LINK_FRAGMENT, on_texts_change=_open_fragment)


def _open_fragment() -> None:
    reported = st.session_state.get(state.LINK_FRAGMENT)
    packed = reported.get("texts") if reported is not None else None
    if not isinstance(packed, str):
        return
    try:
        state.open_fragment(unpack_texts(packed))
    except LinkError as error:
        state.note_link_error(error)


def show_way_out() -> None:
    """Draw the link that leads from an embedded view to the same view in the app."""
    _way_out(key=state.WAY_OUT)


@st.fragment
def show_button(page: str, *, is_stage: bool) -> None:
    """Draw the button; what it opens is made only then, and draws nothing else of the page again.

    page        its name
    is_stage    whether the page has a stage that can stand inside another page
    """
    box = st.popover("Share", key=state.SHARE_BUTTON, icon=":material/share:", on_change="rerun", width="content")
    if box.open:
        with box:
            texts = _texts_to_add()
            _show_link(texts, is_stage)
            show_view_file(page, texts)


def _texts_to_add() -> dict[str, str]:
    """Return the texts of this page that the address does not hold and that a page does not open on."""
    return {key: text for key, text in state.texts_beside_address().items() if not _is_sample(key, text)}


def _is_sample(key: str, text: str) -> bool:
    """Whether a text is the word table that the text area opens on."""
    table = key.removeprefix(f"{state.WORD_COUNTS}-")
    if table == key or table not in {sample.name for sample in list_samples()}:
        return False
    return text == "".join(f"{word}\t{count}\n" for word, count in load_word_counts(table).items())


def _show_link(texts: dict[str, str], is_stage: bool) -> None:
    st.markdown("**A link to this view**")
    packed = ""
    try:
        packed = pack_texts(texts) if texts else ""
    except LinkError as error:
        texts = {}
        st.warning(as_sentence(str(error)), icon=":material/link_off:")
    if texts or state.address_holds_text():
        st.warning(
            "The link holds the text you see here: whoever has the link can read it.", icon=":material/visibility:"
        )
    else:
        st.markdown("The link holds names and settings, and nothing that you typed.")
    if state.has_uploads():
        st.info("Files that you opened are not in the link: a saved view has them.", icon=":material/attach_file:")
    if state.names_own_tokenizer():
        st.info(
            f"*{state.OWN_NAME}* stays here: in another browser it is the tokenizer that was trained there. "
            "The page *Train* makes a link that trains it again, and a saved view brings it along.",
            icon=":material/merge:",
        )
    _link(data={"packed": packed, "longest": LONGEST_IN_LINK, "embeds": is_stage}, key=state.SHARE_LINK)
    if len(packed) > LONGEST_IN_LINK:
        st.caption(
            f"Your text is {count_of(len(packed), 'character')} when packed, more than servers take in an address: it "
            "stands behind the # of the link, which never leaves the browser that opens it until the page is there."
        )
