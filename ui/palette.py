"""The colours of tokens, the same on every page: style rules from the palette of the stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from ui.stage import bundle

__all__ = ["token_colours"]

_PALETTE = Path(bundle.__file__).parent / "palette.json"


def token_colours(property: Literal["fill", "background"]) -> str:
    """Return a style rule for each shade in light and dark: what is of class `t7` has shade 7.

    >>> token_colours("fill").splitlines()[0].startswith('[data-theme="light"] .t0 { fill: #')
    True
    """
    palette: dict[str, list[list[str]]] = json.loads(_PALETTE.read_text(encoding="utf-8"))
    rules = [
        f'[data-theme="{theme}"] .t{number} {{ {property}: {colour}; }}'
        for theme, hues in palette.items()
        for number, colour in enumerate(shade for hue in hues for shade in hue)
    ]
    return "\n".join(rules) + "\n"
