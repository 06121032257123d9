"""Controls of the page: a text, a tokenizer, and the model that is to read it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe.costs import MODEL_SHAPES, PRECISIONS, ModelShape
from bpe.samples import load_sample
from ui import controls, state
from ui.controls import TextChoice
from ui.text import markdown_literal
from ui.units import in_count

__all__ = ["Model", "choose_model", "choose_text"]

_SOURCES = ("sample", "your text")
_DEFAULT_SAMPLE = "kjv-genesis"
_DEFAULT_MODEL = "GPT-2 small"
_OWN_MODEL = "your own"


@dataclass(frozen=True)
class Model:
    """A model with the vocabulary that was chosen, how its numbers are stored, and what a million tokens cost."""

    shape: ModelShape
    stored_as: str
    price_per_million: float

    @property
    def bytes_per_number(self) -> float:
        return PRECISIONS[self.stored_as]


def choose_text() -> TextChoice:
    """Draw the choice of a text: a sample, or the reader's own, which then is in the link."""
    state.check_link(state.COSTS_TEXT, _SOURCES, "text")
    source = st.segmented_control(
        "Text",
        _SOURCES,
        default=_SOURCES[1] if state.has_linked_text() else _SOURCES[0],
        required=True,
        key=state.COSTS_TEXT,
        bind="query-params",
    )
    if source == _SOURCES[1]:
        return controls.enter_text()
    return TextChoice(load_sample(controls.choose_sample(_DEFAULT_SAMPLE).name), ())


def choose_model(vocab_size: int) -> Model:
    """Draw the choice of a model, published or the reader's own, and give it a vocabulary of this size.

    Raises:
        SettingsError: a size is below 1, or the vocabulary alone is larger than the model.
    """
    names = [*MODEL_SHAPES, _OWN_MODEL]
    state.check_link(state.MODEL, names, "model")
    state.check_link(state.STORED_AS, list(PRECISIONS), "precision")
    state.check_link_amount(state.TOKEN_PRICE, 0, 10**6, "as price")
    first, second, third = st.columns([2, 1, 1])
    with first:
        name = st.selectbox("Model", names, index=names.index(_DEFAULT_MODEL), key=state.MODEL, bind="query-params")
    with second:
        stored_as = st.selectbox(
            "Numbers stored as", list(PRECISIONS), index=1, key=state.STORED_AS, bind="query-params"
        )
    with third:
        price = st.number_input(
            "Your price per million tokens",
            0.0,
            1e6,
            1.0,
            step=0.1,
            key=state.TOKEN_PRICE,
            bind=state.number_binding(state.TOKEN_PRICE),
            help="In your currency. No price list is kept here: prices change, enter the one you pay.",
        )
    if name == _OWN_MODEL:
        return Model(_own_shape(vocab_size), stored_as, float(price))
    shape = MODEL_SHAPES[name]
    st.caption(
        f"{in_count(shape.num_parameters)} parameters · width {shape.width:,} · {shape.num_layers} layers · "
        f"{shape.num_kv_heads} KV heads of {shape.head_size} · context {shape.context:,} · "
        f"{'one matrix for input and output' if shape.tied else 'input and output matrices apart'} · "
        f"its own vocabulary {shape.vocab_size:,} · {markdown_literal(shape.source)}"
    )
    return Model(shape.with_vocabulary(vocab_size), stored_as, float(price))


def _own_shape(vocab_size: int) -> ModelShape:
    state.check_link_switch(state.MODEL_TIED, "one matrix for input and output")
    first, second, third, fourth = st.columns(4)
    with first:
        millions = _number("Million parameters", state.MODEL_MILLIONS, 1_000, 10**8)
        tied = st.checkbox("One matrix for input and output", key=state.MODEL_TIED, bind="query-params")
    with second:
        width = _number("Width", state.MODEL_WIDTH, 2_048, 10**6)
        num_layers = _number("Layers", state.MODEL_LAYERS, 24, 10_000)
    with third:
        num_heads = _number("Heads", state.MODEL_HEADS, 16, 10_000)
        num_kv_heads = _number("KV heads", state.MODEL_KV_HEADS, 4, 10_000)
    with fourth:
        head_size = _number("Head size", state.MODEL_HEAD_SIZE, 128, 100_000)
        context = _number("Context window", state.MODEL_CONTEXT, 8_192, 10**9)
    return ModelShape(
        name=_OWN_MODEL,
        vocab_size=vocab_size,
        width=width,
        num_layers=num_layers,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_size=head_size,
        tied=tied,
        num_parameters=millions * 10**6,
        context=context,
    )


def _number(label: str, key: str, default: int, most: int) -> int:
    """Draw a whole number. 0 may be entered: the model then says what is wrong with it."""
    state.check_link_number(key, 0, most, f"as {label.lower()}")
    return int(st.number_input(label, 0, most, default, key=key, bind=state.number_binding(key)))
