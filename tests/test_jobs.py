"""Background work: results are kept by key, bounded; cancelling stops the work; errors reach the page."""

from __future__ import annotations

import threading

import pytest

from ui.jobs import JobBoard


def test_a_result_is_kept_and_the_oldest_dropped():
    board: JobBoard[int] = JobBoard(num_kept=2)
    for number in range(3):
        job = board.start(str(number), lambda job, number=number: number, keep=lambda result: True)
        assert job.wait(5)
    assert [board.known(str(number)) for number in range(3)] == [None, 1, 2]


def test_what_is_not_to_be_kept_is_not():
    board: JobBoard[str] = JobBoard(num_kept=2)
    job = board.start("key", lambda job: "half", keep=lambda result: result != "half")
    assert job.wait(5)
    assert (job.result, board.known("key")) == ("half", None)


def test_cancel_reaches_the_work_and_progress_reaches_the_page():
    board: JobBoard[int] = JobBoard(num_kept=1)
    reported = threading.Event()
    may_go_on = threading.Event()

    def work(job):
        assert job.report(3, 12)
        reported.set()
        may_go_on.wait(5)
        return 0 if job.report(4, 12) else -1

    job = board.start("key", work, keep=lambda result: True)
    assert reported.wait(5)
    assert (job.done, job.asked, job.is_over) == (3, 12, False)
    assert job.seconds_left is not None
    job.cancel()
    may_go_on.set()
    assert job.wait(5)
    assert job.result == -1


def test_an_error_is_handed_over():
    board: JobBoard[int] = JobBoard(num_kept=1)
    job = board.start("key", lambda job: 1 // 0, keep=lambda result: True)
    assert job.wait(5)
    with pytest.raises(ZeroDivisionError):
        raise job.error
