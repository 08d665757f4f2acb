"""Probabilities of the true classes, fitted through the noise of the labels."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.suspects.through_noise import _moved, sharpen


def even_noise(n_classes: int, wrong: float) -> Floats:
    even = np.full((n_classes, n_classes), wrong / (n_classes - 1))
    np.fill_diagonal(even, 1 - wrong)
    return even


def drawn(q: Floats, transition: Floats, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Return true classes drawn from q, and labels that follow from them."""
    truth = (rng.random((len(q), 1)) > q.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return truth, (rng.random((len(q), 1)) > transition[truth].cumsum(axis=1)[:, :-1]).sum(axis=1)


def softmax(scores: Floats) -> Floats:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def held_likelihood(slope: float, biases: Floats, logs: Floats, labels: Integers, transition: Floats) -> float:
    """The objective as the documentation of the fit states it, written once more."""
    given = softmax(slope * logs + biases) @ transition
    own = given[np.arange(len(labels)), labels]
    return float(np.log(own).sum() - 0.05 * np.log(slope) ** 2 - 0.5 * (biases**2).sum())


@pytest.mark.parametrize(("n_classes", "wrong"), [(2, 0.05), (2, 0.2), (4, 0.1), (7, 0.2)])
def test_probabilities_that_noise_flattened_become_those_of_the_true_classes(n_classes: int, wrong: float) -> None:
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(0, 1.5, (6000, n_classes))
    true, transition = softmax(3.0 * scores), even_noise(n_classes, wrong)
    _, labels = drawn(true, transition, rng)
    fitted = sharpen(softmax(scores), labels, transition)
    assert fitted.slope == pytest.approx(3.0, rel=0.1)
    assert np.abs(fitted.probabilities(softmax(scores)) - true).mean() < 0.01


def test_without_noise_calibrated_probabilities_stay_as_they_are() -> None:
    rng = np.random.default_rng(1)
    shares = softmax(rng.normal(0, 1, (6000, 3)))
    _, labels = drawn(shares, np.eye(3), rng)
    fitted = sharpen(shares, labels, np.eye(3))
    assert fitted.slope == pytest.approx(1.0, abs=0.1) and np.abs(fitted.biases).max() < 0.1


def test_the_fit_is_where_the_objective_is_highest() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    scores, transition = rng.normal(0, 1, (400, 3)), np.array([[0.7, 0.2, 0.1], [0.0, 0.95, 0.05], [0.1, 0.1, 0.8]])
    _, labels = drawn(softmax(2 * scores + np.array([0.5, 0.0, -0.5])), transition, rng)
    fitted = sharpen(softmax(scores), labels, transition)
    logs = np.log(softmax(scores))
    logs -= logs.mean(axis=1, keepdims=True)
    best = minimize(lambda x: -held_likelihood(np.exp(x[0]), x[1:], logs, labels, transition), np.zeros(4), method="BFGS")
    assert held_likelihood(fitted.slope, fitted.biases, logs, labels, transition) == pytest.approx(-best.fun, abs=0.01)


def test_a_sample_of_many_rows_gives_nearly_the_fit_of_all() -> None:
    rng = np.random.default_rng(9)
    scores, transition = rng.normal(0, 1.5, (60_000, 2)), even_noise(2, 0.1)
    _, labels = drawn(softmax(2.0 * scores), transition, rng)
    assert sharpen(softmax(scores), labels, transition).slope == pytest.approx(2.0, rel=0.1)


def test_of_many_classes_only_the_slope_is_fitted() -> None:
    rng = np.random.default_rng(2)
    scores, transition = rng.normal(0, 2, (3000, 250)), even_noise(250, 0.1)
    _, labels = drawn(softmax(2.0 * scores), transition, rng)
    fitted = sharpen(softmax(scores), labels, transition)
    assert fitted.slope == pytest.approx(2.0, rel=0.1) and not fitted.biases.any()


def test_a_step_never_turns_the_slope_round() -> None:
    assert _moved(2.0, 0.5) == 1.5
    assert (_moved(2.0, 9.0), _moved(2.0, -9.0)) == (1.0, 3.0)


@pytest.mark.parametrize("steep", [0.3, 1.0, 4.0])
def test_of_few_rows_the_fit_is_where_the_objective_with_what_holds_it_is_highest(steep: float) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(8)
    scores, transition = rng.normal(0, 1, (25, 3)), np.array([[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.0, 0.2, 0.8]])
    _, labels = drawn(softmax(steep * scores + np.array([1.0, 0.0, -1.0])), transition, rng)
    fitted = sharpen(softmax(scores), labels, transition)
    logs = np.log(softmax(scores))
    logs -= logs.mean(axis=1, keepdims=True)
    best = minimize(lambda x: -held_likelihood(np.exp(x[0]), x[1:], logs, labels, transition), np.zeros(4), method="BFGS")
    assert fitted.slope == pytest.approx(np.exp(best.x[0]), rel=0.02)
    np.testing.assert_allclose(fitted.biases, best.x[1:], atol=0.02)
