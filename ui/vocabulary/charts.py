"""Figures of the page. Pure: the same data, the same figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from bpe.merge_tree import TreeNode
from bpe.vocabulary import SCRIPTS
from ui.charts import ACCENT, QUIET
from ui.text import chart_literal, show_token

__all__ = ["MOST_LENGTHS", "MOST_SCRIPTS", "length_chart", "script_chart", "script_order", "tree_chart"]

MOST_LENGTHS = 20
"""Longer tokens share one bar."""

MOST_SCRIPTS = 14
"""Rarer scripts share one bar."""

_DEEPEST = 7
_FILL_MERGED, _FILL_BASE, _INK = "#d6d4fe", "#f7f0a5", "#1d1c1a"
_LABEL_CHARS = 24


def length_chart(every: NDArray[np.int64], found: NDArray[np.int64]) -> go.Figure:
    """Return tokens by length in bytes. Where less than all was found, both as shares of their own total."""
    labels = [str(length) for length in range(1, MOST_LENGTHS + 1)] + [f"{MOST_LENGTHS + 1}+"]
    figure = go.Figure()
    is_part = not np.array_equal(every, found)
    for name, counts, colour in (("all tokens", every, QUIET), ("found", found, ACCENT))[: 2 if is_part else 1]:
        folded = np.array(_folded(counts))
        figure.add_bar(
            x=labels,
            y=folded / max(folded.sum(), 1) if is_part else folded,
            customdata=folded,
            name=name,
            marker={"color": colour},
            hovertemplate="%{x} bytes: %{customdata:,} tokens<extra>" + name + "</extra>",
        )
    title = "share of the tokens" if is_part else "tokens"
    figure.update_layout(
        height=300,
        barmode="group",
        bargap=0.15,
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        xaxis={"title": "length in bytes", "type": "category", "tickangle": 0, "tickvals": _ticks(labels)},
        yaxis={"title": title, "tickformat": ".0%" if is_part else ",d", "rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    return figure


def _ticks(labels: Sequence[str]) -> list[str]:
    """Return the lengths that get a label: every fifth, so that labels stay apart on a phone."""
    return [label for label in labels[:-2] if label == "1" or int(label) % 5 == 0] + [labels[-1]]


def _folded(counts: NDArray[np.int64]) -> list[int]:
    """Return the counts of lengths 1 to MOST_LENGTHS, and of all longer ones together."""
    padded = np.zeros(max(len(counts), MOST_LENGTHS + 2), dtype=np.int64)
    padded[: len(counts)] = counts
    return [*padded[1 : MOST_LENGTHS + 1].tolist(), int(padded[MOST_LENGTHS + 1 :].sum())]


def script_order(every: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the scripts that have a bar, most tokens first, and those that share the last one."""
    present = [int(script) for script in np.argsort(-every, kind="stable") if every[script]]
    return present[:MOST_SCRIPTS], present[MOST_SCRIPTS:]


def script_chart(every: NDArray[np.int64], found: NDArray[np.int64]) -> go.Figure:
    """Return tokens by script as bars on a logarithmic axis, most tokens on top."""
    shown, folded = script_order(every)
    labels = [SCRIPTS[script].replace("_", " ") for script in shown]
    if folded:
        labels.append(f"{len(folded)} more scripts")
    figure = go.Figure()
    for name, counts, colour in (("all tokens", every, QUIET), ("found", found, ACCENT)):
        if name == "found" and np.array_equal(every, found):
            continue
        values = counts[shown].tolist() + ([int(counts[folded].sum())] if folded else [])
        figure.add_bar(
            x=[value or None for value in values],
            y=labels,
            name=name,
            orientation="h",
            marker={"color": colour},
            hovertemplate="%{y}: %{x:,} tokens<extra>" + name + "</extra>",
        )
    figure.update_layout(
        height=max(300, 60 + 24 * len(labels)),
        barmode="overlay",
        bargap=0.25,
        margin={"l": 10, "r": 20, "t": 30, "b": 10},
        xaxis={"title": "tokens, logarithmic", "type": "log", "dtick": 1, "tickformat": ",d"},
        yaxis={"autorange": "reversed", "automargin": True, "type": "category"},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    return figure


def tree_chart(tree: Sequence[TreeNode]) -> go.Figure:
    """Return the merge tree as an icicle: the token on top, below each token the two it was made of.

    Widths are bytes. Of a deep tree the top is drawn; the labels that do not fit are left to the pointer.
    """
    drawn = [place for place, node in enumerate(tree) if node.depth <= _DEEPEST]
    nodes = [tree[place] for place in drawn]
    labels = [chart_literal(_short(show_token(node.name))) for node in nodes]
    made = [f"merge {node.rank:,}" if node.rank >= 0 else "base symbol" for node in nodes]
    figure = go.Figure(
        go.Icicle(
            ids=[str(place) for place in drawn],
            parents=[str(node.parent) if node.parent >= 0 else "" for node in nodes],
            labels=labels,
            values=[max(node.end - node.start, 1) for node in nodes],
            customdata=[
                [f"{node.token_id:,}", how, node.end - node.start] for node, how in zip(nodes, made, strict=True)
            ],
            branchvalues="total",
            sort=False,
            tiling={"orientation": "v", "pad": 2},
            pathbar={"visible": False},
            marker={
                "colors": [_FILL_MERGED if node.rank >= 0 else _FILL_BASE for node in nodes],
                "line": {"width": 1, "color": "rgba(128, 128, 128, 0.6)"},
            },
            textfont={"color": _INK, "size": 14},
            textposition="middle center",
            leaf={"opacity": 1},
            hovertemplate="%{label}<br>id %{customdata[0]}, %{customdata[1]}, %{customdata[2]} bytes<extra></extra>",
        )
    )
    levels = 1 + max(node.depth for node in nodes)
    figure.update_layout(
        height=60 + 40 * levels,
        margin={"l": 0, "r": 0, "t": 4, "b": 4},
        uniformtext={"minsize": 11, "mode": "hide"},
    )
    return figure


def _short(label: str) -> str:
    return label if len(label) <= _LABEL_CHARS else label[: _LABEL_CHARS - 1] + "…"
