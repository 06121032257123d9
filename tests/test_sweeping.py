"""What a session leaves behind goes, also where its objects hold each other."""

from __future__ import annotations

import gc
import threading
import weakref

from pagetest import open_page

from ui import sweeping


class Session:
    """Something that holds on to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_objects_that_hold_each_other_are_swept():
    gc.disable()
    try:
        left = weakref.ref(Session())
        assert left() is not None
        sweeping.sweep()
        assert left() is None
    finally:
        gc.enable()


def test_one_thread_sweeps_however_many_pages_ask():
    open_page()
    open_page("pages/7_Costs.py")
    assert [thread.name for thread in threading.enumerate()].count("sweeping") == 1
