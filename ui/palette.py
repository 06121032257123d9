"""The colours of tokens, the same on every page: style rules from the palette of the stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

__all__ = ["token_colours"]

_PALETTE = Path(__file__).parent / "stage" / "palette.json"


def token_colours(*properties: Literal["fill", "background"]) -> str:
    """Return a style rule for each shade in light and dark: what is of class `t7` has shade 7.

    >>> token_colours("fill").splitlines()[0].startswith('[data-theme="light"] .t0 { fill: #')
    True
    """
    palette: dict[str, list[list[str]]] = json.loads(_PALETTE.read_text(encoding="utf-8"))
    rules = []
    for theme, hues in palette.items():
        for number, colour in enumerate(shade for hue in hues for shade in hue):
            declarations = " ".join(f"{property}: {colour};" for property in properties)
            rules.append(f'[data-theme="{theme}"] .t{number} {{ {declarations} }}')
    return "\n".join(rules) + "\n"
