"""Agreement of annotators against a plain count, and regression against numbers with a known answer."""

from __future__ import annotations

import doctest
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.experiments.agreement import binned
from cartograph.maps import human_agreement
from cartograph.maps.correlation import correlation, regression
from cartograph.maps.human_agreement import annotator_agreement


def test_doctests() -> None:
    assert doctest.testmod(human_agreement).failed == 0


def plainly(labels: list[int]) -> float:
    found = []
    for place, label in enumerate(labels):
        others = Counter(labels[:place] + labels[place + 1 :])
        most = [other for other, count in others.items() if count == max(others.values())]
        found.append((label in most) / len(most))
    return sum(found) / len(found)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=7))
def test_agreement_is_each_annotator_against_the_others(labels: list[int]) -> None:
    counts = np.bincount(labels, minlength=3)[None, :]
    assert annotator_agreement(counts)[0] == pytest.approx(plainly(labels))


def test_one_annotator_agrees_with_nobody() -> None:
    assert np.isnan(annotator_agreement(np.array([[1, 0], [0, 0]]))).all()


def test_regression_finds_what_adds() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 2000))
    fit = {term.name: term for term in regression(2 * first + rng.normal(size=2000), {"first": first, "second": second})}
    assert fit["first"].coefficient == pytest.approx(2, abs=0.1)
    assert fit["first"].error == pytest.approx(1 / np.sqrt(2000), rel=0.1)
    assert fit["first"].p < 1e-9
    assert fit["first"].gain == pytest.approx(0.8, abs=0.03)
    assert fit["second"].p > 0.01
    assert fit["second"].gain < 0.005


def test_regression_refuses_what_cannot_be_told_apart() -> None:
    values = np.arange(5.0)
    with pytest.raises(ValueError, match="term 'flat' is constant"):
        regression(values, {"flat": np.ones(5)})
    with pytest.raises(ValueError, match="sum of the other ones"):
        regression(values, {"one": values, "two": 2 * values})


def test_correlation_has_an_interval_around_it() -> None:
    rng = np.random.default_rng(2)
    first = rng.normal(size=500)
    found = correlation(first, first + rng.normal(size=500), rng, resamples=400)
    assert found.low < found.r < found.high
    assert found.r == pytest.approx(np.sqrt(0.5), abs=0.08)
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(500), rel=0.3)


def test_correlation_with_a_constant_is_no_number() -> None:
    found = correlation(np.ones(40), np.arange(40.0), np.random.default_rng(3), resamples=20)
    assert np.isnan([found.r, found.low, found.high]).all()


def test_cells_hold_means_of_enough_rows() -> None:
    x, y = np.array([0.01, 0.02, 0.49]), np.array([0.05, 0.05, 0.95])
    means, counts, x_edges, y_edges = binned(x, y, np.array([1.0, 0.0, 0.7]), bins=2, least=2)
    assert means[0, 0] == 0.5
    assert np.isnan(means[1, 1])
    assert counts.tolist() == [[2, 0], [0, 1]]
    assert (x_edges[-1], y_edges[-1]) == (0.5, 1.0)
