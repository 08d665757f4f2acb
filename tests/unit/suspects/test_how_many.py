"""The interval of how many labels are wrong, by hand; that it holds what was planted is tested with the doubts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from cartograph.statistics.proportion import wilson_interval
from cartograph.suspects.how_many import Between, WrongLabels, between, bounds, missed_class
from cartograph.suspects.label_doubt import label_doubt


def test_the_interval_is_that_of_the_anchors_and_of_the_wider_ones_whichever_is_higher() -> None:
    score = np.full(1000, 0.04)
    low, high = wilson_interval(10, 200)
    found = bounds(score, 30.0, (10.0, 200.0), (30.0, 600.0), 40.0)
    assert (found.expected, found.low, found.scattered) == pytest.approx((40.0, 0.85 * 40 * low / 0.05, 40 * high / 0.05))
    many = bounds(score, 30.0, (10.0, 200.0), (30.0, 600.0), 120.0)
    assert (many.most, many.scattered) == (120.0, found.scattered)
    assert many.low == pytest.approx(found.low - 0.1 * 80), "a tenth of the labels that are not predicted may only be hard"
    assert bounds(score, 30.0, (10.0, 200.0), (30.0, 600.0), 900.0).low == 0
    sure = np.where(np.arange(1000) < 20, 0.9, score)
    assert bounds(sure, 30.0, (10.0, 200.0), (30.0, 600.0), 900.0).low == pytest.approx(9.0), "half of the surely wrong ones stay in"
    wider = bounds(score, 90.0, (10.0, 200.0), (30.0, 600.0), 50.0)
    assert wider.most == wider.high == wider.scattered, "no fewer than by the interval"
    assert wider.scattered == pytest.approx(1.1 * 90 * wilson_interval(30, 600)[1] / 0.05)
    assert bounds(score, 1e6, (10.0, 200.0), (30.0, 600.0), 50.0).high == 1000, "no more than there are"
    # Of no wrong anchor the rate is .002 at the least.
    none = bounds(score, 10.0, (0.0, 200.0), (0.0, 600.0), 50.0)
    assert (none.low, none.scattered) == (0.0, pytest.approx(40 * wilson_interval(0, 200)[1] / 0.002))


def test_a_lower_end_of_next_to_nothing_is_0() -> None:
    anchors, wider = (10.0, 200.0), (30.0, 600.0)
    part = 0.85 * wilson_interval(10, 200)[0] / 0.05
    for score, low in ((0.0064, 0.0), (0.0066, part * 6.6)):
        assert bounds(np.full(1000, score), 0.0, anchors, wider, 0.0).low == pytest.approx(low), "fewer than three"
    for unpredicted, low in ((460.0, part * 100.0 - 36.0), (470.0, 0.0)):
        assert bounds(np.full(1000, 0.1), 0.0, anchors, wider, unpredicted).low == pytest.approx(low), "less than a tenth of it"


def test_the_upper_end_allows_for_errors_on_hard_rows_unless_a_row_may_have_several_labels() -> None:
    score, rest = np.full(1000, 0.04), (30.0, (10.0, 200.0), (30.0, 600.0))
    found = bounds(score, *rest, 200.0)
    assert found.high == pytest.approx(40.0 + 0.7 * 160.0) and found.scattered < 100.0
    assert bounds(score, *rest, 600.0).high == 250.0, "no more than a quarter of the rows"
    apart = bounds(score, *rest, 200.0, gather=False)
    assert apart.high == apart.scattered == found.scattered
    ends = between(found, score, fits=True)
    assert ends is not None and (ends.high, ends.scattered) == pytest.approx((0.7 * 200.0, found.scattered)), "no estimate to start from"
    alone = between(apart, score, fits=True)
    assert alone is not None and alone.high == alone.scattered == found.scattered


def test_the_interval_holds_errors_that_gather_on_hard_rows_which_look_right() -> None:
    """Of a class's hard rows many have the label of the other class: models learn what these look like together."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        odds = rng.normal(0.0, 4.0, 2000)
        true = (rng.random(2000) < expit(odds)).astype(np.int64)
        hard = np.exp(-np.abs(odds))
        wrong = rng.choice(2000, 200, replace=False, p=hard / hard.sum())
        given = true.copy()
        given[wrong] = 1 - true[wrong]
        shares = np.stack([expit(-odds), expit(odds)], axis=1)
        doubt = label_doubt(shares, given)
        ends = doubt.wrong or doubt.between
        assert ends is not None and ends.low <= 200 <= ends.high < ends.most, seed
        assert ends.scattered < 200, "as it was without"


