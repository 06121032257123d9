"""Charts are data: the figures hold the numbers they were given."""

from __future__ import annotations

import numpy as np

from ui.charts import contest_chart, training_curve


def test_a_long_curve_is_thinned_but_keeps_ends_and_step():
    num_tokens = np.arange(50_001, 0, -1)
    figure = training_curve(num_tokens, num_bytes=100_000, step=31_337)
    steps = np.array(figure.data[0].x)
    assert len(steps) < 2_100
    assert {0, 31_337, 50_000} <= set(steps.tolist())
    assert (np.array(figure.data[0].y) == num_tokens[steps]).all()
    assert (figure.data[1].x[0], figure.data[1].y[0]) == (31_337, num_tokens[31_337])


def test_a_training_without_merges_still_has_a_curve():
    figure = training_curve(np.array([5]), num_bytes=5, step=0)
    assert list(figure.data[0].x) == [0]


def test_tied_pairs_share_the_accent_and_small_counts_have_whole_ticks():
    figure = contest_chart(["a + b", "b + c", "c + d"], [3, 3, 1], num_tied=2)
    colours = figure.data[0].marker.color
    assert colours[0] == colours[1] != colours[2]
    assert list(figure.data[0].x) == [3, 3, 1]
    assert figure.layout.xaxis.dtick == 1
