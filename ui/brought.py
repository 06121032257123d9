"""Bring your own tokenizer: a file that the reader opens once and every page can use as *your file*.

The bytes are kept in the session, because an upload widget forgets its files when the reader leaves its page. What
they hold is read once a server, by content, and nothing of it is run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from bpe import SPLIT_PATTERNS, TokenizerLike
from bpe.errors import BpeError, FormatError
from bpe.formats import READABLE_FORMATS, load_tokenizer, needs_split, recognise_format
from bpe.formats.rank_files import settings_file
from bpe.hub import fetch_tokenizer_file
from ui import state
from ui.kept import kept
from ui.limits import LIMITS
from ui.text import count_of, markdown_literal

__all__ = ["BROUGHT_NAME", "BroughtTokenizer", "bring_tokenizer", "brought_tokenizer", "check_files"]

BROUGHT_NAME = "your file"
"""What it is called in lists and links."""

_OWN_SPLIT = "own"
_HELD = f"{state.OWN_FILES}-read"

MOST_FILES = 2
MOST_BYTES = LIMITS.tokenizer_mb * 10**6
READABLE = f"One file, or two that belong together: {', '.join(entry.title for entry in READABLE_FORMATS.values())}"


@dataclass(frozen=True, eq=False)
class BroughtTokenizer:
    """A tokenizer from the reader's files.

    title    the names of the files;  kind: their format in words
    key      a digest of their content
    """

    title: str
    kind: str
    key: str
    tokenizer: TokenizerLike


def brought_tokenizer() -> BroughtTokenizer | None:
    """Return what the reader has brought in this session."""
    files = st.session_state.get(state.OWN_FILES)
    if not files:
        return None
    # The session holds on to what its files became: read again, a large file would cost seconds at every touch.
    held: tuple[Mapping[str, bytes], BroughtTokenizer] | None = st.session_state.get(_HELD)
    if held is None or held[0] is not files:
        held = (files, _read(_digest(files), files))  # read before, or it would not be in the session
        st.session_state[_HELD] = held
    return held[1]


def check_files(files: Mapping[str, bytes]) -> None:
    """Check that files may come into the session as a tokenizer: number, size, and that they can be read.

    Raises:
        FormatError, SettingsError: what is wrong with them.
    """
    _check_size(files)
    _read(_digest(files), files)


def _check_size(files: Mapping[str, bytes]) -> None:
    if len(files) > MOST_FILES:
        raise FormatError(
            f"a tokenizer must be one file, or two that belong together, but {len(files)} were chosen; remove some"
        )
    num_bytes = sum(map(len, files.values()))
    if num_bytes > MOST_BYTES:
        raise FormatError(
            f"the files of a tokenizer must have at most {MOST_BYTES:,} bytes here, but these have {num_bytes:,}: "
            "run the app on your own machine, where BPE_TOKENIZER_MB sets the limit"
        )


def bring_tokenizer() -> None:
    """Draw the upload; an unreadable file gives a sentence there, and what was brought before stays."""
    chosen = st.file_uploader(
        READABLE,
        accept_multiple_files=True,
        key=state.TOKENIZER_UPLOAD,
        max_upload_size=LIMITS.tokenizer_mb,
        help=f"At most {LIMITS.tokenizer_mb} MB together. They stay in this session: nobody else sees them.",
    )
    if chosen:
        _take({file.name: file.getvalue() for file in chosen})
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with left:
        hub_id = st.text_input(
            "Or the id of a model on the Hugging Face hub",
            key=state.HUB_ID,
            max_chars=200,
            placeholder="such as openai-community/gpt2",
            help="Its tokenizer.json is fetched, if this machine has the network. Only this id leaves it.",
        )
    with right:
        is_asked = st.button("Fetch", key=state.HUB_FETCH, disabled=not hub_id)
    if is_asked and hub_id:
        _fetch(hub_id.strip())
    brought = brought_tokenizer()
    if brought is not None:
        st.markdown(
            f"**{markdown_literal(brought.title)}**: {brought.kind}, {brought.tokenizer.vocab_size:,} ids, "
            f"{count_of(brought.tokenizer.num_merges, 'merge')}. It stands in the lists as *{BROUGHT_NAME}*."
        )
        if not chosen:
            st.button("Put it away", on_click=_put_away, key=state.PUT_AWAY)


def _fetch(hub_id: str) -> None:
    """Fetch a tokenizer from the hub: seconds at most, then an answer or a sentence."""
    try:
        with st.spinner(f"Asking the hub for {markdown_literal(hub_id)}", show_time=True):
            files = fetch_tokenizer_file(hub_id)
    except BpeError as error:
        _say(error)
        return
    _take({f"{hub_id} {name}": data for name, data in files.items()})


def _take(files: Mapping[str, bytes]) -> None:
    try:
        _check_size(files)
        if needs_split(files):
            (name,) = files
            check_files({**files, **settings_file(name, "none")})  # a damaged file says so before anything is asked
            files = {**files, **_ask_split(name)}
            if len(files) == 1:
                return  # not chosen yet
        check_files(files)
    except BpeError as error:
        _say(error)
        return
    st.session_state[state.OWN_FILES] = dict(files)


def _ask_split(name: str) -> dict[str, bytes]:
    """Ask for the split pattern of a rank file that came alone; return the file that says it, nothing before that."""
    st.warning(
        f"{markdown_literal(name)} holds ranks only, not how texts are split before them. Choose the split pattern it "
        "was made with: with another one the ids would be wrong, without a word."
    )
    named = [split for split in SPLIT_PATTERNS if split != "none"]
    split = st.selectbox(
        "Split pattern of this file", [*named, "none", _OWN_SPLIT], index=None, key=state.BROUGHT_SPLIT
    )
    if split == _OWN_SPLIT:
        split = st.text_input("Its regular expression", key=state.BROUGHT_PATTERN, max_chars=2_000)
    return settings_file(name, split) if split else {}


def _say(error: BpeError) -> None:
    """Show an error as its sentence; without a capital letter, because most begin with the name of the file."""
    st.error(markdown_literal(str(error).rstrip(".")) + ".", icon=":material/error:")


def _put_away() -> None:
    st.session_state.pop(state.OWN_FILES, None)
    st.session_state.pop(_HELD, None)


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


@kept(num_kept=8, spinner="Reading the tokenizer")
def _read(key: str, _files: Mapping[str, bytes]) -> BroughtTokenizer:
    """Read the files. `key` stands for them; errors are not kept."""
    tokenizer = load_tokenizer(_files)
    kind = READABLE_FORMATS[recognise_format(_files)].title
    return BroughtTokenizer(" and ".join(_files), kind, key, tokenizer)
