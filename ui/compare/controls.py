"""The controls of the page: which tokenizers, what special tokens mean; and the rows that are there so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import streamlit as st

from bpe.tokenizer import Special
from ui import frame, state
from ui.brought import bring_tokenizer, brought_tokenizer
from ui.compare.compute import Comparison, compare, comparison_key, comparisons, rows_of
from ui.compare.contenders import Contender, Mine, example_tokenizer, find_contender, real_names
from ui.compare.loading import loader
from ui.state import OWN_NAME
from ui.text import count_of, markdown_literal
from ui.waiting import awaited

__all__ = ["Choice", "choose", "compared", "follow_step", "watch_loading"]

_FIRST_CHOICE = (OWN_NAME, "gpt2", "cl100k_base", "o200k_base", "llama3", "gemma3", "bert-uncased")
_MEANINGS = {"as text": "text", "as special tokens": "special", "reject": "reject"}
_PATIENCE_SECONDS = 0.6


@dataclass(frozen=True)
class Choice:
    """Whom to compare; the reader's own tokenizer is at the step of the link."""

    names: tuple[str, ...]
    special: Special
    mine: Mine

    @property
    def step(self) -> int:
        """Where the reader has the own tokenizer."""
        return self.mine.own.step


def choose() -> Choice:
    """Draw the controls and return what was chosen."""
    with st.expander("Bring your own tokenizer, from a file", icon=":material/upload_file:"):
        bring_tokenizer()
    mine = _find_mine()
    names = mine.names
    state.check_link_each(state.COMPARED, names, "tokenizer")
    state.drop_unknown(state.COMPARED, names)
    left, right = st.columns([3, 1])
    with left:
        chosen = st.multiselect(
            "Tokenizers, a row each",
            names,
            default=[name for name in _FIRST_CHOICE if name in names],
            key=state.COMPARED,
            bind="query-params",
        )
    with right:
        state.check_link(state.SPECIAL, list(_MEANINGS), "meaning of special tokens")
        meaning = st.selectbox("Special tokens", list(_MEANINGS), key=state.SPECIAL, bind="query-params")
    if mine.is_example and OWN_NAME in chosen:
        st.caption(
            f"You have trained none yet: *{OWN_NAME}* is an example, {count_of(mine.own.training.num_merges, 'merge')} "
            f"learned from {markdown_literal(mine.own.corpus)}. Train your own on the page *Train*."
        )
    if not chosen:
        st.info("Choose at least one tokenizer.")
        frame.end()
        st.stop()
    return Choice(tuple(chosen), cast(Special, _MEANINGS[meaning]), mine)


def _find_mine() -> Mine:
    own = state.own_tokenizer()
    is_example = own is None
    if own is None:
        own = example_tokenizer()
    own = replace(own, step=state.linked_step(own.training.num_merges, default=own.step))
    if not is_example:
        state.set_own_tokenizer(own)
    return Mine(own, is_example, brought_tokenizer(), state.own_neighbours())


def follow_step(choice: Choice, step: int) -> None:
    """Take the step that the reader moved the own tokenizer to: into the link, and for the other pages."""
    own = choice.mine.own
    state.link_step(step, own.training.num_merges)
    if not choice.mine.is_example:
        state.set_own_tokenizer(replace(own, step=step))


# ---------------------------------------------------------------------------------------------- rows


def compared(text: str, choice: Choice) -> Comparison:
    """Return the rows that can be had by now; the others are being loaded."""
    there = _there(choice.names)
    contenders = [find_contender(name, choice.mine) for name in choice.names if name in there]
    rows = awaited(
        state.COMPARE_JOB,
        comparisons(),
        comparison_key(text, choice.special, contenders),
        lambda job: rows_of(text, choice.special, contenders, job),
        label=lambda job: _counting(contenders, job.done, len(text)),
        keep=lambda rows: len(rows) == len(contenders),
    )
    return compare(text, rows, choice.step)


def _counting(contenders: list[Contender], done: int, num_chars: int) -> str:
    name = contenders[min(done, len(contenders) - 1)].name
    return f"Tokenizing {count_of(num_chars, 'character')} with {name}: {done} of {len(contenders)} are done"


def _there(names: tuple[str, ...]) -> set[str]:
    """Return the names whose tokenizers are loaded; asks for the others, and waits a moment for the first."""
    real = [name for name in names if name in real_names()]
    loader().want(real)
    if not loader().ready(real):
        loader().wait(real, _PATIENCE_SECONDS)
    return {*loader().ready(real), *(name for name in names if name not in real)}


def watch_loading(choice: Choice, comparison: Comparison) -> bool:
    """Say what failed and what is still loading, and run the page again when the next tokenizer is there.

    Returns whether that will be.
    """
    real = [name for name in choice.names if name in real_names()]
    for name, reason in loader().failures(real).items():
        st.warning(f"{markdown_literal(name)}: {markdown_literal(reason)}", icon=":material/block:")
    shown = {row.name for row in comparison.rows}
    failed = loader().failures(real)
    missing = [name for name in real if name not in shown and name not in failed]
    if missing:
        _look_in(missing, len(choice.names))
    return bool(missing)


@st.fragment(run_every=0.4)
def _look_in(missing: list[str], num_chosen: int) -> None:
    if loader().ready(missing) or loader().failures(missing):
        st.rerun()
    done = num_chosen - len(missing)
    st.progress(
        done / num_chosen, f"Loading {missing[0]}, once for all readers: {done} of {num_chosen} tokenizers are here"
    )
    st.button("Leave out those that are not here yet", on_click=_leave_out, args=(missing,), key="leave-out")


def _leave_out(missing: list[str]) -> None:
    st.session_state[state.COMPARED] = [name for name in st.session_state[state.COMPARED] if name not in missing]
