"""Figures of the page Algorithms. Pure: the same data, the same figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from bpe import UNKNOWN_ID, Lattice
from ui.charts import ACCENT, QUIET
from ui.text import chart_literal, show_token

__all__ = [
    "RACE_COLOURS",
    "Curve",
    "Spread",
    "lattice_chart",
    "lattice_rows",
    "race_chart",
    "size_chart",
    "spread_chart",
]

RACE_COLOURS = ("#0072b2", "#d55e00", "#009e73")
"""Blue, vermilion, green of Okabe and Ito: told apart by colour-blind readers, each with a dash of its own."""

_DASHES = ("solid", "dash", "dot")
_MOST_POINTS = 1_000
_LONGEST_LABEL = 34
_INK = "#1d2733"
_PALE, _STRONG = (233, 240, 248), (122, 167, 214)


# ---------------------------------------------------------------------------------------------- race


class Curve(NamedTuple):
    """Tokens of a corpus at vocabulary sizes, int64 each."""

    name: str
    sizes: NDArray[np.int64]
    num_tokens: NDArray[np.int64]


def race_chart(curves: Sequence[Curve], vocab_size: int) -> go.Figure:
    """Return tokens of the corpus against the size of the vocabulary, a line an algorithm."""
    figure = go.Figure()
    for curve, colour, dash in zip(curves, RACE_COLOURS, _DASHES, strict=True):
        shown = np.unique(np.linspace(0, len(curve.sizes) - 1, min(len(curve.sizes), _MOST_POINTS)).round().astype(int))
        figure.add_scatter(
            x=curve.sizes[shown],
            y=curve.num_tokens[shown],
            name=curve.name,
            mode="lines+markers" if len(shown) < 40 else "lines",
            line={"color": colour, "width": 2.5, "dash": dash},
            marker={"size": 7},
            hovertemplate="vocabulary of %{x:,}<br>%{y:,} tokens of the corpus<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=vocab_size, line={"color": ACCENT, "width": 1, "dash": "dot"})
    figure.update_layout(
        height=380,
        margin={"l": 10, "r": 20, "t": 40, "b": 10},
        xaxis={"title": "size of the vocabulary, logarithmic", "type": "log", "dtick": "D2", "tickformat": ",~s"},
        yaxis={"title": "tokens of the corpus", "tickformat": ",d", "rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    return figure


# ---------------------------------------------------------------------------------------------- lattice


def lattice_rows(lattice: Lattice) -> list[int]:
    """Return the line on which each arc is drawn: 0 for the best path, then the lowest that is free at its place.

    >>> from bpe import UnigramTokenizer
    >>> lattice_rows(UnigramTokenizer.of_probabilities({"a": 0.5, "b": 0.25, "ab": 0.25}).lattice("ab"))
    [1, 0, 1]
    """
    taken_to: list[int] = []  # where the last arc on each line ends
    rows = [0] * len(lattice.arcs)
    order = sorted(range(len(lattice.arcs)), key=lambda place: lattice.arcs[place].start)
    for place in order:
        arc = lattice.arcs[place]
        if arc.on_best_path:
            continue
        row = next((row for row, end in enumerate(taken_to) if end <= arc.start), len(taken_to))
        if row == len(taken_to):
            taken_to.append(0)
        taken_to[row] = arc.end
        rows[place] = row + 1
    return rows


def lattice_chart(lattice: Lattice) -> go.Figure:
    """Return the lattice of a pre-token: its boundaries from left to right, every arc a bar between two of them.

    The best path is on top, in the accent colour; the more probable another arc is, the stronger its colour.
    """
    rows = lattice_rows(lattice)
    figure = go.Figure()
    for is_best in (False, True):
        places = [place for place, arc in enumerate(lattice.arcs) if arc.on_best_path == is_best]
        arcs = [lattice.arcs[place] for place in places]
        figure.add_bar(
            base=[arc.start + 0.06 for arc in arcs],
            x=[arc.end - arc.start - 0.12 for arc in arcs],
            y=[rows[place] for place in places],
            width=0.72,
            orientation="h",
            marker={
                "color": ACCENT if is_best else [_shade(arc.probability) for arc in arcs],
                "line": {"width": 1, "color": ACCENT if is_best else QUIET},
            },
            text=[chart_literal(_shown(arc.token, arc.text)) for arc in arcs],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"size": 14, "color": "#ffffff" if is_best else _INK},
            constraintext="none",
            hovertext=[
                f"{chart_literal(_shown(arc.token, arc.text))}<br>log probability {arc.score:.3f}<br>"
                f"in {100 * arc.probability:.2f} % of all cuts, weighted"
                for arc in arcs
            ],
            hoverinfo="text",
            name="best path" if is_best else "other tokens",
        )
    num_nodes = len(lattice.offsets)
    for node in range(num_nodes):
        figure.add_vline(x=node, line={"width": 1, "color": "rgba(128, 128, 128, 0.5)"}, layer="below")
    symbols = [lattice.text[a:b] for a, b in zip(lattice.offsets[:-1], lattice.offsets[1:], strict=True)]
    figure.update_layout(
        height=110 + 34 * (max(rows, default=0) + 1),
        barmode="overlay",
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        showlegend=False,
        xaxis={
            "side": "top",
            "tickvals": [node + 0.5 for node in range(num_nodes - 1)],
            "ticktext": [chart_literal(show_token(symbol)) for symbol in symbols],
            "range": [0, num_nodes - 1],
            "showgrid": False,
            "zeroline": False,
            "tickangle": 0,
        },
        yaxis={"visible": False, "autorange": "reversed"},
    )
    return figure


def _shade(share: float) -> str:
    """Return a blue between pale and strong, light enough for dark letters.

    >>> _shade(0.0), _shade(1.0)
    ('rgb(233, 240, 248)', 'rgb(122, 167, 214)')
    """
    channels = [round(pale + share * (strong - pale)) for pale, strong in zip(_PALE, _STRONG, strict=True)]
    return f"rgb({channels[0]}, {channels[1]}, {channels[2]})"


def _shown(token: int, text: bytes) -> str:
    return show_token(text) + (" ?" if token == UNKNOWN_ID else "")


# ---------------------------------------------------------------------------------------------- spreads


class Spread(NamedTuple):
    """One way to cut a text: its tokens, the share of the samples, and the share expected (None: not known)."""

    tokens: Sequence[bytes]
    share: float
    expected: float | None = None

    @property
    def label(self) -> str:
        """The tokens with bars between."""
        label = "|".join(map(show_token, self.tokens))
        return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"


def spread_chart(spreads: Sequence[Spread]) -> go.Figure:
    """Return the ways to cut as bars, as often as each was drawn; a diamond where it was expected."""
    places = list(range(len(spreads)))
    figure = go.Figure()
    figure.add_bar(
        x=[100 * spread.share for spread in spreads],
        y=places,
        orientation="h",
        marker={"color": QUIET},
        name="drawn",
        hovertemplate="%{x:.2f} % of the samples<extra></extra>",
    )
    expected = [(place, spread.expected) for place, spread in zip(places, spreads, strict=True)]
    known = [(place, share) for place, share in expected if share is not None]
    if known:
        figure.add_scatter(
            x=[100 * share for _place, share in known],
            y=[place for place, _share in known],
            mode="markers",
            marker={"symbol": "diamond", "size": 11, "color": ACCENT},
            name="expected",
            hovertemplate="%{x:.2f} % expected<extra></extra>",
        )
    figure.update_layout(
        height=80 + 30 * max(len(spreads), 2),
        margin={"l": 10, "r": 20, "t": 30, "b": 10},
        bargap=0.3,
        xaxis={"title": "per cent of the samples", "rangemode": "tozero"},
        yaxis={
            "tickvals": places,
            "ticktext": [chart_literal(spread.label) for spread in spreads],
            "autorange": "reversed",
            "automargin": True,
        },
        showlegend=bool(known),
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    return figure


def size_chart(x: Sequence[float], y: Sequence[float], x_title: str, y_title: str, marked: float) -> go.Figure:
    """Return one curve, with a place on it marked."""
    figure = go.Figure()
    figure.add_scatter(
        x=list(x),
        y=list(y),
        mode="lines+markers",
        line={"color": QUIET, "width": 2},
        hovertemplate=f"%{{x:,}}: %{{y:,.4~g}} {y_title}<extra></extra>",
    )
    figure.add_vline(x=marked, line={"color": ACCENT, "width": 2, "dash": "dot"})
    figure.update_layout(
        height=260,
        margin={"l": 10, "r": 20, "t": 10, "b": 10},
        showlegend=False,
        xaxis={"title": x_title},
        yaxis={"title": y_title, "rangemode": "tozero"},
    )
    return figure
