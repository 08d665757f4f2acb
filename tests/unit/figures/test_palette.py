from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.figures.palette import correctness_colour, correctness_levels, sample_points


@given(st.integers(0, 60), st.integers(1, 40), st.data())
def test_sampled_points_are_sorted_unique_exactly_many_and_hold_those_asked_for(n: int, most: int, data: st.DataObject) -> None:
    always = data.draw(st.lists(st.integers(0, n - 1))) if n else []
    points = sample_points(n, most, np.random.default_rng(3), always)
    assert points.tolist() == sorted(set(points.tolist()))
    assert len(points) == min(n, most)
    assert not len(points) or (points.min() >= 0 and points.max() < n)
    if len(set(always)) <= most:
        assert set(always) <= set(points.tolist())
    else:
        assert set(points.tolist()) <= set(always)
    assert points.tolist() == sample_points(n, most, np.random.default_rng(3), always).tolist()


def test_sampling_is_uniform_over_the_others() -> None:
    drawn = np.zeros(20)
    for seed in range(2000):
        drawn[sample_points(20, 6, np.random.default_rng(seed), always=[4])] += 1
    assert drawn[4] == 2000
    others = np.delete(drawn, 4) / 2000
    assert abs(others - 5 / 19).max() < 0.05


@given(st.integers(1, 30), st.data())
def test_levels_part_the_rows_in_order_of_correctness(epochs: int, data: st.DataObject) -> None:
    counts = np.array(data.draw(st.lists(st.integers(0, epochs), min_size=1, max_size=60)))
    correctness = counts / epochs
    levels = correctness_levels(correctness)
    assert sorted(np.concatenate([level.rows for level in levels]).tolist()) == list(range(len(counts)))
    assert len(levels) <= 9
    assert len({level.marker for level in levels}) == len({level.symbol for level in levels}) == len(levels)
    for lower, higher in pairwise(levels):
        assert correctness[lower.rows].max() < correctness[higher.rows].min()
    for level in levels:
        if level.value in (0, 1):
            assert set(correctness[level.rows]) == {level.value}
            assert level.symbol == ("circle" if level.value else "x")


def test_levels_are_named_by_epochs_where_they_are_few() -> None:
    assert [level.label for level in correctness_levels(np.arange(7) / 6)] == [f"{count}/6" for count in range(7)]
    assert [level.label for level in correctness_levels(np.array([0.1667, 0.0, 1.0]).round(4))] == ["0/6", "1/6", "6/6"]
    assert [level.label for level in correctness_levels(np.arange(21) / 20)] == [
        "0",
        "0–0.2",
        "0.2–0.4",
        "0.4–0.6",
        "0.6–0.8",
        "0.8–1",
        "1",
    ]


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("page", ["#ffffff", "#16181c"])
def test_every_colour_stands_out_on_a_light_and_on_a_dark_page(page: str) -> None:
    for correctness in np.linspace(0, 1, 25):
        low, high = sorted((luminance(page), luminance(correctness_colour(float(correctness)))))
        assert (high + 0.05) / (low + 0.05) >= 3
