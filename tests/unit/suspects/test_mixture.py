"""The mixture of scores against a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from cartograph.suspects.mixture import fit_mixture


@pytest.mark.parametrize(("rows", "signal"), [(300, 2.0), (300, 3.0)])
def test_the_mixture_is_the_most_likely_one(rows: int, signal: float) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, rows)
    good = np.eye(3)[labels] * signal + rng.normal(0, 1.5, (rows, 3))
    scores = np.stack([good, rng.normal(0, 1, (rows, 3))]).astype(np.float32)
    scores -= scores.mean(axis=2, keepdims=True)

    def loss(parameters: np.ndarray) -> float:
        logits = np.einsum("mnc,m->nc", scores, parameters[:2]) + parameters[2:]
        fit = (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(rows), labels]).sum()
        return float(fit + 5.0 * ((parameters[:2] - 0.5) ** 2).sum() + 0.5e-3 * (parameters[2:] ** 2).sum())

    mixture = fit_mixture(scores, labels)
    best = minimize(loss, np.zeros(5), tol=1e-10, bounds=[(0.0, None)] * 2 + [(None, None)] * 3)
    assert loss(np.concatenate([mixture.weights, mixture.biases])) == pytest.approx(best.fun, abs=1e-3)
    np.testing.assert_allclose(mixture.weights, best.x[:2], atol=1e-2)
    if signal > 1:
        assert mixture.weights[0] > 0.5 > abs(mixture.weights[1])


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("scale", [0.2, 1.0, 30.0])
def test_the_mixture_is_the_most_likely_one_of_any_scores_with_biases_or_without(biased: bool, scale: float) -> None:
    """Unlike shares of the classes, three models, and scores so large that a whole Newton step overshoots."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    labels = rng.choice(3, 150, p=[0.7, 0.2, 0.1])
    scores = (scale * (np.eye(3)[labels] + rng.normal(0, 1.2, (3, 150, 3)))).astype(np.float32)
    scores -= scores.mean(axis=2, keepdims=True)

    def loss(parameters: np.ndarray) -> float:
        logits = np.einsum("mnc,m->nc", scores.astype(np.float64), parameters[:3]) + (parameters[3:] if biased else 0.0)
        held = 10.0 * ((parameters[:3] - 1 / 3) ** 2).sum() + 1e-3 * (parameters[3:] ** 2).sum()
        return float((logsumexp(logits, axis=1) - logits[np.arange(150), labels]).sum() + held / 2)

    mixture = fit_mixture(scores, labels, biased=biased)
    best = minimize(loss, np.append(np.full(3, 0.1 / scale), np.zeros(3)), tol=1e-10)
    assert loss(np.concatenate([mixture.weights, mixture.biases])) == pytest.approx(best.fun, abs=1e-3)
    np.testing.assert_allclose(mixture.weights, best.x[:3], atol=1e-2)
    np.testing.assert_allclose(mixture.biases, best.x[3:], atol=2e-2)
    assert mixture.biases.any() == biased


def test_no_weight_is_negative_so_that_the_difference_of_two_models_does_not_predict_the_errors() -> None:
    rng = np.random.default_rng(8)
    true = rng.integers(0, 2, 600)
    wrong = rng.random(600) < 0.15
    labels = np.where(wrong, 1 - true, true)
    # Both know the true class; one of them is a little less sure where the label is wrong.
    known = np.where(np.eye(2)[true] > 0, 2.0, -2.0) + rng.normal(0, 0.1, (600, 2))
    other = known * np.where(wrong, 0.7, 1.0)[:, None] + rng.normal(0, 0.1, (600, 2))
    scores = np.stack([known, other]).astype(np.float32)
    scores -= scores.mean(axis=2, keepdims=True)
    mixture = fit_mixture(scores, labels)
    assert mixture.weights.min() == 0.0 < mixture.weights.max()
    given = mixture.probabilities(scores)[np.arange(600), labels]
    assert given[wrong].max() < 0.5 < np.median(given[~wrong])
