"""Under every chart of a page two buttons that save it as SVG or PNG: one home for all charts, whoever draws them.

The charts are Plotly's, drawn by the browser, so the browser makes the pictures: pictures.js finds the charts of the
page. A chart's key names its file.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui import state

__all__ = ["offer_chart_pictures"]

_buttons = st.components.v2.component(
    "chart_pictures",
    html="<span hidden></span>\n",
    js=(Path(__file__).parent / "pictures.js").read_text(encoding="utf-8"),
)


def offer_chart_pictures() -> None:
    """Put the buttons under every chart of this page, now and later."""
    _buttons(key=state.CHART_PICTURES)
