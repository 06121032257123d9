"""Settings of all tests: Hypothesis without deadlines, because a busy machine is no failure; names that stay."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their size: archives made by a test hold the time, and workers must agree on names."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None
