"""Controls of the page: which tokens of a vocabulary, and the one token to look into."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import cast, get_args

import streamlit as st

from bpe.vocabulary import NO_KIND, SCRIPTS, Order, SearchBy, TokenFilter, Vocabulary
from ui import state
from ui.choosing import Chosen
from ui.text import count_of, markdown_literal
from ui.vocabulary.compute import default_token
from ui.vocabulary.words import KIND_WORDS

__all__ = ["choose_filter", "choose_token", "describe", "pick_token"]

MOST_QUERY_CHARS = 500
_KINDS = {words: kind for kind, words in KIND_WORDS.items()}
_SCRIPTS = {name.replace("_", " "): place for place, name in enumerate(SCRIPTS)}
_EXAMPLE_SEARCHES = {
    "Magikarp": ("Magikarp", "text"),
    "four digits": (r"^ ?\d{4}$", "regex"),
    "only punctuation": (r"^\p{P}{6,}$", "regex"),
    "capitals": (r"^ ?\p{Lu}{8,}$", "regex"),
    "bytes e2 80": ("e2 80", "hex"),
    "the first ids": ("0-300", "id"),
}
_PLACEHOLDERS = {
    "text": "part of a token, such as  berry",
    "regex": r"such as ^ ?\d{3}$",
    "hex": "such as e2 80",
    "id": "such as 41236 or 100-200",
}


def choose_filter(vocabulary: Vocabulary) -> TokenFilter:
    """Draw the search and the filters."""
    searches, orders = list(get_args(SearchBy)), list(get_args(Order))
    state.check_link(state.SEARCH_BY, searches, "kind of search")
    state.check_link(state.ORDER, orders, "order")
    with st.container(horizontal=True, gap="small"):
        for name, search in _EXAMPLE_SEARCHES.items():
            st.button(name, key=f"search-{name}", on_click=_search_for, args=search)
    query_place, by_place, order_place = st.columns([3, 2, 1.2], vertical_alignment="bottom")
    with by_place:
        by = st.segmented_control(
            "Search by", searches, default="text", required=True, key=state.SEARCH_BY, bind="query-params"
        )
    with query_place:
        query = st.text_input(
            "Search the tokens",
            key=state.SEARCH,
            max_chars=MOST_QUERY_CHARS,
            placeholder=_PLACEHOLDERS[by],
            bind="query-params",
        )
    with order_place:
        order = st.selectbox("Order", orders, key=state.ORDER, bind="query-params")
    scripts, kinds, shortest, longest = _filters(vocabulary)
    return TokenFilter(
        query=query or "",
        by=cast(SearchBy, by),
        scripts=tuple(_SCRIPTS[script] for script in scripts),
        kinds=reduce(or_, (_KINDS[kind] for kind in kinds), NO_KIND),
        min_bytes=shortest,
        max_bytes=longest,
        order=cast(Order, order),
    )


def _search_for(query: str, by: str) -> None:
    state.put(state.SEARCH, query)
    state.put(state.SEARCH_BY, by)


def _filters(vocabulary: Vocabulary) -> tuple[list[str], list[str], int, int | None]:
    """Draw the filters in a box that says on its outside what is set."""
    most = max(int(vocabulary.num_bytes.max(initial=0)), 1)
    set_ones = [
        name
        for name, key in (("script", state.SCRIPT), ("kind", state.KIND))
        if st.session_state.get(key, st.query_params.get(key))
    ]
    set_ones += ["length"] if any(st.session_state.get(key) for key in (state.SHORTEST, state.LONGEST)) else []
    with st.expander("Filters" + (f": {', '.join(set_ones)}" if set_ones else "")):
        first, second, third, fourth = st.columns([2, 2, 1, 1])
        with first:
            scripts = st.multiselect("Scripts", list(_SCRIPTS), key=state.SCRIPT, bind="query-params")
            st.caption("Any of these; the script of all letters in the token.")
        with second:
            kinds = st.multiselect("Kinds", list(_KINDS), key=state.KIND, bind="query-params")
            st.caption("All of these at once.")
        for key in (state.SHORTEST, state.LONGEST):
            state.check_link_number(key, 0, 10**6, "bytes")
        with third:
            shortest = st.number_input(
                "Bytes, at least", 0, 10**6, 0, key=state.SHORTEST, bind=state.number_binding(state.SHORTEST)
            )
        with fourth:
            longest = st.number_input(
                "Bytes, at most", 0, 10**6, None, key=state.LONGEST, bind=state.number_binding(state.LONGEST)
            )
            st.caption(f"The longest token has {count_of(most, 'byte')}.")
    return scripts, kinds, int(shortest or 0), None if longest is None else int(longest)


def choose_token(vocabulary: Vocabulary) -> int:
    """Draw the choice of one token by its id; a click in the list sets it too."""
    most = max(vocabulary.vocab_size - 1, 0)
    state.check_link_number(state.TOKEN, 0, most, "as token id")
    kept = st.session_state.get(state.TOKEN)
    if kept is not None and not 0 <= kept <= most:
        st.session_state[state.TOKEN] = default_token(vocabulary)
    token = st.number_input(
        "Token id",
        0,
        most,
        default_token(vocabulary),
        key=state.TOKEN,
        help="Or pick a row.",
        bind=state.number_binding(state.TOKEN),
    )
    return int(token)


def pick_token(token: int) -> None:
    """Look into a token: what the list calls with the row that was picked."""
    state.put(state.TOKEN, token)


def describe(chosen: Chosen, vocabulary: Vocabulary) -> str:
    """Return the line under the choice."""
    unused = vocabulary.vocab_size - len(vocabulary)
    gap = f" · {unused:,} ids below {vocabulary.vocab_size:,} are unused" if unused else ""
    return f"{markdown_literal(chosen.about)} · {count_of(len(vocabulary), 'token')}{gap}"
