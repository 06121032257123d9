"""Results of every kind share one number of bytes; what was used least recently goes first."""

from __future__ import annotations

import functools
import sys
import threading

import pytest

from bpe import TrainSettings, train
from bpe.samples import load_sample
from ui.kept import BUDGET, Budget, Keeper, estimated_bytes, kept
from ui.limits import LIMITS


def test_the_server_keeps_what_its_limit_says():
    assert BUDGET.most_bytes == LIMITS.cache_mb * 10**6


def test_all_kinds_share_the_budget_and_the_oldest_goes_first_whatever_its_kind():
    budget = Budget(2_500)
    texts: Keeper[bytes] = Keeper(9, budget)
    charts: Keeper[bytes] = Keeper(9, budget)
    texts.put("a", bytes(1_000))
    charts.put("a", bytes(1_000))
    assert texts.get("a") is not None  # used again, so the chart is the older one
    charts.put("b", bytes(1_000))
    assert [texts.get("a") is None, charts.get("a") is None, charts.get("b") is None] == [False, True, False]
    assert budget.num_bytes <= budget.most_bytes


def test_a_keeper_is_bounded_in_number_too():
    keeper: Keeper[int] = Keeper(2, Budget(10**6))
    for number in range(3):
        keeper.put(number, number + 1)
    assert [keeper.get(number) for number in range(3)] == [None, 2, 3]


def test_what_was_dropped_no_longer_counts_among_its_kind():
    budget = Budget(2_500)
    few: Keeper[bytes] = Keeper(2, budget)
    others: Keeper[bytes] = Keeper(9, budget)
    for number in range(2):
        few.put(number, bytes(1_000))
    others.put("a", bytes(1_000))  # the budget drops the first of the few
    few.put("small", bytes(10))
    assert [few.get(1) is None, few.get("small") is None] == [False, False]
    few.clear()
    for number in range(5):
        few.put(number, bytes(10))
    assert [few.get(number) is not None for number in range(5)] == [False, False, False, True, True]


def test_texts_count_as_wide_as_they_are_and_within_what_waits_to_be_called():
    for text in ("x" * 10_000, "ж" * 10_000, "👍" * 10_000):
        assert sys.getsizeof(text) <= estimated_bytes(text) <= sys.getsizeof(text) + 100
        assert estimated_bytes(functools.partial(str.split, text)) >= sys.getsizeof(text)


def test_what_alone_is_too_large_is_kept_alone():
    budget = Budget(1_500)
    keeper: Keeper[bytes] = Keeper(9, budget)
    keeper.put("small", bytes(1_000))
    keeper.put("large", bytes(9_000))
    assert keeper.get("small") is None
    assert keeper.get("large") == bytes(9_000)
    keeper.put("next", bytes(10))
    assert keeper.get("large") is None


def test_put_twice_counts_once():
    budget = Budget(10**6)
    keeper: Keeper[bytes] = Keeper(9, budget)
    keeper.put("a", bytes(1_000))
    size = budget.num_bytes
    keeper.put("a", bytes(1_000))
    assert budget.num_bytes == size
    keeper.clear()
    assert budget.num_bytes == 0


def test_arguments_with_an_underscore_and_long_texts_are_not_in_the_key():
    calls = []

    @kept(num_kept=9, budget=Budget(10**6))
    def length(text: str, times: int = 1, _unhashable: list[int] | None = None) -> int:
        calls.append(text)
        return len(text) * times

    long = "secret " * 100
    assert [length(long), length(long, _unhashable=[1]), length(text=long, times=1), length(long, 2)] == [700] * 3 + [
        1_400
    ]
    assert len(calls) == 2
    assert length("secret " * 99) == 693


def test_whoever_asks_for_the_same_at_the_same_time_waits_for_it():
    began, may_end = threading.Event(), threading.Event()
    calls = []

    @kept(num_kept=9, budget=Budget(10**6))
    def slow(key: str) -> str:
        calls.append(key)
        began.set()
        assert may_end.wait(5)
        return key

    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(slow("a"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert began.wait(5)
    may_end.set()
    for thread in threads:
        thread.join(5)
    assert (results, calls) == (["a"] * 5, ["a"])


def test_errors_are_not_kept():
    calls = []

    @kept(num_kept=9, budget=Budget(10**6))
    def fails(key: str) -> str:
        calls.append(key)
        raise ValueError(key)

    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            fails("a")
    assert len(calls) == 2


def test_sizes_are_estimated_through_objects_tables_and_circles():
    training = train(load_sample("udhr-eng"), TrainSettings(num_merges=200))
    assert estimated_bytes(training) > training.num_tokens.nbytes + sum(map(len, training.pre_tokens))
    circle: list[object] = [b"x" * 1000]
    circle.append(circle)
    assert 1_000 < estimated_bytes(circle) < 2_000
    numbers = list(range(100_000))
    assert 1_000_000 < estimated_bytes(numbers) < 20_000_000
