"""BPE-dropout: the spread of ways in which one text is cut, and how it grows with the share left out."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe import Tokenizer, count_dropout
from bpe.dropout import Spread as Way
from bpe.quirks import TextToken
from ui import choosing, state
from ui.algorithms.about import show_about
from ui.algorithms.charts import Spread, size_chart, spread_chart
from ui.algorithms.models import choose_source, small_bpe
from ui.algorithms.sampling import choose_samples
from ui.kept import kept
from ui.quirks.controls import short_text
from ui.quirks.strips import Strip, show_strips
from ui.text import count_of

__all__ = ["mean_tokens", "show"]

MOST_CHARS = 120
_SAMPLE = "a sample"
_NUM_DRAWN = 12
_NUM_ROWS = 5
_CURVE_SAMPLES = 200
_CURVE_SHARES = tuple(step / 10 for step in range(11))


def show() -> None:
    """Draw the controls, the most frequent cuts, and the mean number of tokens against p."""
    tokenizer, key = _choose_tokenizer()
    text = short_text("Text to cut", "internationally", state.DROPOUT_TEXT)[:MOST_CHARS]
    share, num_samples, seed = _choose_sampling()
    if not text:
        st.info("Give a text to cut.")
        return
    ways = _spread(key, text, share, num_samples, seed, tokenizer)
    st.markdown(
        f"With p = {share:g} this text is cut in **{count_of(len(ways), 'way')}** in "
        f"{count_of(num_samples, 'sample')}; {mean_tokens(ways):.2f} tokens on average, "
        f"{len(tokenizer.encode(text, unknown='mark')):,} without dropout."
    )
    rows = []
    for way in ways[:_NUM_ROWS]:
        names = [tokenizer.token_bytes(token) for token in way.ids]
        tokens = [TextToken(*pair) for pair in zip(way.ids, names, strict=True)]
        rows.append(Strip(f"× {way.num_times:,}", count_of(len(tokens), "token"), tokens, [""] * len(tokens)))
    show_strips(rows, key=state.DROPOUT_ROWS)
    left, right = st.columns(2)
    with left:
        _show_spread(tokenizer, ways, num_samples)
    with right:
        _show_curve(key, text, seed, share, tokenizer)
    st.caption("Try next: move p to 0 and to 1, and to 0.1, the share that the paper recommends.")
    show_about("dropout")


def _choose_tokenizer() -> tuple[Tokenizer, str]:
    """Return the reader's own tokenizer at its step, or one learned from a sample, with a key."""
    own = state.own_tokenizer()
    names = [_SAMPLE, *([state.OWN_NAME] if own else [])]
    state.check_link(state.DROPOUT_MERGES, names, "tokenizer")
    name = _SAMPLE
    if own is not None:
        name = st.segmented_control(
            "Merges of", names, default=_SAMPLE, required=True, key=state.DROPOUT_MERGES, bind="query-params"
        )
    if own is not None and name == state.OWN_NAME:
        chosen = choosing.of_own(own)
        choosing.show_about(chosen)
        return own.training.tokenizer.at_step(own.step), chosen.key
    source = choose_source()
    return small_bpe(source), repr(source)


def _choose_sampling() -> tuple[float, int, int]:
    state.check_link_amount(state.DROP_SHARE, 0, 1, "as share left out")
    first, second, third = st.columns([2, 1, 1])
    with first:
        share = st.slider("p, the share left out", 0.0, 1.0, 0.1, step=0.05, key=state.DROP_SHARE, bind="query-params")
    return share, *choose_samples(second, third)


@kept(num_kept=64, spinner="Cutting")
def _spread(key: str, text: str, share: float, num_samples: int, seed: int, _tokenizer: Tokenizer) -> list[Way]:
    """Return the distinct cuts. `key` stands for the tokenizer."""
    return count_dropout(_tokenizer, text, share, num_samples=num_samples, seed=seed)


def mean_tokens(ways: Sequence[Way]) -> float:
    """Return the mean number of tokens.

    >>> mean_tokens([Way((1, 2), 3), Way((1, 2, 3), 1)])
    2.25
    """
    return sum(len(way.ids) * way.num_times for way in ways) / sum(way.num_times for way in ways)


def _show_spread(tokenizer: Tokenizer, ways: Sequence[Way], num_samples: int) -> None:
    st.markdown("**The most frequent cuts**")
    spreads = [
        Spread([tokenizer.token_bytes(token) for token in way.ids], way.num_times / num_samples)
        for way in ways[:_NUM_DRAWN]
    ]
    st.plotly_chart(
        spread_chart(spreads),
        key="dropout-chart",
        config={"displayModeBar": False},
        alt="Most frequent cuts: " + "; ".join(f"{spread.label} {100 * spread.share:.1f} %" for spread in spreads),
    )


def _show_curve(key: str, text: str, seed: int, share: float, tokenizer: Tokenizer) -> None:
    st.markdown("**Tokens on average, against p**")
    means = [mean_tokens(_spread(key, text, each, _CURVE_SAMPLES, seed, tokenizer)) for each in _CURVE_SHARES]
    st.plotly_chart(
        size_chart(_CURVE_SHARES, means, "p, the share left out", "tokens on average", share),
        key="dropout-curve",
        config={"displayModeBar": False},
        alt=f"Tokens on average rise from {means[0]:.1f} at p = 0 to {means[-1]:.1f} at p = 1.",
    )
    st.caption(f"{count_of(_CURVE_SAMPLES, 'sample')} at each of {len(_CURVE_SHARES)} values of p.")
