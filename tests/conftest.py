"""Settings of all tests: Hypothesis without deadlines, because a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")