def test_where_the_surest_rows_contradict_less_than_others_the_others_may_be_hard() -> None:
    score = np.concatenate([np.full(100, 0.9), np.zeros(900)])
    plain = bounds(score, 90.0, (40.0, 200.0), (120.0, 600.0), 100.0)
    hard = bounds(score, 90.0, (40.0, 200.0), (120.0, 600.0), 100.0, (0.0, 50.0))
    assert hard.low == 0.0 and (hard.expected, hard.scattered, hard.most) == (plain.expected, plain.scattered, plain.most)
    assert bounds(score, 90.0, (40.0, 200.0), (120.0, 600.0), 100.0, (49.0, 50.0)).low == plain.low, "never above that of all"


def test_one_rare_class_may_have_been_missed_as_often_as_its_few_surest_rows_allow() -> None:
    right, anchors, sizes = np.array([900.0, 3.0]), np.array([910.0, 3.0]), np.array([950, 50])
    most = wilson_interval(0, 3)[1]
    assert missed_class(right, anchors, sizes) == pytest.approx(50 * most / (1 - most))
    assert missed_class(right, np.array([910.0, 300.0]), np.array([950, 50])) == pytest.approx(150.0), "three of four at the most"
    assert missed_class(np.array([900.0, 0.0]), np.array([910.0, 0.0]), sizes) == pytest.approx(150.0), "nobody is taken for it"
    assert missed_class(right, anchors, np.array([1000, 0])) == 0.0 and missed_class(right[:1], anchors[:1], sizes[:1]) > 0
    score = np.full(1000, 0.01)
    plain, missed = (bounds(score, 10.0, (2.0, 200.0), (6.0, 600.0), 80.0, None, number) for number in (0.0, 64.0))
    assert plain.scattered < missed.scattered == 64.0
    assert (plain.expected, plain.low, plain.most) == (missed.expected, missed.low, missed.most)
    assert bounds(score, 10.0, (2.0, 200.0), (6.0, 600.0), 80.0, None, 200.0).scattered == 80.0, "not beyond what is not predicted"


def test_half_of_a_rare_class_labelled_as_the_other_is_in_the_interval() -> None:
    rng = np.random.default_rng(1)
    true = rng.random(3000) < 0.02
    given = (true & (rng.random(3000) < 0.5)).astype(np.int64)
    odds = np.where(true, rng.normal(-0.2, 2.0, 3000), rng.normal(-7.7, 1.0, 3000))
    shares = np.stack([expit(-odds), expit(odds)], axis=1)
    doubt = label_doubt(shares, given)
    ends = doubt.wrong or doubt.between
    assert ends is not None and ends.low <= np.count_nonzero(true != given) <= ends.scattered


def test_where_no_number_can_be_given_the_least_is_by_what_looks_surely_wrong_beyond_what_hard_rows_do() -> None:
    number = WrongLabels(210.0, 95.0, 340.0, 340.0, 430.0)
    few, many = (np.where(np.arange(1000) < sure, 0.9, 0.1) for sure in (40, 100))
    assert between(number, few, fits=True) == Between(0.0, 340.0, 340.0, 430.0), "half of 36 is below a fiftieth of the rows"
    assert between(number, many, fits=True) == pytest.approx((45.0 - 20.0, 340.0, 340.0, 430.0))
    assert between(number, many, fits=False) == Between(0.0, 340.0, 340.0, 430.0), "labels that do not go wrong so prove nothing"
    assert between(WrongLabels(0.1, 0.0, 0.2, 0.2, 0.3), few, fits=True) == Between(0.0, 1.0, 1.0, 1.0), "one may always be wrong"
    assert between(WrongLabels(20.0, 3.0, 40.0, 40.0, 50.0), many, fits=True) == Between(3.0, 40.0, 40.0, 50.0), (
        "never above the number's own"
    )
    assert between(number, many[:679], fits=True) is None, "more than half says nothing"
