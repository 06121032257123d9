"""Plotly figures from plain data. Pure: the same data, the same figure, no Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas  # noqa: F401  # see below
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.text import NOT_TO_BE_HAD

# Plotly takes pandas from sys.modules as soon as it stands there. Two visitors who open a server's first pages at once
# would meet it half imported ("no attribute Series"): so it is imported here, before anything is drawn.

__all__ = ["contest_chart", "training_curve", "write_cells"]

ACCENT = "#d1495b"
QUIET = "#5b7fa6"
_MOST_POINTS = 2_000
_LIGHT_FROM = 0.5  # of Cividis: from here on black stands out more than white


def training_curve(num_tokens: NDArray[np.int64], num_bytes: int, step: int) -> go.Figure:
    """Return tokens of the corpus against merges, with the current step marked.

    Long histories are thinned to about 2,000 points, the first, the last and the current step kept.
    """
    last = len(num_tokens) - 1
    steps = np.unique(np.linspace(0, last, min(last + 1, _MOST_POINTS)).round().astype(np.int64))
    steps = np.union1d(steps, [step])
    tokens = num_tokens[steps]
    per_token = num_bytes / np.maximum(tokens, 1)
    figure = go.Figure()
    figure.add_scatter(
        x=steps,
        y=tokens,
        customdata=per_token,
        mode="lines",
        line={"color": QUIET, "width": 2},
        hovertemplate="%{x:,} merges<br>%{y:,} tokens<br>%{customdata:.2f} bytes per token<extra></extra>",
    )
    figure.add_scatter(
        x=[step],
        y=[num_tokens[step]],
        mode="markers",
        marker={"color": ACCENT, "size": 11},
        hoverinfo="skip",
    )
    figure.add_vline(x=step, line={"color": ACCENT, "width": 1, "dash": "dot"})
    figure.update_layout(
        showlegend=False,
        height=320,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis=_count_axis("merges", last),
        yaxis=_count_axis("tokens of the corpus", int(num_tokens[0])),
    )
    return figure


def write_cells(
    figure: go.Figure, brightness: NDArray[np.float64], texts: Sequence[Sequence[str]], size: int = 12
) -> None:
    """Write on the cells of a heat map in Cividis, white on the dark half of the scale and black on the light half.

    Plotly's own choice follows the theme and is too faint in the middle of the scale.

    brightness   float[rows, columns], each cell's place on the scale from 0 to 1; nan where there is no value
    """
    is_known = ~np.isnan(brightness)
    is_light = brightness > _LIGHT_FROM
    for chosen, colour in ((is_light & is_known, "#000000"), (~is_light & is_known, "#FFFFFF")):
        rows, columns = np.nonzero(chosen)
        cells = [texts[row][column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        text = {"mode": "text", "text": cells, "textfont": {"color": colour, "size": size}}
        figure.add_trace(go.Scatter(x=columns, y=rows, hoverinfo="skip", **text))
    rows, columns = np.nonzero(~is_known)
    absent = {"mode": "text", "text": [NOT_TO_BE_HAD] * len(rows), "hoverinfo": "skip"}
    figure.add_trace(go.Scatter(x=columns, y=rows, **absent))


def contest_chart(labels: Sequence[str], counts: Sequence[int], num_tied: int) -> go.Figure:
    """Return the leading pairs as bars, best on top; those that tie for the first place in the accent colour."""
    colours = [ACCENT if rank < num_tied else QUIET for rank in range(len(labels))]
    places = list(range(len(labels)))
    figure = go.Figure(
        go.Bar(
            x=list(counts),
            y=places,
            orientation="h",
            marker={"color": colours},
            text=[f"{count:,}" for count in counts],
            textposition="outside",
            cliponaxis=False,
            hovertext=[f"{label}: {count:,}" for label, count in zip(labels, counts, strict=True)],
            hoverinfo="text",
        )
    )
    figure.update_layout(
        height=320,
        margin={"l": 10, "r": 50, "t": 10, "b": 10},
        xaxis=_count_axis("pair count in the corpus", max(counts, default=0)),
        yaxis={"tickvals": places, "ticktext": list(labels), "autorange": "reversed", "automargin": True},
        bargap=0.25,
    )
    return figure


def _count_axis(title: str, most: int) -> dict[str, object]:
    """An axis of whole numbers: without a step of its own, Plotly puts ticks at halves of small counts."""
    axis: dict[str, object] = {"title": title, "tickformat": ",d", "rangemode": "tozero"}
    return axis | {"dtick": 1} if most <= 5 else axis
