"""Plotly figures of the page, from plain data. Pure: the same data, the same figure, no Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.charts import ACCENT, QUIET, write_cells
from ui.text import chart_literal

__all__ = ["agreement_map", "merge_curve", "spread"]

_CURVE_HEIGHT = 440
_LABEL_PIXELS = 16
_MOST_POINTS = 2_000


def merge_curve(num_tokens: NDArray[np.int64], step: int, others: Sequence[tuple[str, int]]) -> go.Figure:
    """Return tokens of the text against merges of the own tokenizer, with the others as horizontal lines.

    Tokens are on a logarithmic axis: the first merges save most, and the real ones lie close together at the end.
    Names stand at the right, moved apart where lines lie close; tokenizers of equal counts share a line.
    """
    last = len(num_tokens) - 1
    steps = np.unique(np.append(np.linspace(0, last, min(last + 1, _MOST_POINTS)).astype(np.int64), step))
    by_count: dict[int, list[str]] = {}
    for name, count in sorted(others, key=lambda other: -other[1]):
        if count:  # a text of which a normalizer left nothing has no place on a logarithmic axis
            by_count.setdefault(count, []).append(name)
    most = max(int(num_tokens[0]), *by_count, 1)
    least = max(min(int(num_tokens[-1]), *by_count, most), 1)
    bottom, top = np.log10(least) - 0.05, np.log10(most) + 0.05

    figure = go.Figure()
    figure.add_scatter(
        x=steps,
        y=num_tokens[steps],
        mode="lines",
        line={"color": ACCENT, "width": 2.5},
        hovertemplate="%{x:,} merges<br>%{y:,} tokens<extra></extra>",
    )
    figure.add_scatter(
        x=[step], y=[num_tokens[step]], mode="markers", marker={"color": ACCENT, "size": 11}, hoverinfo="skip"
    )
    heights = spread([float(np.log10(count)) for count in by_count], (top - bottom) * _LABEL_PIXELS / _CURVE_HEIGHT)
    lines = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": count,
            "y1": count,
            "line": {"color": QUIET, "width": 1},
        }
        for count in by_count
    ]
    labels = [
        {
            "xref": "paper",
            "x": 1.01,
            "y": height,
            "text": chart_literal(_list(names)),
            "hovertext": chart_literal(f"{', '.join(names)}: {count:,} tokens"),
            "showarrow": False,
            "xanchor": "left",
            "font": {"size": 11},
        }
        for (count, names), height in zip(by_count.items(), heights, strict=True)
    ]
    longest = max((len(_list(names)) for names in by_count.values()), default=0)
    # All at once: adding a hundred things one by one takes seconds.
    figure.update_layout(
        shapes=lines,
        annotations=labels,
        showlegend=False,
        height=_CURVE_HEIGHT,
        margin={"l": 10, "r": 10 + 6 * longest, "t": 10, "b": 10},
        xaxis={"title": "merges of yours", "tickformat": ",d", "rangemode": "tozero"},
        yaxis={
            "title": "tokens of this text",
            "type": "log",
            "range": [bottom, top],
            "tickvals": _ticks(least, most),
            "tickformat": ",d",
        },
    )
    return figure


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}"


def _ticks(least: int, most: int) -> list[int]:
    """Return 1, 2 and 5 times powers of ten within the range."""
    ticks = [factor * 10**power for power in range(9) for factor in (1, 2, 5)]
    return [tick for tick in ticks if 0.9 * least <= tick <= 1.1 * most]


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return descending places moved apart to at least `gap`, as little and as evenly as a sweep does it.

    >>> spread([3.0, 2.9, 1.0], 0.5)
    [3.2, 2.7, 1.0]
    """
    groups: list[tuple[float, int]] = []  # (centre, members)
    for place in places:
        centre, members = place, 1
        while groups and groups[-1][0] - centre < gap * (groups[-1][1] + members) / 2:
            above, others = groups.pop()
            centre = (above * others + centre * members) / (others + members)
            members += others
        groups.append((centre, members))
    out: list[float] = []
    for centre, members in groups:
        top = centre + gap * (members - 1) / 2
        out += [round(top - gap * number, 9) for number in range(members)]
    return out


def agreement_map(
    names: Sequence[str], score: NDArray[np.float64], other: NDArray[np.float64], titles: tuple[str, str]
) -> go.Figure:
    """Return the agreement of any two tokenizers as a heat map; the other score is in the hover."""
    labels = [chart_literal(name) for name in names]
    places = list(range(len(names)))
    figure = go.Figure(
        go.Heatmap(
            z=score,
            x=places,
            y=places,
            zmin=0,
            zmax=1,
            colorscale="Cividis",
            xgap=1,
            ygap=1,
            customdata=other,
            hovertext=[[f"{one} and {two}" for two in labels] for one in labels],
            hovertemplate=f"%{{hovertext}}<br>{titles[0]} %{{z:.3f}}<br>{titles[1]} %{{customdata:.3f}}<extra></extra>",
            showscale=False,
        )
    )
    written = [[_write_score(value) for value in row] for row in score.tolist()]
    write_cells(figure, score, written, size=11 if len(names) <= 10 else 9)
    figure.update_layout(
        height=120 + 32 * len(names),
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"tickvals": places, "ticktext": labels, "tickangle": -45, "automargin": True, "showgrid": False},
        yaxis={
            "tickvals": places,
            "ticktext": labels,
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
        },
    )
    return figure


def _write_score(value: float) -> str:
    """Return a score in as few signs as fit a small cell.

    >>> _write_score(0.7345), _write_score(1.0)
    ('.73', '1')
    """
    return "1" if value == 1 else f"{min(value, 0.99):.2f}".removeprefix("0")
