"""Background work: results are kept by key, bounded; cancelling stops the work; errors reach the page."""

from __future__ import annotations

import threading
import time

import pytest
from pagetest import finished, head_of, page_at
from streamlit.testing.v1 import AppTest

from ui import compute, frame, jobs
from ui.jobs import Job, JobBoard
from ui.kept import Budget
from ui.limits import LIMITS


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


# ---------------------------------------------------------------------------------------------- fairness


class Gate:
    """Work that begins, waits until it is let go, and returns its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self, job: Job[str]) -> str:
        self.begun.set()
        assert self.may_end.wait(5)
        return self.name if job.report(1, 1) else "stopped"


def start(board: JobBoard[str], gate: Gate, **options) -> Job[str]:
    return board.start(gate.name, gate, keep=lambda result: result != "stopped", **options)


def test_few_run_at_a_time_and_the_others_wait_in_turn():
    board: JobBoard[str] = JobBoard(num_kept=9, num_at_once=2)
    gates = [Gate(name) for name in "abcd"]
    jobs = [start(board, gate) for gate in gates]
    assert [job.is_waiting for job in jobs] == [False, False, True, True]
    assert [job.num_ahead for job in jobs] == [0, 0, 2, 3]
    gates[1].may_end.set()
    assert gates[2].begun.wait(5)
    assert not gates[3].begun.is_set()
    assert (jobs[3].is_waiting, jobs[3].num_ahead) == (True, 2)
    for gate in gates:
        gate.may_end.set()
    assert all(job.wait(5) for job in jobs)
    assert [job.result for job in jobs] == list("abcd")


def test_a_class_that_asks_for_the_same_costs_one_training():
    board: JobBoard[str] = JobBoard(num_kept=9, num_at_once=2)
    gates = [Gate("same") for _ in range(20)]
    jobs = [start(board, gate) for gate in gates]
    gates[0].may_end.set()
    assert all(job.wait(5) for job in jobs)
    assert {job.result for job in jobs} == {"same"}
    assert [gate.begun.is_set() for gate in gates] == [True] + [False] * 19


def test_the_next_of_the_same_works_when_the_first_was_stopped():
    board: JobBoard[str] = JobBoard(num_kept=9)
    first, second = Gate("same"), Gate("same")
    jobs = [start(board, first), start(board, second)]
    jobs[0].cancel()
    first.may_end.set()
    assert second.begun.wait(5)
    second.may_end.set()
    assert jobs[1].wait(5)
    assert [job.result for job in jobs] == ["stopped", "same"]


def test_cancelled_in_the_queue_it_never_begins():
    board: JobBoard[str] = JobBoard(num_kept=9, num_at_once=1)
    gates = [Gate(name) for name in "abc"]
    jobs = [start(board, gate) for gate in gates]
    jobs[1].cancel()
    gates[0].may_end.set()
    assert jobs[1].wait(5)
    assert (jobs[1].has_begun, jobs[1].result) == (False, None)
    assert gates[2].begun.wait(5)
    gates[2].may_end.set()
    assert jobs[2].wait(5)


def test_a_visitor_who_has_gone_stops_the_work_in_its_turn_and_in_the_queue():
    board: JobBoard[str] = JobBoard(num_kept=9, num_at_once=1)
    here = threading.Event()
    here.set()
    gates = [Gate(name) for name in "abc"]
    jobs = [start(board, gate, is_wanted=here.is_set) for gate in gates[:2]]
    jobs.append(start(board, gates[2]))
    here.clear()
    gates[0].may_end.set()
    assert gates[2].begun.wait(5)
    assert (jobs[0].result, jobs[1].has_begun) == ("stopped", False)
    gates[2].may_end.set()
    assert jobs[2].wait(5)


def test_short_work_does_not_wait_behind_long_work():
    board: JobBoard[str] = JobBoard(num_kept=9, num_at_once=1)
    long, queued, short = (Gate(name) for name in "abc")
    jobs = [start(board, long), start(board, queued), start(board, short, is_short=True)]
    assert short.begun.wait(5)
    assert not queued.begun.is_set()
    for gate in (long, queued, short):
        gate.may_end.set()
    assert all(job.wait(5) for job in jobs)


def test_work_that_takes_too_long_is_stopped_and_says_so():
    job: Job[str] = Job("key", _most_seconds=0.0, started=time.monotonic() - 1)
    assert not job.report(1, 9)
    assert job.was_too_long
    assert job.is_stopping


def test_an_error_gives_the_next_its_turn():
    board: JobBoard[int] = JobBoard(num_kept=1, num_at_once=1)
    first = board.start("a", lambda job: 1 // 0, keep=lambda result: True)
    second = board.start("b", lambda job: 7, keep=lambda result: True)
    assert first.wait(5)
    assert second.wait(5)
    assert second.result == 7


def test_kept_results_are_bounded_in_bytes():
    board: JobBoard[bytes] = JobBoard(num_kept=9, budget=Budget(2_500))
    for name in "abc":
        assert board.start(name, lambda job: bytes(1_000), keep=lambda result: True).wait(5)
    assert [board.known(name) is not None for name in "abc"] == [False, True, True]
    assert board.start("large", lambda job: bytes(9_000), keep=lambda result: True).wait(5)
    assert [board.known(name) is not None for name in ("b", "c", "large")] == [False, False, True]


def test_a_page_says_how_many_are_before_it_and_can_be_stopped_in_the_queue():
    board = compute.trainings()
    gates = [Gate(f"before {number}") for number in range(LIMITS.jobs_at_once)]
    jobs = [board.start(gate.name, gate, keep=lambda result: False) for gate in gates]
    try:
        app = page_at("pages/1_Train.py", source="word counts", merges="7").run()
        (bar,) = app.get("progress")
        assert bar.proto.text.startswith(f"Waiting for its turn: {LIMITS.jobs_at_once} pieces of work")
        next(button for button in app.button if button.label.startswith("Stop")).click().run()
        assert not app.exception
        assert any(notice.value.startswith("Stopped. Change something") for notice in app.info)
    finally:
        for gate in gates:
            gate.may_end.set()
    assert all(job.wait(5) for job in jobs)
    next(button for button in app.button if button.label == "Start again").click().run()
    assert head_of(finished(app))["num_merges"] == 7


def page_that_waits() -> None:
    """A page that waits for work behind a short piece of another one's."""
    import time

    from ui import waiting
    from ui.jobs import JobBoard

    board: JobBoard[int] = JobBoard(num_kept=1, num_at_once=1)
    board.start("other", lambda job: time.sleep(0.2) or 0, keep=lambda result: True, is_wanted=lambda: True)
    waiting.awaited("slot", board, "key", lambda job: 1, label=lambda job: "at work")


def test_work_that_is_stopped_in_the_queue_while_the_page_waits_is_said_to_be_stopped(monkeypatch):
    wanted = iter([True, False])  # there when it is asked for, gone when its turn comes
    monkeypatch.setattr(jobs, "_session_is_there", lambda: lambda: next(wanted, False))
    monkeypatch.setattr(frame, "end", lambda: None)
    page = AppTest.from_function(page_that_waits).run(timeout=30)
    assert not page.exception
    assert page.info[0].value.startswith("Stopped. ")
    assert page.button(key="slot-again").label == "Start again"
