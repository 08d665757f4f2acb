"""The mixture of scores against a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.mixture import fit_mixture


@pytest.mark.parametrize(("rows", "signal"), [(300, 2.0), (100, 0.0)])
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
    best = minimize(loss, np.zeros(5), tol=1e-10)
    assert loss(np.concatenate([mixture.weights, mixture.biases])) == pytest.approx(best.fun, abs=1e-3)
    np.testing.assert_allclose(mixture.weights, best.x[:2], atol=1e-2)
    if signal:
        assert mixture.weights[0] > 0.5 > abs(mixture.weights[1])
