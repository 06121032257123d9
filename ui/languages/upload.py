"""The reader's own parallel text: read once, kept in the session, never shared."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe.corpus import decode_text, encoding_candidates
from bpe.errors import CorpusError
from bpe.parallel import ParallelText, parse_parallel_files, parse_parallel_table
from ui import frame, state
from ui.limits import LIMITS
from ui.saved_view import reopened
from ui.state import ReopenedFile
from ui.text import count_of, markdown_literal

__all__ = ["own_parallel_text"]

MOST_FILES = 80
MOST_BYTES = LIMITS.parallel_mb * 10**6
_MOST_FILE_BYTES = LIMITS.upload_mb * 10**6


def own_parallel_text() -> tuple[ParallelText, tuple[str, ...]]:
    """Draw the upload and return the text with what was decided on its way in; the page ends here without files."""
    files = st.file_uploader(
        "One text file a language (line n of each is the same content), or one CSV or TSV with a column a language",
        accept_multiple_files=True,
        key=state.PARALLEL_UPLOAD,
        max_upload_size=LIMITS.upload_mb,
        help=f"At most {LIMITS.upload_mb} MB a file, {LIMITS.parallel_mb} MB together. A file or column that "
        "is named after its language, such as de.txt or German, gets that name.",
    )
    files = files or reopened(state.PARALLEL_UPLOAD)
    if not files:
        st.info("Choose your files. Until then nothing is counted.")
        frame.end()
        st.stop()
    _check_sizes(files)
    encodings = {file.file_id: _encoding_of(file) for file in files}
    asked = tuple(encodings.items())
    kept = st.session_state.get(state.OWN_PARALLEL)
    if kept is None or kept[0] != asked:
        kept = (asked, *_read(files, encodings))
        st.session_state[state.OWN_PARALLEL] = kept
    return kept[1], kept[2]


def _check_sizes(files: Sequence[UploadedFile | ReopenedFile]) -> None:
    num_bytes = sum(file.size for file in files)
    if num_bytes > MOST_BYTES or len(files) > MOST_FILES:
        raise CorpusError(
            f"a parallel text must have at most {MOST_FILES} files and {MOST_BYTES:,} bytes together, but these are "
            f"{count_of(len(files), 'file')} of {num_bytes:,} bytes: take a part of it"
        )
    for file in files:
        if file.size > _MOST_FILE_BYTES:
            raise CorpusError(
                f"each file must have at most {_MOST_FILE_BYTES:,} bytes, but {file.name} has {file.size:,}: "
                "take a part of it"
            )


def _encoding_of(file: UploadedFile | ReopenedFile) -> str | None:
    """Return the encoding to read a file with; None for its own. Asks where the file is not UTF-8."""
    known = st.session_state.setdefault(f"{state.PARALLEL_UPLOAD}-candidates", {})
    if file.file_id not in known:
        data = file.getvalue()
        try:
            decode_text(data, name=file.name)
        except CorpusError as error:
            known[file.file_id] = (str(error), encoding_candidates(data))
        else:
            known[file.file_id] = ("", ())
    complaint, candidates = known[file.file_id]
    if not complaint:
        return None
    if not candidates:
        raise CorpusError(complaint)
    st.warning(markdown_literal(complaint))
    return st.selectbox(
        f"Encoding of {markdown_literal(file.name)}",
        candidates,
        key=f"{state.PARALLEL_UPLOAD}-{state.ENCODING}-{file.file_id}",
    )


def _read(
    files: Sequence[UploadedFile | ReopenedFile], encodings: dict[str, str | None]
) -> tuple[ParallelText, tuple[str, ...]]:
    texts: dict[str, str] = {}
    notices: list[str] = []
    for file in files:
        if file.name in texts:
            raise CorpusError(f"every file must have a name of its own, but two are called {file.name}: rename one")
        decoded = decode_text(file.getvalue(), encoding=encodings[file.file_id], name=file.name)
        texts[file.name] = decoded.text
        notices += [f"{file.name}: {notice}" for notice in decoded.notices]
    if len(texts) == 1:
        ((name, content),) = texts.items()
        return parse_parallel_table(content, name=name), tuple(notices)
    return parse_parallel_files(texts), tuple(notices)
