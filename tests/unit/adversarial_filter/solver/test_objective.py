"""Losses, and their gradients by all partitions together as by each alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cartograph.adversarial_filter.solver.halves import nearest_halves
from cartograph.adversarial_filter.solver.objective import _loss, gathered, masked
from cartograph.adversarial_filter.solver.problem import problem
from cartograph.adversarial_filter.splits import random_splits


def test_a_label_without_any_probability_keeps_its_loss() -> None:
    scores = torch.tensor([[0.0, 1.0], [500.0, 2.0], [-3.0, 3.0]])
    loss, residual = _loss(scores, torch.tensor([0, 2]), None)
    assert torch.allclose(loss, torch.tensor([500.0, 0.407606]), atol=1e-4)
    assert torch.allclose(residual[:, 0], torch.tensor([-1.0, 1.0, 0.0]))
    assert torch.allclose(residual.sum(dim=0), torch.zeros(2), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("lacking", [False, True])
def test_all_rows_with_masks_give_what_each_partitions_own_rows_give(classes: int, alike: bool, halves: bool, lacking: bool) -> None:
    rng = np.random.default_rng(4)
    features, labels = rng.normal(2.0, 1.0, (700, 5)).astype(np.float32), rng.integers(classes, size=700)
    given = problem(features, np.arange(700), labels, classes, "cpu", keep_bytes=2**30)
    train = random_splits(700, 200, 6, (1,))
    if lacking:
        train[labels == classes - 1, 2] = False
    points = torch.from_numpy(rng.normal(size=(1 if alike else 6, 6 * given.columns))).float().repeat(6 if alike else 1, 1)
    about = torch.from_numpy(features.mean(axis=0)) if halves else None
    if about is not None:
        points = nearest_halves(points, about)
    smooth = torch.linspace(0.1, 0.6, 6)
    kept = given.take_halved(np.arange(700), about) if about is not None else None
    one, other = masked(given, train, smooth, about, kept), gathered(given, train, smooth, about)
    close = {"rtol": 0.0, "atol": 0.01 if halves else 1e-5}
    for numbers in (torch.arange(6), torch.tensor([1, 2, 5])):
        (value, gradient), (expected, slope) = one(points[numbers], numbers), other(points[numbers], numbers)
        torch.testing.assert_close(value, expected, **close)
        torch.testing.assert_close(gradient, slope, **close)
