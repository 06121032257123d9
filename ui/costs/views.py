"""What the reader sees of costs: one text and model in figures, the trade, other units, models, languages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bpe.costs import (
    MODEL_SHAPES,
    USUAL_ENTRIES,
    attention_work,
    embedding_parameters,
    forward_work,
    kv_cache_bytes,
    sweet_spot,
    text_costs,
)
from ui import state, waiting
from ui.choosing import Chosen
from ui.costs import compute
from ui.costs.charts import language_chart, model_chart, trade_chart
from ui.costs.compute import Counted
from ui.costs.controls import Model
from ui.text import count_of, markdown_literal
from ui.units import in_bytes, in_count, in_percent

__all__ = ["counted", "show_figures", "show_languages", "show_models", "show_sources", "show_trade", "show_units"]

_CHART = {"displayModeBar": False}


def counted(chosen: Chosen, text: str) -> Counted:
    """Return the counts of the text; a long one shows that it is at work, and can be stopped."""
    return waiting.awaited(
        state.COSTS_JOB,
        compute.countings(),
        compute.count_key(chosen.key, text),
        lambda job: compute.count(chosen.tokenizer, text, job),
        label=lambda job: f"Counting {count_of(len(text), 'character')}, {job.seconds_so_far:.0f} s so far",
    )


def show_figures(counts: Counted, model: Model) -> None:
    """What the vocabulary and the text cost this model, as figures with their formulas."""
    shape = model.shape
    costs = text_costs(
        counts.num_tokens, shape, bytes_per_number=model.bytes_per_number, price_per_million=model.price_per_million
    )
    per_token = kv_cache_bytes(shape, model.bytes_per_number)
    in_vocabulary = shape.num_vocabulary_parameters
    matrices = "one matrix" if shape.tied else "two matrices"
    figures = [
        ("The text", count_of(counts.num_tokens, "token"), _per_token(counts)),
        (
            "The vocabulary",
            f"{in_count(in_vocabulary)} parameters",
            f"{shape.vocab_size:,} × {shape.width:,}, {matrices}: {in_percent(in_vocabulary / shape.num_parameters)} "
            f"of {in_count(shape.num_parameters)}",
        ),
        (
            "Stored",
            in_bytes(in_vocabulary * model.bytes_per_number),
            f"at {model.bytes_per_number:g} bytes a number ({model.stored_as})",
        ),
        (
            "KV cache of one token",
            in_bytes(per_token),
            f"2 × {shape.num_kv_heads} heads × {shape.head_size} × {shape.num_layers} layers × "
            f"{model.bytes_per_number:g} bytes",
        ),
        ("KV cache of the text", in_bytes(costs.kv_bytes), f"{counts.num_tokens:,} times that"),
        (
            "Context window",
            in_percent(costs.context_share),
            f"of {shape.context:,} tokens: "
            + (f"fits {costs.num_that_fit:,} times" if costs.num_that_fit else "does not fit"),
        ),
        ("Attention", f"{in_count(attention_work(counts.num_tokens))} pairs", "every token with every token, a layer"),
        ("Price", f"{costs.price:,.6g}", f"at {model.price_per_million:,g} per million tokens, your figure"),
    ]
    for start in (0, 4):
        for column, (label, value, note) in zip(st.columns(4), figures[start : start + 4], strict=True):
            with column:
                st.markdown(f"{label}  \n**{markdown_literal(value)}**")
                st.caption(markdown_literal(note))


def _per_token(counts: Counted) -> str:
    if not counts.num_tokens:
        return "an empty text"
    return (
        f"{counts.num_bytes / counts.num_tokens:.2f} bytes and {counts.num_chars / counts.num_tokens:.2f} "
        "characters per token"
    )


def show_trade(counts: Counted, model: Model, tokenizer_merges: int) -> None:
    """Tokens and operations against vocabulary size, from the lifetimes of the text."""
    st.subheader("How large a vocabulary pays?")
    if counts.curve is None or not counts.num_tokens:
        st.markdown("A tokenizer without merges has one size, and an empty text no tokens: there is no curve to draw.")
        return
    shape = model.shape
    num_base = shape.vocab_size - tokenizer_merges
    sizes = num_base + np.arange(len(counts.curve), dtype=np.int64)
    work = forward_work(counts.curve, sizes, shape)
    spot = sweet_spot(counts.curve, num_base, shape)
    more = work[-1] / work[spot] - 1
    st.markdown(
        f"Each merge makes the text shorter and the output matrix larger. For this text and a body of "
        f"{in_count(shape.num_body_parameters)} parameters, reading costs least with **{sizes[spot]:,} entries** "
        f"({count_of(spot, 'merge')}): {in_count(float(work[spot]))} operations. All {sizes[-1]:,} entries cost "
        f"{in_percent(float(more))} more."
    )
    st.plotly_chart(
        trade_chart(sizes, counts.curve, work, spot),
        key="trade",
        config=_CHART,
        alt=f"Tokens of the text fall from {counts.curve[0]:,} with {sizes[0]:,} entries to {counts.curve[-1]:,} with "
        f"{sizes[-1]:,}; operations are least at {sizes[spot]:,} entries.",
    )
    st.caption(
        "Operations: 2 for each parameter and token, the input matrix left out, and attention over at most the "
        "context. The spot is that of this text and this merge order; a longer and more varied text wants more entries."
    )


def show_units(counts: Counted, model: Model) -> None:
    """The same text in bytes, characters, words and subwords."""
    st.subheader("Why not characters, or whole words?")
    shape = model.shape
    per_unit = kv_cache_bytes(shape, model.bytes_per_number)
    subwords = counts.units[-1]
    rows = []
    for unit in counts.units:
        usual = USUAL_ENTRIES.get(unit.unit)
        rows.append(
            {
                "unit": unit.unit,
                "entries here": unit.num_entries,
                "a language needs": f"{usual[0]:,} to {usual[1]:,}" if usual else "256",
                "parameters for these": in_count(_parameters(usual[1] if usual else 256, model)),
                "length of the text": unit.num_units,
                "attention": f"{_ratio(attention_work(unit.num_units), attention_work(subwords.num_units))} ×",
                "KV cache": in_bytes(unit.num_units * per_unit),
                "unknown": in_percent(unit.unknown_share),
            }
        )
    table = pd.DataFrame(rows)
    st.dataframe(
        table,
        hide_index=True,
        key="units",
        column_config={
            name: st.column_config.NumberColumn(format="localized") for name in ("entries here", "length of the text")
        },
    )
    characters = counts.units[1].num_units
    if subwords.num_units:
        longer = characters / subwords.num_units
        st.markdown(
            f"In characters this text is {longer:.2f} times as long: {longer**2:.1f} times the attention work. "
            f"A vocabulary of 10 million words at width {shape.width:,} would take "
            f"{in_count(_parameters(10**7, model))} parameters, and still not know "
            f"{in_percent(counts.units[2].unknown_share)} of the words in the last fifth of this text, which the rest "
            "does not hold."
        )
    st.caption(
        "Entries here: what this text holds; of bytes and subwords, the whole vocabulary. Unknown: characters or words "
        "of the text's last fifth that stand nowhere before. Words are what stands between white space."
    )


def _parameters(vocab_size: int, model: Model) -> int:
    return embedding_parameters(vocab_size, model.shape.width, tied=model.shape.tied)


def _ratio(number: int, of: int) -> str:
    return f"{number / of:,.2f}" if of else "0"


def show_models(model: Model) -> None:
    """What share of published models is vocabulary."""
    st.subheader("How much of a model is vocabulary?")
    shapes = sorted(MODEL_SHAPES.values(), key=lambda shape: -shape.num_vocabulary_parameters / shape.num_parameters)
    most, least = shapes[0], shapes[-1]
    st.markdown(
        f"From {in_percent(least.num_vocabulary_parameters / least.num_parameters)} of {least.name} to "
        f"{in_percent(most.num_vocabulary_parameters / most.num_parameters)} of {most.name}: the smaller the model, "
        "the more of it is the table of its tokens."
    )
    st.plotly_chart(
        model_chart(shapes, model.shape.name),
        key="models",
        config=_CHART,
        alt="Share of parameters in the vocabulary: "
        + ", ".join(
            f"{shape.name} {in_percent(shape.num_vocabulary_parameters / shape.num_parameters)}" for shape in shapes
        ),
    )
    st.caption("Below each name, the entries of its own vocabulary. The model chosen above is in the accent colour.")


def show_languages(chosen: Chosen) -> None:
    """Compression of the same text in languages of many scripts."""
    st.subheader("How well does it compress each language?")
    rows = compute.language_bytes(chosen.key, chosen.tokenizer)
    st.markdown(
        f"The Universal Declaration of Human Rights: **{rows[0].name}** {rows[0].bytes_per_token:.2f} bytes per token, "
        f"**{rows[-1].name}** {rows[-1].bytes_per_token:.2f}."
    )
    st.plotly_chart(
        language_chart(rows),
        key="languages",
        config=_CHART,
        alt="Bytes per token: " + ", ".join(f"{row.name} {row.bytes_per_token:.2f}" for row in rows),
    )
    st.caption(
        "Bytes flatter scripts whose characters take two or three of them. What the same words cost in each language "
        "is on the page Languages."
    )


def show_sources() -> None:
    """Where formulas and sizes come from."""
    with st.expander("Sources and formulas"):
        st.markdown(
            "- Operations of reading a text: Kaplan et al. (2020), *Scaling Laws for Neural Language Models*, arXiv "
            "2001.08361, table 1.\n"
            "- A vocabulary takes |V| d parameters, twice that where the output has its own matrix (Press and Wolf, "
            "2017, arXiv 1608.05859, tie them).\n"
            "- KV cache of a token: 2 × KV heads × head size × layers × bytes of a number.\n"
            + "\n".join(f"- {name}: {shape.source}." for name, shape in MODEL_SHAPES.items())
        )
