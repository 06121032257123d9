"""Links that nobody could have made with this app."""

from __future__ import annotations

import random
from pathlib import Path

from visitor import query_of

from ui import state
from ui.frame import PAGES

__all__ = ["ADDRESSES", "HOSTILE", "broken_links"]

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
ADDRESSES = ["" if page.file == "app.py" else Path(page.file).stem.partition("_")[2] for page in PAGES.values()]
"""The pages as they stand in an address."""

_VALUES = ["", "-1", "nan", "1e999", "9" * 400, "\x00", "\u202e", "../../etc/passwd", HOSTILE, "%ff", "a" * 3_000]


def broken_links(number: int = 100) -> list[str]:
    """Return links of pages with four parameters each that hold nonsense; the same every time."""
    chance = random.Random(8)
    names = [value for name, value in vars(state).items() if name.isupper() and isinstance(value, str)]
    links = []
    for place in range(number):
        chosen = {chance.choice(names): chance.choice(_VALUES) for _ in range(4)}
        links.append(f"{ADDRESSES[place % len(ADDRESSES)]}?{query_of(chosen)}")
    return links
