"""What more labels would bring: covered by its interval where the curve is as assumed, not given where it is flat or short."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.more_labels import AN_HOUR, forecast

LABELS = np.array([200.0, 300.0, 450.0, 675.0, 1012.0])


def curve(slope: float, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Average precision after each round of a training with noise, and on draws of the utterances, together and apart."""
    rng = np.random.default_rng(seed)
    values = 0.2 + slope * np.log(LABELS / 100) + noise * rng.normal(size=5)
    return values, values + 0.02 * rng.normal(size=(200, 1)) + 0.005 * rng.normal(size=(200, 5))


def test_the_interval_covers_what_a_logarithmic_curve_gains() -> None:
    truth, covered, shown = 0.1 * np.log(1 + AN_HOUR / LABELS[-1]), 0, 0
    for seed in range(200):
        found = forecast(LABELS, *curve(0.1, 0.01, seed), AN_HOUR, np.random.default_rng(seed))
        if not found.why_not:
            shown += 1
            covered += found.low <= truth <= found.high
            assert found.low <= found.gain <= found.high
    assert shown > 180
    assert covered >= 0.93 * shown


def test_of_a_flat_curve_nothing_is_told() -> None:
    found = [forecast(LABELS, *curve(0.0, 0.02, seed), AN_HOUR, np.random.default_rng(seed)) for seed in range(200)]
    assert sum(not one.why_not for one in found) <= 0.05 * len(found)
    said = [one.why_not for one in found if one.why_not]
    assert said.count("from round to round the curve rises by no more than its own noise") > 0.9 * len(said)


def test_a_curve_that_rises_ever_faster_is_not_called_noise() -> None:
    values = np.array([0.08, 0.09, 0.11, 0.20, 0.78])
    found = forecast(LABELS, values, np.tile(values, (200, 1)) + 0.01, AN_HOUR, np.random.default_rng(0))
    assert (found.gain, found.why_not) == (0.0, "the curve rises with every round, but not evenly enough to be continued")


@pytest.mark.parametrize(
    ("rounds", "more", "why"),
    [
        (3, 180, "a curve of 3 rounds says nothing about the next labels; it takes 4"),
        (5, 1013, "that would more than double the 1,012 labels that there are"),
    ],
)
def test_what_a_curve_does_not_carry_is_said(rounds: int, more: int, why: str) -> None:
    values, draws = curve(0.1, 0.01, 0)
    found = forecast(LABELS[:rounds], values[:rounds], draws[:, :rounds], more, np.random.default_rng(0))
    assert (found.why_not, found.gain, found.more) == (why, 0.0, more)


def test_no_more_is_promised_than_there_is_to_gain() -> None:
    values = 0.2 + 0.33 * np.log(LABELS / 100)
    found = forecast(LABELS, values, np.tile(values, (50, 1)), 1000, np.random.default_rng(0))
    assert found.why_not == ""
    assert found.high == pytest.approx(1 - values[-1])
    assert found.gain <= found.high


def test_draws_without_a_positive_pair_do_not_count() -> None:
    values, draws = curve(0.1, 0.01, 0)
    holes = np.vstack([draws, np.full((5, 5), np.nan)])
    assert forecast(LABELS, values, holes, 180, np.random.default_rng(0)).why_not == ""
