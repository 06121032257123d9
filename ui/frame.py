"""The frame around every page: configuration, navigation, the reader's own tokenizer, and one place for errors.

Streamlit's own page list is switched off: it would name the first page after its file. page_list.py has the one list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from bpe import BpeError
from bpe.kernels.loader import start_loading
from ui import choosing, share, state
from ui.chart_pictures import offer_chart_pictures
from ui.page_list import PAGES
from ui.saved_view import take_over
from ui.sweeping import start_sweeping
from ui.text import as_sentence, count_of, markdown_literal

__all__ = [
    "PAGES",
    "STAGE_PAGES",
    "begin",
    "beside_stage",
    "end",
    "is_embedded",
    "readable_errors",
    "readable_part",
    "show_notices",
]


STAGE_PAGES = ("tokenize", "train")
"""Pages of which the stage can stand alone inside another page."""

# Wide pages use the room; the stage's own layout decides what stands beside what. The style only tightens
# what Streamlit leaves generous, stops long words from widening a phone's page, and gives small print and pressed
# buttons a contrast of at least 4.5 in light and dark.
_STYLE = """
<style>
  .block-container { padding-top: 3.5rem; padding-bottom: 3rem; max-width: 1500px; }
  [data-testid="stMarkdownContainer"] { overflow-wrap: anywhere; }
  [data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] :not(a) { color: inherit; }
  [data-testid="stCaptionContainer"] { opacity: 0.78; }
  [data-testid="stExpander"] summary { opacity: 0.85; }
  button[data-selected="true"] p { color: color-mix(in srgb, currentColor 65%, light-dark(black, white)); }
</style>
"""

# Inside another page the room belongs to the stage. Controls are there, because they hold what the link asks for, but
# out of sight, unless one of them has something to say.
_EMBEDDED_STYLE = """
<style>
  .block-container { padding: 0.25rem 0.5rem 0.5rem; }
  [data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stHeader"] { display: none; }
  [class*="st-key-beside-stage"]:not(:has([data-testid="stAlert"])) { display: none; }
  [data-testid="stMain"] [data-testid="stVerticalBlock"] { gap: 0.25rem; }
</style>
"""


def begin(page: str) -> None:
    """Set the page up: call it first on every page."""
    this = PAGES[page]
    st.set_page_config(page_title=f"{this.name} · byte-pair encoding", page_icon="🧩", layout="wide")
    start_loading()  # once a server, in the background: nothing a reader asks waits for it
    start_sweeping()
    st.html(_STYLE + (_EMBEDDED_STYLE if is_embedded() else ""))
    state.put_back()
    state.enter_page(page)
    with st.sidebar:
        for entry in PAGES.values():
            st.page_link(entry.file, label=entry.name, icon=entry.icon)
        st.divider()
        st.session_state[state.OWN_PLACE] = st.empty()
    journey = take_over(page)
    with st.sidebar:
        share.open_link(journey)
        offer_chart_pictures()
    if is_embedded():
        share.show_way_out()
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(this.name, width="content")
        share.show_button(page, is_stage=page in STAGE_PAGES)
    st.markdown(f"**{this.question}**")


def is_embedded() -> bool:
    """Whether this page stands inside another one: the address says `embed=true`."""
    return bool(st.context.is_embedded)


@contextmanager
def beside_stage(part: str) -> Iterator[None]:
    """Draw controls that an embedded page keeps out of sight; what they are set to holds there too."""
    if not is_embedded():
        yield
        return
    with st.container(key=f"beside-stage-{part}"):
        yield


def end() -> None:
    """Fill what depends on the page's work: call it after the page's last change to the session."""
    with st.session_state[state.OWN_PLACE].container():
        _own_tokenizer()


def _own_tokenizer() -> None:
    mine = choosing.mine_now()
    st.caption("Your tokenizer" if len(mine.names) < 2 else "Your tokenizers")
    if not mine.names:
        st.markdown("None yet. Train one on the page *Train*; every page can then use it.")
    if mine.own is not None:
        settings = mine.own.training.settings
        st.markdown(
            f"{markdown_literal(mine.own.corpus)}  \n{count_of(mine.own.training.num_merges, 'merge')} on "
            f"{settings.base}, split: {markdown_literal(settings.split[:40])}"
        )
    for name in mine.names:
        if name != state.OWN_NAME:
            st.markdown(f"*{markdown_literal(name)}*  \n{markdown_literal(choosing.find(name, mine).about)}")


def show_notices(*, keep: bool = False) -> None:
    """Say what of the link could not be taken; `keep` it for a page that is about to run again by itself."""
    for notice in state.take_notices(keep=keep):
        st.warning(markdown_literal(notice), icon=":material/link_off:")


@contextmanager
def readable_part() -> Iterator[None]:
    """Show an error of the package as its sentence in the place of a part; what follows goes on.

    For fragments: Streamlit shows what they raise by itself, so it never reaches `readable_errors` around them.
    """
    try:
        yield
    except BpeError as error:
        _show_error(error)


def _show_error(error: BpeError) -> None:
    st.error(markdown_literal(as_sentence(str(error))), icon=":material/error:")


@contextmanager
def readable_errors() -> Iterator[None]:
    """Show an error of the package as its sentence and end the page there; other errors are bugs and pass."""
    try:
        yield
    except BpeError as error:
        _show_error(error)
        show_notices()
        end()
        st.stop()
