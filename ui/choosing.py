"""Which tokenizer: one offer for every page, of the real ones and of what the reader trained or brought.

`Mine` is what the reader has, `find` gives the tokenizer of a name, `choose` draws the choice. A page that compares
several takes names and `find` from here, and draws its own choice of many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import streamlit as st

from bpe import TokenizerLike
from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names
from bpe.tokenizer import Special
from ui import state
from ui.brought import BROUGHT_NAME, BroughtTokenizer, bring_tokenizer, brought_tokenizer
from ui.state import OWN_NAME, OwnNeighbour, OwnTokenizer
from ui.text import count_of, markdown_literal

__all__ = [
    "Chosen",
    "Mine",
    "bring",
    "choose",
    "choose_special",
    "find",
    "mine_now",
    "of_own",
    "pick",
    "real_names",
    "show_about",
]

_MEANINGS: Mapping[str, Special] = MappingProxyType(
    {"as text": "text", "as special tokens": "special", "reject": "reject"}
)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A tokenizer to use. Two are equal where name and key are.

    name     in lists and links;  title: as sentences name it
    key      stands for the tokenizer in the keys of caches: a digest of everything that its tokens depend on
    about    one line on what it is
    get      gives the tokenizer; a real one is unpacked by the first call
    is_real  whether it is one of the real tokenizers, which are kept for good once they are unpacked
    """

    name: str
    title: str
    key: str
    about: str
    special_tokens: Mapping[str, int]
    get: Callable[[], TokenizerLike]
    is_real: bool = False

    @property
    def tokenizer(self) -> TokenizerLike:
        """The tokenizer itself; up to 3 s for a real one that nobody has asked for yet."""
        return self.get()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chosen) and (self.name, self.key) == (other.name, other.key)

    def __hash__(self) -> int:
        return hash((self.name, self.key))


@dataclass(frozen=True)
class Mine:
    """What the reader has: the tokenizer trained in the session, the one of a file, those of other algorithms."""

    own: OwnTokenizer | None = None
    brought: BroughtTokenizer | None = None
    neighbours: Mapping[str, OwnNeighbour] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """What is there, by the names of lists and links."""
        own = [OWN_NAME] if self.own is not None else []
        brought = [BROUGHT_NAME] if self.brought is not None else []
        return [*own, *brought, *self.neighbours]


def mine_now() -> Mine:
    """Return what the reader has in this session."""
    return Mine(state.own_tokenizer(), brought_tokenizer(), state.own_neighbours())


def real_names() -> list[str]:
    """Return the real tokenizers that can be had on this machine."""
    return [name for name in pretrained_names() if pretrained_info(name).available]


# ---------------------------------------------------------------------------------------------- by name


def find(name: str, mine: Mine, *, all_steps: bool = False) -> Chosen:
    """Return the tokenizer of a name that is on offer.

    all_steps   the own one with all its merges, for a page that shows every step; else as it is at its step
    """
    if name == OWN_NAME and mine.own is not None:
        return of_own(mine.own, all_steps=all_steps)
    if name == BROUGHT_NAME and mine.brought is not None:
        brought = mine.brought
        about = f"{brought.title} · {brought.tokenizer.vocab_size:,} ids · {brought.kind}"
        return _of_mine(name, brought.key, about, brought.tokenizer)
    if name in mine.neighbours:
        neighbour = mine.neighbours[name]
        return _of_mine(name, neighbour.key, neighbour.about, neighbour.tokenizer)
    info = pretrained_info(name)
    return Chosen(
        name=name,
        title=name,
        key=name,
        about=f"{info.title} · {info.vocab_size:,} ids · {info.kind} · {info.source} · {info.licence}",
        special_tokens=info.special_tokens,
        get=lambda: load_pretrained(name),
        is_real=True,
    )


def of_own(own: OwnTokenizer, *, all_steps: bool = False) -> Chosen:
    """Return the session's own tokenizer, as it is at its step or with all its merges."""
    step = own.training.num_merges if all_steps else own.step
    return Chosen(
        name=OWN_NAME,
        title="your tokenizer",
        key=own.key if all_steps else f"{own.key}-{step}",
        about=f"Trained here on {own.corpus}, {count_of(step, 'merge')}",
        special_tokens=own.training.tokenizer.special_tokens,
        get=lambda: own.training.tokenizer.at_step(step),
    )


def _of_mine(name: str, key: str, about: str, tokenizer: TokenizerLike) -> Chosen:
    return Chosen(name, name, key, about, tokenizer.special_tokens, lambda: tokenizer)


# ---------------------------------------------------------------------------------------------- controls


def choose(label: str = "Tokenizer") -> Chosen:
    """Draw the upload of a tokenizer and the choice of one, and unpack what was chosen."""
    bring()
    chosen = pick(label)
    with st.spinner("Unpacking the vocabulary"):
        chosen.get()
    return chosen


def bring() -> None:
    """Draw the upload of a tokenizer, folded away."""
    with st.expander("Or bring a tokenizer in a file"):
        bring_tokenizer()


def pick(label: str = "Tokenizer", *, all_steps: bool = False) -> Chosen:
    """Draw the choice of one tokenizer: a real one, or one of the reader's. Nothing is unpacked yet."""
    mine = mine_now()
    names = [*real_names(), *mine.names]
    state.check_link(state.TOKENIZER, names, "tokenizer")
    state.drop_unknown(state.TOKENIZER, names)
    name = st.selectbox(label, names, key=state.TOKENIZER, bind="query-params")
    return find(name, mine, all_steps=all_steps)


def show_about(chosen: Chosen) -> None:
    """Say what was chosen."""
    st.caption(markdown_literal(chosen.about))


def choose_special() -> Special:
    """Draw the choice of what special tokens in a text mean."""
    state.check_link(state.SPECIAL, list(_MEANINGS), "meaning of special tokens")
    meaning = st.selectbox(
        "Special tokens in the text",
        list(_MEANINGS),
        key=state.SPECIAL,
        bind="query-params",
        help="`<|endoftext|>` and its like: ordinary characters, the one id that models know, or an error.",
    )
    return _MEANINGS[meaning]
