"""Settings of all tests: Hypothesis without deadlines, because a busy machine is no failure; names that stay."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")


_MAIN = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def main_module_stays() -> Iterator[None]:
    """Put the main module back: Streamlit's AppTest leaves a page in its place, which spawned workers would run."""
    sys.modules["__main__"] = _MAIN
    yield
    sys.modules["__main__"] = _MAIN


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    """Let programs that a test starts hear Ctrl+C: in the background a test run ignores it, and they inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their size: archives made by a test hold the time, and workers must agree on names."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None
