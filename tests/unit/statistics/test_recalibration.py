"""How probabilities are to be read after people looked at some labels, and how many of the others are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from cartograph.statistics.recalibration import Estimate, no_surer, recalibrate


def drawn(rng: np.random.Generator, offset: float, slope: float, rows: int = 3000) -> tuple[np.ndarray, np.ndarray, Estimate]:
    """Return probabilities, which labels are wrong where they are to be read so, and the number before anyone looked."""
    said = rng.beta(0.12, 1.6, rows)
    wrong = rng.random(rows) < expit(offset + slope * logit(np.clip(said, 1e-9, 1 - 1e-9)))
    order = np.argsort(-said, kind="stable")
    expected = float(said.sum())
    return said[order], wrong[order], Estimate(expected, 0.6 * expected, 1.5 * expected, max(2.0 * expected, 1.5 * float(wrong.sum())))


@pytest.mark.parametrize(("offset", "slope"), [(0.0, 1.0), (0.8, 0.8), (-1.5, 1.0), (-4.0, 0.7), (1.2, 1.0)])
@pytest.mark.parametrize("looked", [30, 100])
def test_the_interval_holds_how_many_of_the_others_are_wrong(offset: float, slope: float, looked: int) -> None:
    held, nearer = 0, 0
    for seed in range(20):
        said, wrong, before = drawn(np.random.default_rng(seed), offset, slope)
        middle, low, high = recalibrate(said[:looked], wrong[:looked]).number(said[looked:], before, int(wrong[:looked].sum()))
        left = int(wrong[looked:].sum())
        assert 0 <= low <= middle <= high <= min(len(said) - looked, before.most)
        held += low - 0.5 <= left <= high + 0.5
        nearer += abs(middle - left) <= abs(said[looked:].sum() - left)
    assert held >= 17, f"{held} of 20 hold it"
    assert nearer >= 14 or offset == 0.0, f"{nearer} of 20 are nearer than before anyone looked"


def test_before_much_was_looked_at_the_probabilities_stay_as_they_are() -> None:
    said = np.linspace(0.01, 0.99, 99)
    one = recalibrate(np.array([0.9]), np.array([True])).probability(said)
    np.testing.assert_allclose(one, said, atol=0.03)


def test_what_people_find_right_is_not_changed_without_them() -> None:
    said = np.concatenate([np.full(30, 0.95), np.full(70, 0.9), np.full(400, 0.02)])
    rows = np.arange(30)
    np.testing.assert_array_equal(no_surer(said, np.array([], dtype=int), np.array([], dtype=bool)), said)
    np.testing.assert_array_equal(no_surer(said, rows, np.ones(30, bool))[:100], said[:100])
    assert no_surer(said, rows, np.zeros(30, bool)).max() < 0.2
    half = no_surer(said, rows, rows % 2 == 0)
    assert 0.2 < half[30] < 0.6 and half[30] < half[0] < 0.7
    assert (half <= said).all()


def test_no_more_are_wrong_than_the_models_contradict_or_are_left() -> None:
    said = np.concatenate([np.full(40, 0.3), np.full(1000, 0.2)])
    before = Estimate(212.0, 150.0, 300.0, 320.0)
    every = recalibrate(said[:40], np.ones(40, bool))
    middle, low, high = every.number(said[40:], before, 40)
    assert 150 < low <= middle <= high <= 280
    assert every.number(said[:0], before, 40) == (0.0, 0.0, 0.0)
    assert every.number(said[40:43], before, 40)[2] <= 3.0


def test_where_nearly_all_that_is_believed_lies_above_the_most_that_can_be_wrong_an_interval_is_left() -> None:
    rng = np.random.default_rng(6)
    said = np.sort(rng.beta(0.3, 60.0, 2500))[::-1]
    before = Estimate(3.0, 0.1, 42.0, 300.0)
    middle, low, high = recalibrate(said[:50], np.arange(50) > 0).number(said[50:], before, 49)
    assert 0 < low < 0.8 * high and low < middle < high <= 251


def test_where_all_that_is_believed_lies_above_it_what_was_estimated_before_is_the_lower_end() -> None:
    found = recalibrate(np.full(44, 0.1), np.ones(44, bool)).number(np.full(2500, 0.03), Estimate(61.0, 52.0, 72.0, 107.0), 44)
    assert found == (63.0, 17.0, 63.0)


def test_the_same_decisions_give_the_same_number() -> None:
    said, wrong, before = drawn(np.random.default_rng(3), 0.0, 1.0)
    first = recalibrate(said[:50], wrong[:50]).number(said[50:], before, 9)
    shuffled = np.random.default_rng(4).permutation(50)
    assert recalibrate(said[:50][shuffled], wrong[:50][shuffled]).number(said[50:], before, 9) == pytest.approx(first, rel=1e-9)


def test_where_people_find_more_than_models_contradict_that_bound_is_no_bound() -> None:
    rng = np.random.default_rng(5)
    said = np.sort(rng.beta(0.5, 20.0, 2000))[::-1]
    blind = Estimate(float(said.sum()) / 10, 0.0, 5.0, 8.0)
    found = recalibrate(said[:60], np.arange(60) % 6 > 0)
    middle, low, high = found.number(said[60:], blind, 50)
    assert found.probability(said[60:61])[0] > 0.5
    assert 100 < low < middle < high <= 1940
