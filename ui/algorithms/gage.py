"""Gage's compression: pair after pair replaced by a byte value that is free, with what each pass saves."""

from __future__ import annotations

import streamlit as st

from bpe import compress_pairs, expand_pairs
from bpe.errors import CorpusError
from bpe.gage import ENTRY_BYTES, Compressed, Pass
from bpe.quirks import TextToken
from ui import state
from ui.algorithms.about import show_about
from ui.algorithms.charts import size_chart
from ui.quirks.controls import example_buttons
from ui.quirks.strips import Strip, show_strips
from ui.text import count_of, show_token
from ui.text_area import text_area

__all__ = ["data_after", "pass_table", "show"]

MOST_CHARS = 2_000
_EXAMPLES = {
    "aaabdaaabac": "aaabdaaabac",
    "ABABCABCD": "ABABCABCD",
    "A tongue twister": "she sells sea shells by the sea shore, the shells she sells are sea shells for sure. " * 3,
}
_LEAST = {"any that repeats": 2, "only where it pays": ENTRY_BYTES + 1}
_NUM_ROWS = 8


def show() -> None:
    """Draw the text, the passes, and the data after each."""
    example_buttons(state.GAGE_TEXT, _EXAMPLES)
    data = _enter_data()
    state.check_link(state.GAGE_LEAST, list(_LEAST), "rule")
    rule = st.segmented_control(
        "Replace a pair", list(_LEAST), default=next(iter(_LEAST)), required=True, key=state.GAGE_LEAST,
        bind="query-params", help=f"A row of the table takes {ENTRY_BYTES} bytes: the code and the pair.",
    )  # fmt: skip
    compressed = compress_pairs(data, min_replaced=_LEAST[str(rule)])
    _show_summary(data, compressed)
    if compressed.passes:
        _show_passes(data, compressed)
    st.caption(
        "Try next: the tongue twister, with pairs replaced *only where it pays*; on a few letters the table costs more "
        "than it saves."
    )
    show_about("gage", "bpe")


def _enter_data() -> bytes:
    state.offer_text(state.GAGE_TEXT, next(iter(_EXAMPLES.values())))
    typed = text_area("Text, compressed as its bytes", state.GAGE_TEXT, height=80, max_chars=2 * MOST_CHARS)
    data = typed.encode("utf-8", "replace")
    if len(data) > MOST_CHARS:
        raise CorpusError(
            f"this bench compresses at most {count_of(MOST_CHARS, 'byte')}, but the text has {len(data):,}: shorten it"
        )
    return data


def _show_summary(data: bytes, compressed: Compressed) -> None:
    num_saved = len(data) - compressed.num_bytes
    stopped = {
        "no_gain": "no pair is left that is frequent enough",
        "no_free_byte": "every byte value is in use",
    }[compressed.stopped]
    outcome = f"{num_saved:,} saved" if num_saved >= 0 else f"{-num_saved:,} more than before"
    num_passes = len(compressed.passes)
    is_whole = expand_pairs(compressed.data, compressed.table) == data
    st.markdown(
        f"**{count_of(len(data), 'byte')} → {len(compressed.data):,} of data + "
        f"{ENTRY_BYTES * len(compressed.table):,} of table** after {num_passes:,} "
        f"{'pass' if num_passes == 1 else 'passes'}: {outcome}. It ended because {stopped}. Expanded again it is "
        f"the text: **{'yes' if is_whole else 'no'}**."
    )


def data_after(data: bytes, passes: tuple[Pass, ...]) -> list[bytes]:
    """Return the data before the first pass and after each.

    >>> compressed = compress_pairs(b"ABABCABCD")
    >>> data_after(b"ABABCABCD", compressed.passes)
    [b'ABABCABCD', b'\\xff\\xffC\\xffCD', b'\\xff\\xfe\\xfeD']
    """
    states = [data]
    for step in passes:
        states.append(states[-1].replace(bytes([step.left, step.right]), bytes([step.code])))
    return states


def _show_passes(data: bytes, compressed: Compressed) -> None:
    states = data_after(data, compressed.passes)
    rows = []
    for number, state_after in enumerate(states[: _NUM_ROWS + 1]):
        title = "the text" if number == 0 else f"after pass {number}"
        tokens = [TextToken(value, bytes([value])) for value in state_after]
        pair = compressed.passes[number] if number < len(compressed.passes) else None
        spans = _places_of(bytes([pair.left, pair.right]), state_after) if pair else []
        rows.append(Strip(title, count_of(len(tokens), "byte"), tokens, [""] * len(tokens), spans))
    show_strips(rows, key=state.GAGE_ROWS)
    left, right = st.columns([3, 2])
    with left:
        st.markdown(f"**The table, in the order in which it was made** ({len(compressed.passes):,})")
        num_rows = len(compressed.passes)
        st.dataframe(pass_table(data, compressed), hide_index=True, height=min(38 + 35 * num_rows, 400))
    with right:
        st.markdown("**Bytes of data and table after each pass**")
        sizes = [len(after) + ENTRY_BYTES * number for number, after in enumerate(states)]
        best = sizes.index(min(sizes))
        st.plotly_chart(
            size_chart(range(len(sizes)), sizes, "passes", "bytes", best),
            key="gage-chart",
            config={"displayModeBar": False},
            alt=f"Bytes of data and table: {sizes[0]:,} at the start, {sizes[-1]:,} at the end, least after {best:,}.",
        )
        st.caption(f"The dotted line: the fewest bytes, {min(sizes):,}.")


def _places_of(pair: bytes, data: bytes) -> list[tuple[int, int]]:
    """Return the bytes that a pass is about to replace, as ranges."""
    places: list[tuple[int, int]] = []
    at = data.find(pair)
    while at >= 0:
        places.append((at, at + 2))
        at = data.find(pair, at + 2)
    return places


def pass_table(data: bytes, compressed: Compressed) -> dict[str, list[str] | list[int]]:
    """Return the passes as columns."""
    stands_for: dict[int, bytes] = {}
    for step in compressed.passes:
        stands_for[step.code] = b"".join(stands_for.get(side, bytes([side])) for side in (step.left, step.right))
    passes = compressed.passes
    return {
        "code": [f"{step.code:02x}" for step in passes],
        "pair": [f"{_byte(step.left)} {_byte(step.right)}" for step in passes],
        "stands for": [show_token(stands_for[step.code]) for step in passes],
        "replaced": [step.num_replaced for step in passes],
        "saved": [step.num_saved for step in passes],
        "tied": [step.num_tied for step in passes],
        "data, bytes": [step.num_bytes for step in passes],
    }


def _byte(value: int) -> str:
    return show_token(bytes([value]))
