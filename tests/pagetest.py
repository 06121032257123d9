"""Opens pages through Streamlit's AppTest, as a reader with a link would, and reads what they say."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 90


def page_at(page: str = "app.py", **params: str) -> AppTest:
    """Return a page that has not run yet. Pages below `pages/` only run as pages of the whole app."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    if page != "app.py":
        app.switch_page(page)
    for name, value in params.items():
        app.query_params[name] = value
    return app


def open_page(page: str = "app.py", **params: str) -> AppTest:
    """Return a page that ran with these URL parameters and raised nothing."""
    return finished(page_at(page, **params).run())


def finished(app: AppTest) -> AppTest:
    """Run again until work in the background is over; a page that raised fails the test."""
    deadline = time.monotonic() + SECONDS
    while app.get("progress") and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    assert not app.exception, app.exception
    return app


def payload_of(app: AppTest, number: int = 0) -> bytes:
    """Return what a page handed to its stage."""
    return app.get("bidi_component")[number].proto.bytes


def head_of(app: AppTest, number: int = 0) -> dict[str, Any]:
    """Return the head of a stage's payload."""
    payload = payload_of(app, number)
    length = struct.unpack_from("<I", payload)[0]
    return json.loads(payload[4 : 4 + length])


def plain(text: str) -> str:
    """Return Markdown without its escapes, and without the isolates around tokens."""
    return text.replace("\\", "").replace("\u2068", "").replace("\u2069", "")


def said(app: AppTest) -> str:
    """Return all text of a page as a reader reads it."""
    return "\n".join(plain(block.value) for block in [*app.markdown, *app.caption])
