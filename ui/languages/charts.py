"""Plotly figures of the page, from plain data. Pure: the same data, the same figure, no Streamlit.

Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart; the tokenizers differ in
the shape of their marks too. Heat maps use Cividis (Nuñez et al. 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.charts import write_cells
from ui.languages.compute import COMPARABLE_UNKNOWN, Answer, Grid
from ui.text import NOT_TO_BE_HAD, chart_literal

__all__ = ["Axis", "bars", "flips", "heat_map", "moving_most", "ranks", "write_value"]

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#7F7F7F", "#A89A00")
_SYMBOLS = ("square", "circle", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
_QUIET = "rgba(128, 128, 128, 0.35)"
_ROW_HEIGHT = 21
_LEGEND_ROW_HEIGHT = 22
_NUM_FOLLOWED = 5
"""Where on Cividis black reads better than white: at (125, 124, 120) both have a contrast of more than 4."""


@dataclass(frozen=True)
class Axis:
    """Names on a chart: of the languages (rows), of the tokenizers, and of what is measured."""

    languages: tuple[str, ...]
    contenders: tuple[str, ...]
    title: str
    is_share: bool = False


def write_value(value: float, is_share: bool = False) -> str:
    """Return a value as it is written on the page: three digits that matter, or per cent.

    >>> write_value(22.139), write_value(1.05), write_value(0.4813, is_share=True), write_value(float("nan"))
    ('22.1', '1.05', '48 %', '–')
    """
    if math.isnan(value):
        return NOT_TO_BE_HAD
    if is_share:
        return f"{100 * value:.0f} %"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def bars(grid: Grid, answer: Answer, axis: Axis, reference_line: float | None = None) -> go.Figure:
    """Return the languages sorted by the first tokenizer: its values as bars, the others' as marks, all with intervals.

    A bar of too many unknown tokens is hatched. `customdata` of a point is its row and column.
    """
    order = grid.order()
    places = np.arange(len(order))
    figure = go.Figure()
    for column, name in enumerate(axis.contenders):
        _add_contender(figure, grid, answer, axis, column, name, order)
    if reference_line is not None:
        figure.add_vline(x=reference_line, line={"color": "#7F7F7F", "width": 1.5, "dash": "dash"})
    num_legend_rows = math.ceil(len(axis.contenders) / 2)
    figure.update_layout(
        height=_ROW_HEIGHT * len(order) + 70 + _LEGEND_ROW_HEIGHT * num_legend_rows,
        margin={"l": 5, "r": 15, "t": 60 + _LEGEND_ROW_HEIGHT * num_legend_rows, "b": 5},
        bargap=0.3,
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "itemwidth": 30},
        showlegend=True,
        xaxis={
            "title": {"text": _wrapped(axis.title), "standoff": 4},
            "side": "top",
            "rangemode": "tozero",
            "tickformat": ".0%" if axis.is_share else None,
        },
        yaxis={
            "tickvals": places,
            "ticktext": [chart_literal(axis.languages[row]) for row in order],
            "range": [len(order) - 0.4, -0.6],
            "automargin": True,
            "showgrid": False,
        },
        clickmode="event+select",
        dragmode=False,
    )
    return figure


def _add_contender(
    figure: go.Figure, grid: Grid, answer: Answer, axis: Axis, column: int, name: str, order: Sequence[int]
) -> None:
    value, low, high = (each[order, column] for each in (grid.value, grid.low, grid.high))
    colour = _COLOURS[column % len(_COLOURS)]
    incomparable = answer.unknown[order, column] > COMPARABLE_UNKNOWN
    shared = {
        "x": value,
        "y": np.arange(len(order)),
        "name": chart_literal(name),
        "customdata": [[row, column] for row in order],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(high - value),
            "arrayminus": np.nan_to_num(value - low),
            "thickness": 1,
            "width": 2,
            "color": "#8C8C8C" if column == 0 else colour,
        },
        "hovertext": [_hover(grid, answer, axis, row, column) for row in order],
        "hoverinfo": "text",
        "unselected": {"marker": {"opacity": 1}},
    }
    if column == 0:
        pattern = {"shape": np.where(incomparable, "/", "").tolist(), "solidity": 0.4}
        figure.add_trace(go.Bar(orientation="h", marker={"color": colour, "pattern": pattern}, **shared))
        return
    symbols = [_SYMBOLS[column % len(_SYMBOLS)] + ("-open" if flag else "") for flag in incomparable]
    marker = {"color": colour, "size": 9, "symbol": symbols, "line": {"width": 1, "color": "rgba(255,255,255,0.8)"}}
    figure.add_trace(go.Scatter(mode="markers", marker=marker, **shared))


def _hover(grid: Grid, answer: Answer, axis: Axis, row: int, column: int) -> str:
    parts = [
        f"{axis.languages[row]}, {axis.contenders[column]}",
        f"{write_value(grid.value[row, column], axis.is_share)} {axis.title}",
    ]
    if not math.isnan(grid.low[row, column]):
        ends = (write_value(end[row, column], axis.is_share) for end in (grid.low, grid.high))
        parts.append("95 % interval " + " to ".join(ends))
    parts.append(f"{answer.num_tokens[row, column]:,} tokens")
    unknown = answer.unknown[row, column]
    if unknown:
        verdict = ": not comparable" if unknown > COMPARABLE_UNKNOWN else ""
        parts.append(f"{100 * unknown:.1f} % of the tokens are unknown{verdict}")
    return "<br>".join(map(chart_literal, parts))


def heat_map(grid: Grid, answer: Answer, axis: Axis) -> go.Figure:
    """Return languages by tokenizers; colour follows the logarithm, because premiums span two orders of size."""
    order = grid.order()
    values = grid.value[order]
    positive = np.where(values > 0, values, np.nan)
    colours = values if axis.is_share else np.log10(positive)
    shown = [[write_value(value, axis.is_share) for value in row] for row in values]
    flagged = answer.unknown[order] > COMPARABLE_UNKNOWN
    texts = [
        [f"{text} ?" if flag else text for text, flag in zip(*pair, strict=True)]
        for pair in zip(shown, flagged, strict=True)
    ]
    colours = np.where(np.isfinite(colours), colours, np.nan)
    ticks = np.linspace(np.nanmin(colours), np.nanmax(colours), 4)
    columns = list(range(len(axis.contenders)))
    figure = go.Figure(
        go.Heatmap(
            z=colours,
            x=columns,
            y=np.arange(len(order)),
            hovertext=[[_hover(grid, answer, axis, row, column) for column in columns] for row in order],
            hoverinfo="text",
            colorscale="Cividis",
            reversescale=not grid.measure.more_is_worse,
            xgap=1,
            ygap=1,
            colorbar={
                "orientation": "h",
                "y": 0,
                "yanchor": "top",
                "thickness": 12,
                "title": {"text": _wrapped(axis.title), "side": "bottom"},
                "tickvals": ticks,
                "ticktext": [write_value(tick if axis.is_share else 10**tick, axis.is_share) for tick in ticks],
            },
        )
    )
    least, most = np.nanmin(colours), np.nanmax(colours)
    brightness = (colours - least) / max(most - least, 1e-9)
    write_cells(figure, brightness if grid.measure.more_is_worse else 1 - brightness, texts)
    figure.update_layout(
        height=_ROW_HEIGHT * len(order) + 190,
        margin={"l": 5, "r": 5, "t": 90, "b": 100},
        showlegend=False,
        xaxis={
            "tickvals": columns,
            "ticktext": [chart_literal(name) for name in axis.contenders],
            "side": "top",
            "tickangle": 0 if len(columns) < 4 else -30,
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "tickvals": np.arange(len(order)),
            "ticktext": [chart_literal(axis.languages[row]) for row in order],
            "range": [len(order) - 0.5, -0.5],
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
        },
        dragmode=False,
    )
    return figure


# ---------------------------------------------------------------------------------------------- rank flips


def ranks(grids: Sequence[Grid], column: int = 0) -> NDArray[np.float64]:
    """Return float64[num_languages, num_grids]: the place of each language, 1 pays most; nan without a value.

    Languages of equal value share the better place.
    """
    places = np.full((len(grids[0].value), len(grids)), np.nan)
    for number, grid in enumerate(grids):
        paid = grid.value[:, column] if grid.measure.more_is_worse else -grid.value[:, column]
        known = ~np.isnan(paid)
        places[known, number] = 1 + (paid[known][:, None] < paid[known][None, :]).sum(axis=1)
    return places


def moving_most(places: NDArray[np.float64], num_wanted: int = _NUM_FOLLOWED) -> list[int]:
    """Return the rows whose place differs most between two measures, the furthest first."""
    travel = np.nanmax(places, axis=1) - np.nanmin(places, axis=1)
    return [row for row in np.argsort(-travel, kind="stable").tolist()[:num_wanted] if travel[row] > 0]


def flips(places: NDArray[np.float64], languages: Sequence[str], measures: Sequence[str]) -> go.Figure:
    """Return a line a language over the measures, its place on the axis; those that move most are in colour."""
    followed = moving_most(places)
    figure = go.Figure()
    columns = np.arange(len(measures))
    for row in sorted(range(len(languages)), key=lambda row: row in followed):
        is_followed = row in followed
        number = followed.index(row) if is_followed else 0
        name = chart_literal(languages[row])
        figure.add_trace(
            go.Scatter(
                x=columns,
                y=places[row],
                mode="lines+markers",
                name=name,
                line={"color": _COLOURS[number] if is_followed else _QUIET, "width": 3 if is_followed else 1},
                marker={"size": 9 if is_followed else 4, "symbol": _SYMBOLS[number] if is_followed else "circle"},
                hovertext=[f"{name}: place {place:.0f}" for place in places[row]],
                hoverinfo="text",
                connectgaps=False,
                showlegend=is_followed,
            )
        )
    first = {row: places[row, 0] for row in range(len(languages)) if not math.isnan(places[row, 0])}
    labels: dict[float, str] = {}
    for row, place in sorted(first.items(), key=lambda item: item[1]):
        while place in labels:  # equal values share a place: the label moves to the free one below
            place += 1
        labels[place] = chart_literal(languages[row])
    num_legend_rows = math.ceil(len(followed) / 2)
    figure.update_layout(
        height=_ROW_HEIGHT * len(languages) + 110 + _LEGEND_ROW_HEIGHT * num_legend_rows,
        margin={"l": 5, "r": 60, "t": 80 + _LEGEND_ROW_HEIGHT * num_legend_rows, "b": 10},
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "itemwidth": 30},
        xaxis={
            "tickvals": columns,
            "ticktext": [chart_literal(measure) for measure in measures],
            "side": "top",
            "tickangle": -30,
            "ticklabeloverflow": "allow",
            "range": [-0.15, len(measures) - 0.85],
        },
        yaxis={
            "tickvals": list(labels),
            "ticktext": list(labels.values()),
            "range": [len(languages) + 0.6, 0.4],
            "automargin": True,
            "showgrid": False,
        },
        dragmode=False,
    )
    return figure


def _wrapped(title: str, width: int = 36) -> str:
    """Return an axis title as a chart literal, broken once between words if it is long, so that it fits a phone."""
    if len(title) <= width:
        return chart_literal(title)
    at = title.rfind(" ", 0, width)
    return f"{chart_literal(title[:at])}<br>{chart_literal(title[at + 1 :])}"
