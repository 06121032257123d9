"""Numbers: which integers are one token, and how digits are cut in a sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from bpe import TokenizerLike
from bpe.pretrained import load_pretrained
from bpe.quirks import Addition, Integers, digit_groups, integers_under, lay_out_addition, tokens_of
from bpe.quirks import TextToken as Token
from bpe.triadic import cut_digits, write_triads
from ui import state
from ui.choosing import Chosen, real_names
from ui.kept import kept
from ui.quirks.charts import integer_map
from ui.quirks.controls import digits
from ui.quirks.strips import Strip, counts_of, show_strips
from ui.text import NOT_TO_BE_HAD, count_of, markdown_literal

__all__ = ["addition_sentence", "integer_sentence", "show"]

_MOST_INTEGER = 9_999
_PREFIXES = {"alone": "", "after a space": " "}


@kept(num_kept=32, spinner="Splitting 10,000 integers")
def _integers(key: str, prefix: str, _tokenizer: TokenizerLike) -> Integers:
    """`key` stands for the tokenizer."""
    return integers_under(_tokenizer, _MOST_INTEGER + 1, prefix=prefix)


def show(chosen: Chosen) -> None:
    """Draw the map of the integers and, below it, a sum."""
    st.subheader("Which numbers are one token?")
    _show_map(chosen)
    st.divider()
    st.subheader("What does a sum look like in tokens?")
    _show_sum(chosen)


def _show_map(chosen: Chosen) -> None:
    state.check_link(state.PREFIX, list(_PREFIXES), "place of the integers")
    state.check_link_number(state.INTEGER, 0, _MOST_INTEGER, "as integer")
    left, right = st.columns(2)
    with left:
        where = st.segmented_control(
            "Each integer stands",
            list(_PREFIXES),
            default="alone",
            required=True,
            key=state.PREFIX,
            bind="query-params",
        )
    with right:
        integer = int(
            st.number_input(
                "Circle an integer", 0, _MOST_INTEGER, 2250, key=state.INTEGER, bind=state.number_binding(state.INTEGER)
            )
            or 0
        )
    prefix = _PREFIXES[where]
    integers = _integers(chosen.key, prefix, chosen.tokenizer)
    st.markdown(integer_sentence(integers, chosen.title))
    left, right = st.columns([3, 1])
    with left:
        st.plotly_chart(
            integer_map(integers, integer),
            key="integer-map",
            config={"displayModeBar": False},
            alt="Number of tokens of each integer from 0 to 9,999, a hundred integers in a row. " + _shares(integers),
        )
    with right:
        st.markdown(f"**Around {integer:,}**")
        near = range(max(integer - 3, 0), min(integer + 3, _MOST_INTEGER) + 1)
        show_strips([_number_strip(chosen, f"{prefix}{number}") for number in near], key="integer-strips")
    st.caption("Hover, or tap, for the split of an integer. Try next: cl100k_base, which cuts by another rule.")
    if st.toggle("Count under every tokenizer", help="Unpacks each vocabulary; switch it off to stop."):
        st.dataframe(_every_tokenizer(prefix), hide_index=True, width="stretch", placeholder=NOT_TO_BE_HAD)


def _every_tokenizer(prefix: str) -> pd.DataFrame:
    names = real_names()
    rows = []
    progress = st.progress(0.0)
    for place, name in enumerate(names):
        progress.progress(place / len(names), f"{name}: {place + 1} of {count_of(len(names), 'tokenizer')}")
        integers = _integers(name, prefix, load_pretrained(name))
        rows.append(
            {
                "tokenizer": name,
                "single tokens": integers.num_single,
                "first that is not": integers.first_split,
                "most tokens for one integer": int(integers.num_tokens.max()),
            }
        )
    progress.empty()
    return pd.DataFrame(rows)


def integer_sentence(integers: Integers, title: str) -> str:
    """Return how many integers are one token, and which is the first that is not, as Markdown."""
    total = len(integers.num_tokens)
    share = 100 * integers.num_single / total
    first = integers.first_split
    if first is None:
        rest = "Each of them is."
    elif first == 0:
        rest = "Not even 0 is."
    else:
        rest = f"All from 0 to {first - 1:,} are; {first:,} is the first that is not."
    return (
        f"Of the {total:,} integers from 0 to {total - 1:,}, **{integers.num_single:,} are single tokens** of "
        f"{markdown_literal(title)} ({share:.1f} %). {rest}"
    )


def _shares(integers: Integers) -> str:
    return "; ".join(f"{count_of(tokens, 'token')}: {count:,} integers" for tokens, count in integers.shares().items())


def _number_strip(chosen: Chosen, text: str) -> Strip:
    tokens = tokens_of(chosen.tokenizer, text)
    return Strip(text.strip(), counts_of(tokens), tokens)


# ---------------------------------------------------------------------------------------------- sums


def _show_sum(chosen: Chosen) -> None:
    left, right = st.columns(2)
    with left:
        first = digits("First number", "1234567", state.FIRST)
    with right:
        second = digits("Second number", "98765", state.SECOND)

    rules: dict[str, Callable[[str], Sequence[str]]] = {
        f"{chosen.title}, as it is": lambda number: cut_digits(chosen.tokenizer, number).tokens,
        "Rule: threes from the left (GPT-4, Llama 3)": lambda number: digit_groups(number, 3),
        "Rule: every digit alone (Llama 2, Qwen)": lambda number: digit_groups(number, 1),
        "Rule: threes from the right (triads)": lambda number: digit_groups(number, 3, from_right=True),
    }
    columns = [*st.columns(2), *st.columns(2)]
    for number, (column, (name, cut)) in enumerate(zip(columns, rules.items(), strict=True)):
        with column:
            addition = lay_out_addition(first, second, cut)
            st.markdown(f"**{markdown_literal(name)}**")
            show_strips(_sum_strips(addition), key=f"sum-strips-{number}", layout="columns")
            st.markdown(addition_sentence(addition))
    st.caption(f"With each triad's power of ten written to it, the total reads `{write_triads(str(first + second))}`.")

    st.markdown("**With commas, with spaces, without**")
    total = first + second
    show_strips(
        [
            _number_strip(chosen, text)
            for text in dict.fromkeys((str(total), f"{total:,}", f"{total:,}".replace(",", " ")))
        ],
        key="comma-strips",
        layout="grid",
    )
    st.caption("Try next: 999 + 1. The total grows a digit, and cuts that count from the left all move.")


def _sum_strips(addition: Addition) -> list[Strip]:
    strips = []
    for sign, groups in zip(("", "+", "="), addition.rows, strict=True):
        tokens = [Token(0, group.encode()) for group in groups]
        title = f"{sign} {count_of(len(groups), 'token')}".strip()
        strips.append(Strip(title, "", tokens, [""] * len(tokens)))
    return strips


def addition_sentence(addition: Addition) -> str:
    """Return whether the columns of a sum survive its tokens.

    >>> addition_sentence(lay_out_addition(999, 1, lambda number: digit_groups(number, 3)))
    'The tokens do not line up. Of 3 carries 1 passes from one token of the total to the next.'
    """
    lined_up = "The tokens line up." if addition.is_aligned else "The tokens do not line up."
    num_carries = len(addition.carries)
    if not num_carries:
        return f"{lined_up} There is no carry."
    verb = "passes" if addition.num_crossing == 1 else "pass"
    crossing = f"{addition.num_crossing or 'none'} {verb} from one token of the total to the next."
    return f"{lined_up} Of {count_of(num_carries, 'carry').replace('carrys', 'carries')} {crossing}"
