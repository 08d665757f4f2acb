"""Correlation against scipy, and regression against numbers with a known answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr

from cartograph.statistics.correlation import correlation, pearson, regression


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2, max_size=30))
@settings(max_examples=60)
def test_pearson_is_symmetric_and_bounded_and_agrees_with_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = (list(column) for column in zip(*pairs, strict=True))
    value = pearson(first, second)
    if np.isnan(value):
        assert len(set(first)) == 1 or len(set(second)) == 1
        return
    assert -1 <= value <= 1
    assert value == pytest.approx(pearson(second, first), abs=1e-12)
    if np.std(first) > 1e-6 and np.std(second) > 1e-6:
        assert value == pytest.approx(pearsonr(first, second).statistic, abs=1e-6)


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


def test_regression_refuses_terms_that_cannot_be_separated() -> None:
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


def test_correlation_with_a_constant_is_nan() -> None:
    found = correlation(np.ones(40), np.arange(40.0), np.random.default_rng(3), resamples=20)
    assert np.isnan([found.r, found.low, found.high]).all()
