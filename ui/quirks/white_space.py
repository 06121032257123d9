"""White space: the space before a word, runs of spaces, and what indentation costs."""

from __future__ import annotations

import streamlit as st

from bpe.corpus import clean_text
from bpe.quirks import CODE_VARIANTS, Price, count_indented_lines, price_code, price_space_runs, tokens_of
from ui import state
from ui.choosing import Chosen
from ui.quirks.charts import price_bars, space_run_chart
from ui.quirks.controls import MOST_CODE_CHARS, MOST_SENT_CODE_CHARS, check_length, example_buttons, short_text
from ui.quirks.strips import Strip, counts_of, show_strips
from ui.text import count_of, markdown_literal
from ui.text_area import text_area
from ui.views import show_text_notices

__all__ = ["EXAMPLE_CODE", "indentation_sentence", "show"]

EXAMPLE_CODE = """\
def count_letters(text, letter):
    total = 0
    for char in text:
        if char == letter:
            total += 1
    return total


class Counter:
    def __init__(self, letters):
        self.letters = letters

    def count(self, text):
        return {
            letter: count_letters(text, letter)
            for letter in self.letters
        }
"""

_MOST_SPACES = 32
_WORDS = {"hello": "hello", "because": "because", "tokenizer": "tokenizer", "안녕하세요": "안녕하세요"}


def show(chosen: Chosen) -> None:
    """Draw the three questions on white space."""
    _show_word(chosen)
    st.divider()
    _show_code(chosen)
    st.divider()
    _show_runs(chosen)


def _show_word(chosen: Chosen) -> None:
    st.subheader("Is a word the same with a space before it?")
    example_buttons(state.SPACED, _WORDS)
    word = short_text("Word", "hello", state.SPACED)
    texts = {
        "alone": word,
        "a space before it": " " + word,
        "a space after it": word + " ",
        "two spaces before it": "  " + word,
        "a tab before it": "\t" + word,
        "a line before it": "\n" + word,
        "a Windows line before it": "\r\n" + word,
    }
    strips = []
    for name, text in texts.items():
        tokens = tokens_of(chosen.tokenizer, text)
        strips.append(Strip(name, counts_of(tokens), tokens))
    alone, spaced = ([token for token, _ in strip.tokens] for strip in strips[:2])
    shared = len(set(alone) & set(spaced))
    st.markdown(
        f"Alone it is {count_of(len(alone), 'token')}, after a space {count_of(len(spaced), 'token')}; the two share "
        f"**{shared or 'no'} token id{'' if shared == 1 else 's'}**."
    )
    show_strips(strips, key="space-strips", layout="grid")
    st.caption(
        "A prompt that ends in a space takes from the model the space that most words begin with: see *a space "
        "after it*."
    )


def _show_code(chosen: Chosen) -> None:
    st.subheader("What does indentation cost?")
    state.offer_text(state.CODE, EXAMPLE_CODE)
    typed = text_area("Code", state.CODE, height=200, max_chars=MOST_SENT_CODE_CHARS)
    code, notices = clean_text(check_length(typed, MOST_CODE_CHARS, "Code", MOST_SENT_CODE_CHARS))
    show_text_notices(notices)
    if not code:
        st.info("There is no code yet: paste some lines.")
        return
    prices = price_code(chosen.tokenizer, code)
    st.markdown(indentation_sentence(prices, count_indented_lines(code)))
    st.plotly_chart(
        price_bars([price.name for price in prices], [price.num_tokens for price in prices]),
        key="code-prices",
        config={"displayModeBar": False},
        alt="Tokens of the same code: " + "; ".join(f"{price.name} {price.num_tokens:,}" for price in prices),
    )
    names = list(CODE_VARIANTS)
    state.check_link(state.VARIANT, names, "way to write code")
    name = st.selectbox("Look at the tokens of", names, key=state.VARIANT, bind="query-params")
    tokens = tokens_of(chosen.tokenizer, prices[names.index(name)].text)
    show_strips([Strip(name, counts_of(tokens), tokens, [""] * len(tokens))], key="code-strips")


def indentation_sentence(prices: list[Price], num_indented: int) -> str:
    """Return what the indentation of some code costs, in all and for a line."""
    price = {price.name: price for price in prices}
    as_it_is, without = price["as it is"].num_tokens, price["not indented"].num_tokens
    extra = as_it_is - without
    if not num_indented:
        return f"{count_of(as_it_is, 'token')}; no line is indented."
    return (
        f"**{count_of(as_it_is, 'token')}**, {count_of(extra, 'token')} of them for indentation "
        f"({100 * extra / max(as_it_is, 1):.0f} %): {extra / num_indented:.2f} tokens for each of "
        f"{count_of(num_indented, 'indented line')}. With tabs it would be {price['tabs'].num_tokens:,} in all."
    )


def _show_runs(chosen: Chosen) -> None:
    st.subheader("What does a run of spaces cost?")
    runs = price_space_runs(chosen.tokenizer, _MOST_SPACES)
    four, most = int(runs[4]), int(runs[-1])
    st.markdown(
        f"Four spaces and an x are **{count_of(four, 'token')}** of {markdown_literal(chosen.title)}; "
        f"{_MOST_SPACES} spaces and an x are {count_of(most, 'token')}."
    )
    st.plotly_chart(
        space_run_chart(runs),
        key="space-runs",
        config={"displayModeBar": False},
        alt="Tokens of a run of spaces and an x, by number of spaces: " + ", ".join(map(str, runs.tolist())),
    )
    st.caption("Try next: gpt2, where each space is a token, then cl100k_base, which learned whole runs.")
