"""Claims as cards: what is said, what holds, the computation, and where to play with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from bpe.claims import CLAIMS, Claim, Play
from ui import state
from ui.factcheck.checking import Missing, Result
from ui.frame import PAGES
from ui.links import pack_text
from ui.text import count_of, markdown_literal

__all__ = ["VERDICTS", "choose", "chosen", "link_of", "show_cards", "summary_sentence", "verdict_of"]

ANY = "all"
MISSING = "not here"
VERDICTS: dict[str, tuple[str, str, Literal["green", "red", "blue", "gray"]]] = {
    "true": ("True", ":material/check_circle:", "green"),
    "false": ("False", ":material/cancel:", "red"),
    "depends": ("It depends", ":material/balance:", "blue"),
    MISSING: ("Cannot be checked here", ":material/block:", "gray"),
}
"""Verdict -> its label, icon and colour."""

_READS_TEXT = ("tokenize", "compare")
_ASKS_TOKENIZER = ("tokenize", "quirks", "vocabulary")
"""Pages whose links hold a text, or one tokenizer."""


def choose() -> tuple[str, str]:
    """Draw the filters and return the verdict and the topic to show, each may be ANY."""
    verdicts = [ANY, *VERDICTS]
    topics = [ANY, *dict.fromkeys(claim.topic for claim in CLAIMS.values())]
    state.check_link(state.VERDICT, verdicts, "verdict")
    state.check_link(state.TOPIC, topics, "topic")
    left, right = st.columns(2)
    with left:
        verdict = st.segmented_control(
            "Verdict", verdicts, default=ANY, required=True, key=state.VERDICT, bind="query-params"
        )
    with right:
        topic = st.selectbox("Topic", topics, key=state.TOPIC, bind="query-params")
    return verdict, topic


def verdict_of(result: Result) -> str:
    """Return the verdict of a result, MISSING where there is none."""
    return MISSING if isinstance(result, Missing) else result.verdict


def chosen(results: Mapping[str, Result], verdict: str, topic: str) -> list[str]:
    """Return the names of the claims to show, in their order. Without a verdict yet, only ANY shows them."""
    names = []
    for name, claim in CLAIMS.items():
        fits = verdict == ANY or (name in results and verdict_of(results[name]) == verdict)
        if fits and topic in (ANY, claim.topic):
            names.append(name)
    return names


def summary_sentence(results: Mapping[str, Result]) -> str:
    """Return how many claims hold, as Markdown."""
    verdicts = [verdict_of(result) for result in results.values()]
    sentence = (
        f"Of {count_of(len(CLAIMS), 'claim')}, **{verdicts.count('true')} are true, {verdicts.count('false')} are "
        f"false, and {verdicts.count('depends')} depend** on the tokenizer or the text"
    )
    if missing := verdicts.count(MISSING):
        sentence += f"; {missing} cannot be checked here"
    return sentence + "."


def show_cards(names: Sequence[str], results: Mapping[str, Result]) -> None:
    """Draw two cards a row; on a narrow screen one, in the same order."""
    if not names:
        st.info("No claim has this verdict and this topic: choose *all* in one of them.")
    for at in range(0, len(names), 2):
        for column, name in zip(st.columns(2), names[at : at + 2], strict=False):
            with column:
                _card(CLAIMS[name], results.get(name))


@st.fragment
def _card(claim: Claim, result: Result | None) -> None:
    """One card: a fragment, so that opening its computation draws nothing else."""
    with st.container(border=True):
        if result is None:
            st.badge("Being checked", icon=":material/hourglass_empty:", color="gray")
        else:
            label, icon, colour = VERDICTS[verdict_of(result)]
            st.badge(label, icon=icon, color=colour)
        st.markdown(f"**{markdown_literal(claim.text)}**")
        if isinstance(result, Missing):
            st.markdown(markdown_literal(result.reason[:1].upper() + result.reason[1:]))
        elif result is not None:
            st.markdown(markdown_literal(result.answer))
            # Thirty tables would be heavy for a browser: the one that is opened is drawn.
            box = st.expander("The computation", key=f"computation-{claim.name}", on_change="rerun", type="compact")
            if box.open:
                with box:
                    st.dataframe(pd.DataFrame(list(result.rows)), hide_index=True, width="stretch")
        file, label, params = link_of(claim.play)
        st.page_link(file, label=f"Play with it: {label}", icon=":material/play_circle:", query_params=params)
        st.caption(f"{markdown_literal(claim.topic)} · {markdown_literal(claim.source)}")


def link_of(play: Play) -> tuple[str, str, dict[str, str]]:
    """Return the page, its name and the choices that open a claim there; the first page where that one is missing."""
    page = play.page if play.page in PAGES else "tokenize"
    params = dict(play.options) if page == play.page else {}
    if page in _ASKS_TOKENIZER:
        params[state.TOKENIZER] = play.tokenizer
    packed = pack_text(play.opens_on()) if page in _READS_TEXT else None
    if packed:
        params[state.TEXT] = packed
    return PAGES[page].file, PAGES[page].name, params
