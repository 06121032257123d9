"""Figures of the page. Pure: the same data, the same figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from bpe.costs import ModelShape
from ui.charts import ACCENT, QUIET
from ui.costs.compute import LanguageBytes
from ui.units import in_count, in_percent

__all__ = ["language_chart", "model_chart", "trade_chart"]

_MOST_POINTS = 1_500


def trade_chart(
    vocab_sizes: NDArray[np.int64], num_tokens: NDArray[np.int64], work: NDArray[np.float64], spot: int
) -> go.Figure:
    """Return tokens of the text, and operations to read it, against vocabulary size; the sweet spot marked.

    Both axes of size are logarithmic. Thinned to about 1,500 points; both ends and the spot stay.
    """
    last = len(vocab_sizes) - 1
    spread = np.geomspace(1, last + 1, min(last + 1, _MOST_POINTS)).round().astype(np.int64) - 1
    shown = np.union1d(np.unique(spread), [0, spot, last])
    sizes = vocab_sizes[shown]
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.12, subplot_titles=("tokens of the text", "operations")
    )
    for row, values, unit in ((1, num_tokens, "tokens"), (2, work, "operations")):
        figure.add_scatter(
            x=sizes,
            y=values[shown],
            mode="lines",
            line={"color": QUIET, "width": 2},
            customdata=[in_count(float(value)) for value in values[shown]],
            hovertemplate="%{x:,} entries<br>%{customdata} " + unit + "<extra></extra>",
            row=row,
            col=1,
        )
        figure.add_scatter(
            x=[vocab_sizes[spot]],
            y=[values[spot]],
            mode="markers",
            marker={"color": ACCENT, "size": 12, "symbol": "diamond"},
            hoverinfo="skip",
            row=row,
            col=1,
        )
    figure.update_xaxes(type="log", tickvals=_round_sizes(vocab_sizes), tickformat=",d")
    figure.update_xaxes(title="entries in the vocabulary", row=2, col=1)
    figure.update_yaxes(rangemode="tozero", nticks=5, exponentformat="power")
    figure.update_yaxes(tickformat=",d", row=1, col=1)
    figure.update_layout(height=440, showlegend=False, margin={"l": 10, "r": 10, "t": 30, "b": 10})
    return figure


def _round_sizes(vocab_sizes: NDArray[np.int64]) -> list[int]:
    """Return round numbers within the sizes, far enough apart for their labels on a phone."""
    every = [10**power for power in range(8)]
    inside = [size for size in every if vocab_sizes[0] <= size <= vocab_sizes[-1]]
    ends = [int(vocab_sizes[0]), int(vocab_sizes[-1])]
    kept = [size for size in inside if all(abs(np.log10(size / end)) > 0.4 for end in ends)]
    return sorted({*kept, *ends})


def model_chart(shapes: Sequence[ModelShape], chosen: str) -> go.Figure:
    """Return, for each model, the share of its parameters that its vocabulary takes."""
    figure = go.Figure(
        go.Bar(
            x=[shape.num_vocabulary_parameters / shape.num_parameters for shape in shapes],
            y=[f"{shape.name}<br>{shape.vocab_size:,}" for shape in shapes],
            orientation="h",
            marker={"color": [ACCENT if shape.name == chosen else QUIET for shape in shapes]},
            text=[in_percent(shape.num_vocabulary_parameters / shape.num_parameters) for shape in shapes],
            textposition="outside",
            cliponaxis=False,
            customdata=[
                [in_count(shape.num_vocabulary_parameters), in_count(shape.num_parameters)] for shape in shapes
            ],
            hovertemplate="%{y}<br>%{customdata[0]} of %{customdata[1]} parameters<extra></extra>",
        )
    )
    figure.update_layout(
        height=60 + 42 * len(shapes),
        margin={"l": 10, "r": 60, "t": 10, "b": 10},
        xaxis={"title": "share of all parameters", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "automargin": True},
        bargap=0.3,
    )
    return figure


def language_chart(rows: Sequence[LanguageBytes]) -> go.Figure:
    """Return bytes per token of the same text in each language."""
    figure = go.Figure(
        go.Bar(
            x=[row.bytes_per_token for row in rows],
            y=[row.name for row in rows],
            orientation="h",
            marker={"color": QUIET},
            text=[f"{row.bytes_per_token:.2f}" for row in rows],
            textposition="outside",
            cliponaxis=False,
            customdata=[[row.num_tokens, row.num_bytes, row.num_chars / row.num_tokens] for row in rows],
            hovertemplate=(
                "%{y}<br>%{customdata[0]:,} tokens, %{customdata[1]:,} bytes<br>"
                "%{customdata[2]:.2f} characters per token<extra></extra>"
            ),
        )
    )
    figure.update_layout(
        height=60 + 24 * len(rows),
        margin={"l": 10, "r": 50, "t": 10, "b": 10},
        xaxis={"title": "bytes per token", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "automargin": True},
        bargap=0.25,
    )
    return figure
