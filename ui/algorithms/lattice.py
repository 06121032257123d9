"""The lattice of a word under Unigram: its best path, the n best, and cuts drawn by chance."""

from __future__ import annotations

from math import exp

import streamlit as st

from bpe import UNKNOWN_ID, UnigramTokenizer
from bpe.errors import CorpusError
from bpe.unigram import Segmentation
from ui import state
from ui.algorithms.about import show_about
from ui.algorithms.charts import Spread, lattice_chart, spread_chart
from ui.algorithms.models import choose_source, small_unigram
from ui.algorithms.sampling import choose_samples
from ui.quirks.controls import example_buttons, short_text
from ui.text import count_of, markdown_literal, show_token

__all__ = ["best_table", "show"]

MOST_SYMBOLS = 24
_MOST_BEST = 200
_NUM_DRAWN = 12
_EXAMPLES = {name: name for name in ("internationally", "recognition", "unfairness", "discriminations")}


def show() -> None:
    """Draw the lattice of one word, then its n best cuts and a spread of samples."""
    example_buttons(state.LATTICE_WORD, _EXAMPLES)
    word = _enter_word()
    tokenizer = small_unigram(choose_source())
    _show_lattice(tokenizer, word)
    left, right = st.columns(2)
    with left:
        _show_best(tokenizer, word)
    with right:
        _show_samples(tokenizer, word)
    st.caption(
        "Try next: move alpha to 0, where every way to cut is as likely as the next, and up, where only the best is "
        "left."
    )
    show_about("unigram", "sampling")


def _enter_word() -> str:
    word = short_text("Word", next(iter(_EXAMPLES)), state.LATTICE_WORD).strip()
    if not 1 <= len(word) <= MOST_SYMBOLS or any(char.isspace() for char in word):
        raise CorpusError(
            f"the lattice is drawn of one word of 1 to {MOST_SYMBOLS} characters without white space, but "
            f"{word[:40]!r} has {count_of(len(word), 'character')}: give one word"
        )
    return word


def _show_lattice(tokenizer: UnigramTokenizer, word: str) -> None:
    lattice = tokenizer.lattice(word)
    best = [lattice.arcs[place] for place in lattice.best]
    shown = " | ".join(markdown_literal(show_token(arc.text, isolate=True)) for arc in best)
    share = exp(min(lattice.best_score - lattice.log_total, 0.0))
    st.markdown(
        f"The likeliest way is **{shown}**: log probability {lattice.best_score:.3f}, {100 * share:.1f} % of all ways "
        f"together. {count_of(len(lattice.arcs), 'token')} of the vocabulary fit somewhere in this word."
    )
    if any(arc.token == UNKNOWN_ID for arc in lattice.arcs):
        st.caption(":material/help: A character with a question mark never occurred in the sample: it is unknown.")
    st.plotly_chart(
        lattice_chart(lattice),
        key="lattice-chart",
        config={"displayModeBar": False},
        alt=f"Lattice of {word}. Best path: {' | '.join(show_token(arc.text) for arc in best)}. Other tokens that fit: "
        + ", ".join(show_token(arc.text) for arc in lattice.arcs if not arc.on_best_path),
    )
    st.caption("Red: the best path. The stronger a blue token, the more of the probability goes through it.")


def _show_best(tokenizer: UnigramTokenizer, word: str) -> None:
    st.markdown("**The n best ways to cut**")
    state.check_link_number(state.NUM_BEST, 1, _MOST_BEST, "best cuts")
    num_best = st.number_input("n", 1, _MOST_BEST, 10, key=state.NUM_BEST, bind=state.number_binding(state.NUM_BEST))
    found = tokenizer.n_best(word, int(num_best or 1))
    st.dataframe(
        best_table(tokenizer, found, word),
        hide_index=True,
        height=min(38 + 35 * len(found), 460),
        column_config={"probability, %": st.column_config.NumberColumn(format="%.3g")},
    )
    covered = sum(segmentation.probability for segmentation in found)
    st.caption(f"{len(found):,} of the ways to cut, {100 * covered:.2f} % of the probability.")


def best_table(tokenizer: UnigramTokenizer, found: list[Segmentation], word: str) -> dict[str, list[str | int | float]]:
    """Return segmentations as columns, likeliest first."""
    return {
        "": list(range(1, len(found) + 1)),
        "tokens": ["|".join(map(show_token, _names(tokenizer, way.ids, word))) for way in found],
        "log probability": [round(way.score, 3) for way in found],
        "probability, %": [100 * way.probability for way in found],
    }


def _names(tokenizer: UnigramTokenizer, ids: tuple[int, ...], word: str) -> list[bytes]:
    """Return the bytes of each token; an unknown one is a character of the word."""
    names: list[bytes] = []
    at = 0
    for token in ids:
        name = word[at].encode() if token == UNKNOWN_ID else tokenizer.token_bytes(token)
        names.append(name)
        at += len(name.decode())
    return names


def _show_samples(tokenizer: UnigramTokenizer, word: str) -> None:
    st.markdown("**Cuts drawn by chance**")
    state.check_link_amount(state.ALPHA, 0, 3, "as alpha")
    first, second, third = st.columns([2, 1, 1])
    with first:
        alpha = st.slider("Alpha", 0.0, 3.0, 0.2, step=0.1, key=state.ALPHA, bind="query-params")
    num_samples, seed = choose_samples(second, third)
    drawn = tokenizer.count_samples(word, num_samples=num_samples, alpha=alpha, seed=seed)
    spreads = [
        Spread(_names(tokenizer, ids, word), times / num_samples, tokenizer.sampling_probability(word, ids, alpha))
        for ids, times in drawn[:_NUM_DRAWN]
    ]
    st.plotly_chart(
        spread_chart(spreads),
        key="samples-chart",
        config={"displayModeBar": False},
        alt="Cuts drawn by chance: " + "; ".join(f"{spread.label} {100 * spread.share:.1f} %" for spread in spreads),
    )
    st.caption(
        f"{count_of(len(drawn), 'different cut')} in {count_of(num_samples, 'sample')}; the {len(spreads):,} most "
        "frequent are drawn. Diamonds: the share that the probabilities promise."
    )
