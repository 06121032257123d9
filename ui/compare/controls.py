"""The controls of the page: which tokenizers, what special tokens mean; and the rows that are there so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from bpe.tokenizer import Special
from ui import choosing, frame, state
from ui.choosing import Chosen, Mine, find, real_names
from ui.compare.compute import Comparison, compare, comparison_key, comparisons, rows_of
from ui.compare.contenders import example_tokenizer
from ui.compare.loading import loader
from ui.state import OWN_NAME, OwnTokenizer
from ui.text import count_of, markdown_literal
from ui.waiting import awaited

__all__ = ["Choice", "choose", "compared", "follow_step", "watch_loading"]

_FIRST_CHOICE = (OWN_NAME, "gpt2", "cl100k_base", "o200k_base", "llama3", "gemma3", "bert-uncased")
_PATIENCE_SECONDS = 0.6


@dataclass(frozen=True)
class Choice:
    """Whom to compare.

    own         the session's own tokenizer at the step of the link, or an example in its place
    is_example  whether it is the example
    mine        the same with what else the reader has
    """

    names: tuple[str, ...]
    special: Special
    own: OwnTokenizer
    is_example: bool
    mine: Mine

    @property
    def step(self) -> int:
        """Where the reader has the own tokenizer."""
        return self.own.step


def choose() -> Choice:
    """Draw the controls and return what was chosen."""
    choosing.bring()
    own, is_example = _find_own()
    mine = replace(choosing.mine_now(), own=own)
    names = [*mine.names, *real_names()]
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
        special = choosing.choose_special()
    if is_example and OWN_NAME in chosen:
        st.caption(
            f"You have trained none yet: *{OWN_NAME}* is an example, {count_of(own.training.num_merges, 'merge')} "
            f"learned from {markdown_literal(own.corpus)}. Train your own on the page *Train*."
        )
    if not chosen:
        st.info("Choose at least one tokenizer.")
        frame.end()
        st.stop()
    return Choice(tuple(chosen), special, own, is_example, mine)


def _find_own() -> tuple[OwnTokenizer, bool]:
    """Return the own tokenizer at the step of the link, and whether it is only an example."""
    own = state.own_tokenizer()
    is_example = own is None
    if own is None:
        own = example_tokenizer()
    own = replace(own, step=state.linked_step(own.training.num_merges, default=own.step))
    if not is_example:
        state.set_own_tokenizer(own)
    return own, is_example


def follow_step(choice: Choice, step: int) -> None:
    """Take the step that the reader moved the own tokenizer to: into the link, and for the other pages."""
    state.link_step(step, choice.own.training.num_merges)
    if not choice.is_example:
        state.set_own_tokenizer(replace(choice.own, step=step))


# ---------------------------------------------------------------------------------------------- rows


def compared(text: str, choice: Choice) -> Comparison:
    """Return the rows that can be had by now; the others are being loaded."""
    there = _there(choice.names)
    contenders = [find(name, choice.mine, all_steps=True) for name in choice.names if name in there]
    rows = awaited(
        state.COMPARE_JOB,
        comparisons(),
        comparison_key(text, choice.special, contenders),
        lambda job: rows_of(text, choice.special, contenders, job),
        label=lambda job: _counting(contenders, job.done / job.asked, len(text)),
    )
    return compare(text, rows, choice.step)


def _counting(contenders: list[Chosen], share: float, num_chars: int) -> str:
    done = min(int(share * len(contenders)), len(contenders) - 1)
    name = contenders[done].name
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
    state.put_back()
    if loader().ready(missing) or loader().failures(missing):
        st.rerun()
    done = num_chosen - len(missing)
    st.progress(
        done / num_chosen, f"Loading {missing[0]}, once for all readers: {done} of {num_chosen} tokenizers are here"
    )
    st.button("Leave out those that are not here yet", on_click=_leave_out, args=(missing,), key="leave-out")


def _leave_out(missing: list[str]) -> None:
    state.put(state.COMPARED, [name for name in st.session_state[state.COMPARED] if name not in missing])
