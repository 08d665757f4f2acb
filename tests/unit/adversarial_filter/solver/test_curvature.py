"""The shared curvature against its definition, in float32 and in bfloat16."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cartograph.adversarial_filter.solver.curvature import _inverse, preconditioner, sampled
from cartograph.adversarial_filter.solver.problem import problem
from tests.vectors import correlated


def dense_curvature(features: np.ndarray, weights: np.ndarray, smooth: float) -> np.ndarray:
    """The Hessian of the mean loss and its penalty, a block for each column of weights, from the definition."""
    augmented = np.column_stack([features, np.ones(len(features))]).astype(np.float64)
    scores = augmented @ weights
    if weights.shape[1] == 1:
        shares, more = 1 / (1 + np.exp(-scores)), 1.0
    else:
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        more = weights.shape[1] / (weights.shape[1] - 1)
    penalty = np.diag([smooth] * features.shape[1] + [0.0])
    return np.stack([more * (augmented.T * (p * (1 - p))) @ augmented / len(features) + penalty for p in shares.T])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("size", [0.0, 0.5])
def test_the_preconditioner_is_the_inverse_of_the_pooled_curvature(classes: int, size: float) -> None:
    features, labels = correlated(500, 6, classes)
    given = problem(features, np.arange(500), labels, classes, "cpu", keep_bytes=2**30)
    rng = np.random.default_rng(1)
    weights = size * rng.normal(size=(7, given.columns))
    hessians = dense_curvature(features, weights, 0.05)
    gradient = rng.normal(size=(4, 7, given.columns))
    expected = np.stack([np.linalg.solve(hessian, gradient[:, :, place].T).T for place, hessian in enumerate(hessians)], axis=2)
    precondition = preconditioner(given, torch.from_numpy(weights).float(), 0.05, None, 0.0, rng)
    found = precondition(torch.from_numpy(gradient.reshape(4, -1)).float()).numpy().reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-3 * np.abs(expected).max())


def test_a_matrix_is_inverted_and_one_without_an_inverse_gets_one_that_is_finite() -> None:
    rng = np.random.default_rng(2)
    root = rng.normal(size=(5, 9)) * np.array([1e3, 1.0, 1.0, 1e-3, 1.0])[:, None]
    whole = torch.from_numpy(root @ root.T)
    size = whole.diagonal().sqrt()
    even = (_inverse(whole, 0.0) * size * size[:, None]) @ (whole / size / size[:, None])
    torch.testing.assert_close(even, torch.eye(5, dtype=torch.float64), rtol=0, atol=1e-4)
    # Six rows that span four dimensions, rounded to float32: its least eigenvalue may be a hair below zero.
    narrow = rng.normal(size=(6, 4)).astype(np.float32)
    inverse = _inverse(torch.from_numpy(narrow @ narrow.T), 0.0)
    assert torch.isfinite(inverse).all()
    assert torch.linalg.eigvalsh(inverse.double()).min() > 0


@pytest.mark.parametrize("kept", [False, True])
def test_the_curvature_of_rows_in_bfloat16_is_that_of_the_rows(kept: bool) -> None:
    features, labels = correlated(500, 6, 3)
    given = problem(features + np.float32(3.0), np.arange(500), labels, 3, "cpu", keep_bytes=2**30)
    about = torch.from_numpy(features.mean(axis=0) + np.float32(3.0))
    gradient, weights = torch.randn(4, 21, generator=torch.Generator().manual_seed(3)), torch.full((7, 3), 0.2)
    halved = given.take_halved(np.arange(500), about) if kept else None
    exact = preconditioner(given, weights, 0.05, None, 0.0, np.random.default_rng(1))(gradient)
    near = preconditioner(given, weights, 0.05, about, 0.0, np.random.default_rng(1), halved)(gradient)
    assert (near - exact).abs().max() < 0.05 * exact.abs().max()


def test_a_sample_is_of_distinct_rows_in_their_order_and_all_of_few() -> None:
    rng = np.random.default_rng(0)
    assert sampled(5, 5, rng).tolist() == list(range(5))
    sample = sampled(100, 30, rng)
    assert len(sample) == 30 and (np.diff(sample) > 0).all() and sample.min() >= 0 and sample.max() < 100
