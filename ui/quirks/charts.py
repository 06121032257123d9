"""Figures of the page Quirks. Pure: the same data, the same figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from bpe.quirks import Integers
from ui.charts import ACCENT, QUIET
from ui.text import chart_literal

__all__ = ["TOKEN_COUNT_COLOURS", "integer_map", "price_bars", "space_run_chart"]

# Viridis at even distances: told apart by brightness alone, so also by colour-blind readers and in grey.
TOKEN_COUNT_COLOURS = ("#fde725", "#5ec962", "#21918c", "#3b528b", "#440154")

_SIDE = 100


def integer_map(integers: Integers, marked: int) -> go.Figure:
    """Return 10,000 integers as a square of token counts, a hundred in a row; one integer is circled."""
    counts = integers.num_tokens.astype(np.int64)
    most = min(max(int(counts.max()), 2), len(TOKEN_COUNT_COLOURS))
    steps = []
    for level, colour in enumerate(TOKEN_COUNT_COLOURS[:most]):
        steps += [(level / most, colour), ((level + 1) / most, colour)]
    splits = [chart_literal(split.replace(" ", "·")) for split in integers.splits]
    figure = go.Figure(
        go.Heatmap(
            z=np.minimum(counts, most).reshape(-1, _SIDE),
            customdata=np.array(splits).reshape(-1, _SIDE),
            colorscale=steps,
            zmin=0.5,
            zmax=most + 0.5,
            hovertemplate="%{customdata}<extra></extra>",
            colorbar={
                "orientation": "h",
                "y": 1.0,
                "yanchor": "bottom",
                "thickness": 12,
                "len": 1.0,
                "tickvals": list(range(1, most + 1)),
                "ticktext": _count_labels(most, int(counts.max())),
            },
        )
    )
    figure.add_scatter(
        x=[marked % _SIDE],
        y=[marked // _SIDE],
        mode="markers",
        marker={"symbol": "circle-open", "size": 16, "color": ACCENT, "line": {"width": 3}},
        hoverinfo="skip",
        showlegend=False,
    )
    ticks = [0, 25, 50, 75, 99]
    figure.update_layout(
        height=560,
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
        xaxis={
            "title": "last two digits",
            "tickvals": ticks,
            "ticktext": [f"{tick:02}" for tick in ticks],
            "showgrid": False,
        },
        yaxis={
            "title": "from",
            "tickvals": ticks,
            "ticktext": [f"{tick * _SIDE:,}" for tick in ticks],
            "autorange": "reversed",
            "showgrid": False,
            "automargin": True,
        },
    )
    return figure


def _count_labels(most: int, highest: int) -> list[str]:
    labels = [f"{count} tokens" if count > 1 else "1 token" for count in range(1, most + 1)]
    if highest > most:
        labels[-1] = f"{most} or more"
    return labels


def space_run_chart(num_tokens: NDArray[np.int64]) -> go.Figure:
    """Return the tokens of a run of spaces before a letter, by the length of the run."""
    figure = go.Figure(
        go.Bar(
            x=list(range(len(num_tokens))),
            y=num_tokens,
            marker={"color": QUIET},
            hovertemplate="%{x} spaces and a letter: %{y} tokens<extra></extra>",
        )
    )
    highest = int(num_tokens.max())
    figure.update_layout(
        height=280,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        bargap=0.15,
        xaxis={"title": "spaces before x", "dtick": 4},
        yaxis={"title": "tokens, x included", "rangemode": "tozero", "dtick": max(1, highest // 5)},
    )
    return figure


def price_bars(names: Sequence[str], num_tokens: Sequence[int]) -> go.Figure:
    """Return token counts of several ways to write the same, cheapest in the accent colour."""
    least = min(num_tokens, default=0)
    figure = go.Figure(
        go.Bar(
            x=list(num_tokens),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": [ACCENT if count == least else QUIET for count in num_tokens]},
            text=[f"{count:,}" for count in num_tokens],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{chart_literal(name)}: {count:,} tokens" for name, count in zip(names, num_tokens, strict=True)
            ],
            hoverinfo="text",
        )
    )
    figure.update_layout(
        height=60 + 34 * len(names),
        margin={"l": 10, "r": 50, "t": 10, "b": 10},
        bargap=0.25,
        xaxis={"title": "tokens", "rangemode": "tozero", "nticks": 5},
        yaxis={
            "tickvals": list(range(len(names))),
            "ticktext": [chart_literal(name) for name in names],
            "autorange": "reversed",
            "automargin": True,
        },
    )
    return figure
