from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.statistics.proportion import f1_interval, least_share, wilson_interval

counts = st.integers(1, 10**6).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows)))


@pytest.mark.parametrize(
    ("number", "rows", "low", "high"), [(0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0), (830, 1000, 0.805, 0.852)]
)
def test_intervals_are_as_published(number: int, rows: int, low: float, high: float) -> None:
    assert wilson_interval(number, rows) == pytest.approx((low, high), abs=6e-4)


@given(counts)
def test_the_interval_is_by_wilsons_formula(drawn: tuple[int, int]) -> None:
    number, rows = drawn
    share, square = number / rows, 1.959963984540054**2
    middle = (share + square / (2 * rows)) / (1 + square / rows)
    half = math.sqrt(square * (share * (1 - share) / rows + square / (4 * rows**2))) / (1 + square / rows)
    assert wilson_interval(number, rows) == pytest.approx((max(middle - half, 0), min(middle + half, 1)), abs=1e-9)


def test_the_interval_ends_at_0_without_a_success_and_at_1_without_a_failure() -> None:
    assert wilson_interval(0, 10)[0] == 0
    assert wilson_interval(10, 10)[1] == 1
    with pytest.raises(ValueError, match="there are no rows"):
        wilson_interval(0, 0)


def test_the_interval_of_f1_holds_the_truth_as_often_as_it_says() -> None:
    """60 positives of which 85 % are found, and 60 negatives of which 5 % are flagged: of 2,000 intervals about 5 % miss the F1."""
    rng = np.random.default_rng(0)
    found, wrong = rng.binomial(60, 0.85, 2000), rng.binomial(60, 0.05, 2000)
    ends = np.array([f1_interval(2 * hits / (60 + hits + false), 60) for hits, false in zip(found, wrong, strict=True)])
    truth = 2 * 51 / (60 + 51 + 3)
    assert 0.03 < np.mean((ends[:, 0] > truth) | (ends[:, 1] < truth)) < 0.07
    assert f1_interval(1.0, 60)[1] == 1 and f1_interval(0.0, 60)[0] == 0
    with pytest.raises(ValueError, match="there are no positives"):
        f1_interval(0.5, 0)


def test_the_interval_of_f1_is_wilsons_of_the_share_that_f1_rises_with() -> None:
    ends = [end / (2 - end) for end in f1_interval(2 * 0.5 / 1.5, 60)]
    assert ends == pytest.approx(wilson_interval(30, 60), abs=1e-12)


def test_the_least_share_is_where_so_many_are_still_one_in_twenty_likely() -> None:
    least = least_share(2, 20)
    assert 1 - (1 - least) ** 20 - 20 * least * (1 - least) ** 19 == pytest.approx(0.05)
    assert least_share(0, 20) == 0


def test_the_interval_of_an_f1_needs_a_positive() -> None:
    low, high = f1_interval(1.0, 1)
    assert 0 < low < 0.4 and high == pytest.approx(1)
    with pytest.raises(ValueError, match="no positives"):
        f1_interval(1.0, 0)


def test_an_interval_of_one_row_is_one() -> None:
    assert wilson_interval(1, 1) == pytest.approx((0.206549, 1.0), abs=1e-6)
    assert wilson_interval(0, 1) == pytest.approx((0.0, 0.793451), abs=1e-6)


@pytest.mark.parametrize(("hits", "rows"), [(17, 20), (1, 20), (3, 7), (500, 900)])
def test_the_interval_of_an_f1_is_wilsons_of_the_hits_among_all_that_are_positive_or_flagged(hits: int, rows: int) -> None:
    low, high = wilson_interval(hits, rows)
    assert f1_interval(2 * hits / (rows + hits), rows) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), abs=1e-6)


def test_the_level_of_a_least_share_is_95_percent_unless_another_is_asked_for() -> None:
    assert least_share(20, 20) == pytest.approx(0.05 ** (1 / 20)) == least_share(20, 20, 0.95)
    assert least_share(20, 20, 0.8) == pytest.approx(0.2 ** (1 / 20))
