"""Longest match against rank replay over one vocabulary: where they part in the reader's own text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import streamlit as st

from bpe import UNKNOWN_ID, LongestMatch, Tokenizer, TokenizerLike
from bpe.greedy import Difference
from bpe.pretrained import load_pretrained, pretrained_info
from bpe.quirks import TextToken
from bpe.samples import load_sample
from ui import choosing, controls, state
from ui.algorithms.about import show_about
from ui.jobs import Job, JobBoard
from ui.kept import kept
from ui.quirks.strips import Strip, show_strips
from ui.text import count_of, show_token
from ui.views import show_text_notices
from ui.waiting import awaited

__all__ = ["TEXTBOOK", "difference_table", "examples", "show", "textbook_tokenizer"]

TEXTBOOK = "textbook"
_REAL = ("gpt2", "r50k_base", "cl100k_base", "o200k_base")
_NUM_ROWS = 4


@cache
def examples() -> dict[str, str]:
    """Return example name -> text. The first one is what this part opens on."""
    return {
        "Genesis": load_sample("kjv-genesis")[:4_000],
        "unit": "unit units united bunny",
        "Fowl and kin": "The fowl of Canaan, Sarai and Shem; unhappy, disable, infamous, undesirable.",
        "Code": load_sample("python-source")[:4_000],
    }


def textbook_tokenizer() -> Tokenizer:
    """Return the smallest case: n+i was learned before u+n.

    >>> LongestMatch(textbook_tokenizer()).differences("unit")[0].ranked
    (117, 256, 116)
    """
    n, i, u = b"niu"
    return Tokenizer(split="whitespace", merges=((n, i), (u, n)))


def show() -> None:
    """Draw the choice of a vocabulary and a text, then the pre-tokens that are cut differently."""
    name, key, tokenizer = _choose_vocabulary()
    choice = controls.enter_text(examples())
    greedy = _greedy(name, key, tokenizer)
    show_text_notices(choice.notices)
    differences = _differences(key, choice.text, greedy)
    num_ranked, num_greedy = _totals(key, choice.text, greedy)
    num_parted = sum(difference.num_occurrences for difference in differences)
    st.markdown(
        f"**{count_of(len(differences), 'different pre-token')}** of this text, {num_parted:,} with repeats, would be "
        f"cut differently. The whole text: {count_of(num_ranked, 'token')} by rank replay, {num_greedy:,} by longest "
        "match."
    )
    if differences:
        _show_differences(tokenizer, differences)
    else:
        st.info("The two agree on this text. Try another: names and rare words are where they part.")
    st.caption("Try next: the *textbook* vocabulary with the text *unit*, the smallest case there is.")
    show_about("greedy")


def _choose_vocabulary() -> tuple[str, str, TokenizerLike]:
    own = state.own_tokenizer()
    names = [name for name in _REAL if pretrained_info(name).available]
    names += [TEXTBOOK, *([state.OWN_NAME] if own else [])]
    state.check_link(state.GREEDY_VOCABULARY, names, "vocabulary")
    name = str(st.selectbox("Vocabulary", names, key=state.GREEDY_VOCABULARY, bind="query-params"))
    if name == TEXTBOOK:
        st.caption("Bytes and two merges, in this order: n + i, u + n.")
        return name, name, textbook_tokenizer()
    if name == state.OWN_NAME and own is not None:
        chosen = choosing.of_own(own)
        choosing.show_about(chosen)
        return name, chosen.key, chosen.tokenizer
    info = pretrained_info(name)
    st.caption(f"{info.title} · {info.vocab_size:,} ids · {info.kind}")
    return name, name, load_pretrained(name)


@st.cache_resource(show_spinner=False)
def _matchers() -> JobBoard[LongestMatch]:
    """Return the vocabularies in use, ready to be matched: 120 MB for the largest, so only two are kept."""
    return JobBoard(num_kept=2)


def _greedy(name: str, key: str, tokenizer: TokenizerLike) -> LongestMatch:
    def label(job: Job[LongestMatch]) -> str:
        return f"Sorting the {tokenizer.vocab_size:,} tokens of {name} by their beginnings"

    return awaited(state.LONGEST_MATCH_JOB, _matchers(), key, lambda job: LongestMatch(tokenizer), label=label)


@kept(num_kept=16, spinner="Cutting the text both ways")
def _differences(key: str, text: str, _greedy: LongestMatch) -> list[Difference]:
    """Return where the two part. `key` stands for the vocabulary."""
    return _greedy.differences(text)


@kept(num_kept=16)
def _totals(key: str, text: str, _greedy: LongestMatch) -> tuple[int, int]:
    """Return the tokens of the text by rank replay and by longest match."""
    return int(_greedy.tokenizer.history(text).num_tokens[-1]), len(_greedy.encode(text))


def _show_differences(tokenizer: TokenizerLike, differences: Sequence[Difference]) -> None:
    rows = []
    for difference in differences[:_NUM_ROWS]:
        title = show_token(difference.pre_token)
        times = f"× {difference.num_occurrences:,}"
        for how, ids in (("rank replay", difference.ranked), ("longest match", difference.greedy)):
            tokens = [TextToken(token, _name(tokenizer, token)) for token in ids]
            rows.append(Strip(f"{title} by {how}", f"{count_of(len(ids), 'token')}, {times}", tokens))
    show_strips(rows, key=state.GREEDY_ROWS)
    st.markdown("**All of them**, most frequent first")
    st.dataframe(difference_table(tokenizer, differences), hide_index=True, height=min(38 + 35 * len(differences), 400))


def _name(tokenizer: TokenizerLike, token: int) -> bytes:
    return "\ufffd".encode() if token == UNKNOWN_ID else tokenizer.token_bytes(token)


def difference_table(tokenizer: TokenizerLike, differences: Sequence[Difference]) -> dict[str, list[str] | list[int]]:
    """Return the differences as columns."""

    def cut(ids: Sequence[int]) -> str:
        return "|".join(show_token(_name(tokenizer, token)) for token in ids)

    return {
        "pre-token": [show_token(difference.pre_token) for difference in differences],
        "times": [difference.num_occurrences for difference in differences],
        "rank replay": [cut(difference.ranked) for difference in differences],
        "longest match": [cut(difference.greedy) for difference in differences],
    }
