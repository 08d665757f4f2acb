"""Scores of held-out rows against fits without them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cartograph.features import linear_models
from cartograph.features.linear_models import leave_one_out_bayes, out_of_fold_logistic


def small(n_examples: int, n_classes: int, seed: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of random counts, whose first columns tell the classes apart now and then."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_examples) % n_classes
    dense = rng.poisson(0.4, (n_examples, 12)).astype(np.float32)
    dense[np.arange(n_examples), labels] += rng.poisson(1.0, n_examples)
    return sparse.csr_array(dense), labels


@pytest.mark.parametrize("n_classes", [2, 4])
def test_leave_one_out_bayes_is_a_fit_without_the_row(n_classes: int) -> None:
    features, labels = small(25, n_classes, 3)
    dense, smoothing = features.toarray().astype(np.float64), 0.3
    expected = np.empty((25, n_classes))
    for row in range(25):
        others = np.arange(25) != row
        for label in range(n_classes):
            inside = dense[others & (labels == label)].sum(axis=0) + smoothing
            outside = dense[others & (labels != label)].sum(axis=0) + smoothing
            expected[row, label] = dense[row] @ np.log((inside / inside.sum()) / (outside / outside.sum()))
    if n_classes == 2:
        expected /= 2
    expected -= expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(leave_one_out_bayes(features, labels, n_classes, [smoothing])[0], expected, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_run_to_the_end_is_scikit_learns(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(linear_models, "NEWTON_STEPS", 12)
    monkeypatch.setattr(linear_models, "GRADIENT_STEPS", 40)
    features, labels = small(80, n_classes, 4)
    fold, penalty = np.arange(80) // 2 % 4, 0.7
    expected = np.empty((80, n_classes))
    for part in range(4):
        for label in range(n_classes):
            model = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000).fit(features[fold != part], labels[fold != part] == label)
            expected[fold == part, label] = model.decision_function(features[fold == part])
    if n_classes == 2:
        expected /= 2
    expected -= expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(out_of_fold_logistic(features, labels, n_classes, fold, [penalty])[0], expected, atol=1e-2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_change_the_memory_and_not_the_result(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = small(40, n_classes, 5)
    fold = np.arange(40) // n_classes % 3
    whole = out_of_fold_logistic(features, labels, n_classes, fold, [1.0, 0.3]) + leave_one_out_bayes(
        features, labels, n_classes, [1.0, 0.1]
    )
    monkeypatch.setattr(linear_models, "_BLOCK_ELEMENTS", 1)
    monkeypatch.setattr(linear_models, "_BLOCK_NONZEROS", 7)
    parts = out_of_fold_logistic(features, labels, n_classes, fold, [1.0, 0.3]) + leave_one_out_bayes(
        features, labels, n_classes, [1.0, 0.1]
    )
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
