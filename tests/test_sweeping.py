"""What a session leaves behind goes, also where its objects hold each other."""

from __future__ import annotations

import functools
import gc
import threading
import time
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


def test_one_thread_sweeps_however_many_visitors_come_together(monkeypatch):
    begun = []
    everybody = threading.Barrier(16)

    def begin_slowly():
        time.sleep(0.05)  # long enough for every other visitor to come in between
        begun.append("sweeping")

    def visit():
        everybody.wait()
        sweeping.start_sweeping()

    monkeypatch.setattr(sweeping, "_start_once", functools.cache(begin_slowly))
    visitors = [threading.Thread(target=visit) for _ in range(16)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert begun == ["sweeping"]
