"""Scores of held-out rows against fits without them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cartograph.features import linear_models
from cartograph.features.linear_models import held_out_logistic, leave_one_out_bayes, out_of_fold_bayes, out_of_fold_logistic


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


@pytest.mark.parametrize("n_classes", [2, 4])
def test_out_of_fold_bayes_is_a_fit_on_the_other_folds(n_classes: int) -> None:
    features, labels = small(30, n_classes, 3)
    dense, fold = features.toarray().astype(np.float64), np.arange(30) // n_classes % 3
    expected = np.empty((30, n_classes))
    for row in range(30):
        others = fold != fold[row]
        for label in range(n_classes):
            inside = dense[others & (labels == label)].sum(axis=0) + 0.3
            outside = dense[others & (labels != label)].sum(axis=0) + 0.3
            expected[row, label] = dense[row] @ np.log((inside / inside.sum()) / (outside / outside.sum()))
    if n_classes == 2:
        expected /= 2
    expected -= expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(out_of_fold_bayes(features, labels, n_classes, fold, [1.0, 0.3])[1], expected, atol=1e-5)


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


def truncated(features: np.ndarray, targets: np.ndarray, used: np.ndarray, penalty: float, even: bool = False) -> np.ndarray:
    """The scores of one model after two Newton steps, each of four conjugate gradients, on a dense matrix with a column for the bias."""
    augmented = np.column_stack([features, np.ones(len(features))]).astype(np.float64)
    held = np.append(np.full(features.shape[1], penalty), 0.0)
    share = 0.5 if even else np.clip((used * targets).sum() / max(used.sum(), 1.0), 1e-4, 1 - 1e-4)
    weights = np.append(np.zeros(features.shape[1]), np.log(share / (1 - share)))
    for _ in range(2):
        probability = 1 / (1 + np.exp(-augmented @ weights))
        curvature = used * probability * (1 - probability)
        down = -(augmented.T @ (used * (probability - targets)) + held * weights)
        eases = 1 / np.append(np.full(features.shape[1], penalty), curvature.sum() + 1e-6)
        step, left, way = np.zeros_like(down), down, eases * down
        for _ in range(4):
            bend = augmented.T @ (curvature * (augmented @ way)) + held * way
            size = left @ (eases * left)
            step, left = step + size / (way @ bend) * way, left - size / (way @ bend) * bend
            way = eases * left + left @ (eases * left) / size * way
        weights = weights + step
    return augmented @ weights


def centred(scores: np.ndarray) -> np.ndarray:
    whole = np.column_stack([-scores[:, 0] / 2, scores[:, 0] / 2]) if scores.shape[1] == 1 else scores
    return whole - whole.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_is_stopped_after_so_many_steps(n_classes: int, even: bool) -> None:
    features, labels = small(60, n_classes, 6)
    fold = np.random.default_rng(1).integers(0, 3, 60)
    # One fold holds every row of class 1: models without it never see the class.
    fold[labels == 1] = 2
    wanted = [1] if n_classes == 2 else list(range(n_classes))
    found = out_of_fold_logistic(features, labels, n_classes, fold, [0.4, 3.0], even=even)
    for scores, penalty in zip(found, (0.4, 3.0), strict=True):
        expected = np.empty((60, len(wanted)))
        for part in range(3):
            for place, label in enumerate(wanted):
                own = truncated(features.toarray(), labels == label, fold != part, penalty, even)
                expected[fold == part, place] = own[fold == part]
        np.testing.assert_allclose(scores, centred(expected), rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_count_by_their_weights(n_classes: int, even: bool) -> None:
    features, labels = small(60, n_classes, 6)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], 60).astype(np.float32)
    wanted = [1] if n_classes == 2 else list(range(n_classes))
    expected = np.column_stack([truncated(features.toarray(), labels == label, weights, 0.4, even) for label in wanted])
    found = held_out_logistic(features, labels, n_classes, weights, 0.4, even=even)
    np.testing.assert_allclose(found, centred(expected), rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_model_of_some_rows_scores_all(n_classes: int) -> None:
    features, labels = small(50, n_classes, 7)
    train = np.arange(50) % 3 != 1
    wanted = [1] if n_classes == 2 else list(range(n_classes))
    expected = np.column_stack([truncated(features.toarray(), labels == label, train.astype(float), 0.8) for label in wanted])
    found = held_out_logistic(features, labels, n_classes, train, 0.8)
    np.testing.assert_allclose(found, centred(expected), rtol=1e-3, atol=1e-3)
    others = np.where(train, labels, 0)
    np.testing.assert_array_equal(found, held_out_logistic(features, others, n_classes, train, 0.8))
