from __future__ import annotations

import numpy as np
import pytest

from cartograph.features import vector_models
from cartograph.features.vector_models import leave_one_out_neighbours, out_of_fold_discriminant


def clouds(n_examples: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.arange(n_examples) % n_classes
    centres = rng.normal(0, 1.5, (n_classes, 8))
    return (centres[labels] + rng.normal(0, 1, (n_examples, 8))).astype(np.float32), labels


def test_discriminants_are_those_of_the_other_folds_fitted_one_by_one() -> None:
    vectors, labels = clouds(90, 3, 1)
    fold = np.random.default_rng(2).permutation(np.arange(90) % 3)
    little, found = out_of_fold_discriminant(vectors, labels, 3, fold, (0.1, 0.2))
    assert np.abs(little - found).max() > 1e-2
    for part in range(3):
        rows, given = vectors[fold != part].astype(float), labels[fold != part]
        mean = np.stack([rows[given == label].mean(axis=0) for label in range(3)])
        residual = rows - mean[given]
        within = residual.T @ residual / len(rows)
        covariance = 0.8 * within + 0.2 * np.trace(within) / 8 * np.eye(8)
        inverse = np.linalg.inv(covariance)
        for row in np.flatnonzero(fold == part):
            away = vectors[row] - mean
            density = np.log(np.bincount(given) / len(given)) - 0.5 * np.einsum("cd,de,ce->c", away, inverse, away)
            np.testing.assert_allclose(found[row], density - density.mean(), atol=1e-3)


def test_neighbours_are_the_most_similar_other_rows() -> None:
    vectors, labels = clouds(60, 3, 3)
    one, four = leave_one_out_neighbours(vectors, labels, 3, (1, 4), np.random.default_rng(1))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = unit @ unit.T
    np.fill_diagonal(alike, -2)
    for row in range(60):
        nearest = np.argsort(-alike[row])
        assert one[row].argmax() == labels[nearest[0]]
        weight = np.maximum(alike[row, nearest[:4]], 1e-6)
        evidence = np.bincount(labels[nearest[:4]], weight, minlength=3) + 2 * weight.mean() / 3 + 1e-3
        np.testing.assert_allclose(four[row], np.log(evidence) - np.log(evidence).mean(), atol=1e-3)


def test_no_row_is_a_neighbour_of_another_of_its_fold() -> None:
    vectors, labels = clouds(60, 3, 3)
    fold = np.arange(60) // 3 % 5
    found = leave_one_out_neighbours(vectors, labels, 3, (1, 100), np.random.default_rng(1), fold=fold)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for row in range(60):
        others = np.flatnonzero(fold != fold[row])
        assert found[0][row].argmax() == labels[others[np.argmax(unit[others] @ unit[row])]]
        changed = labels.copy()
        changed[fold == fold[row]] = (changed[fold == fold[row]] + 1) % 3
        again = leave_one_out_neighbours(vectors, changed, 3, (100,), np.random.default_rng(1), rows=np.array([row]), fold=fold)
        np.testing.assert_allclose(again[0][0], found[1][row], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_rows_own_label_has_no_influence_on_its_own_scores(n_classes: int) -> None:
    vectors, labels = clouds(60, n_classes, 4)
    fold = np.arange(60) // n_classes % 4
    changed = labels.copy()
    changed[7] = (changed[7] + 1) % n_classes
    one, other = (out_of_fold_discriminant(vectors, given, n_classes, fold)[0] for given in (labels, changed))
    np.testing.assert_allclose(one[7], other[7], atol=1e-5)
    assert np.abs(one - other).max() > 1e-2
    near, far = (leave_one_out_neighbours(vectors, given, n_classes, (5,), np.random.default_rng(1))[0] for given in (labels, changed))
    np.testing.assert_allclose(near[7], far[7], atol=0.06)  # the classes' shares alone changed, by one row
    assert np.abs(near - far).max() > 0.3


def test_a_class_that_other_folds_do_not_have_is_the_least_likely() -> None:
    vectors, labels = clouds(41, 2, 5)
    labels[40] = 2
    scores = out_of_fold_discriminant(vectors, labels, 3, np.arange(41) // 2 % 2)[0]
    assert np.isfinite(scores).all()
    assert scores[40].argmin() == 2


def test_more_numbers_than_rows_and_constant_ones() -> None:
    vectors = np.concatenate([np.random.default_rng(6).normal(size=(12, 40)), np.ones((12, 3))], axis=1).astype(np.float32)
    assert np.isfinite(out_of_fold_discriminant(vectors, np.arange(12) % 2, 2, np.arange(12) // 2 % 3)).all()
    still = np.zeros((12, 4), np.float32)
    assert np.isfinite(out_of_fold_discriminant(still, np.arange(12) % 2, 2, np.arange(12) // 2 % 3)).all()
    assert np.isfinite(leave_one_out_neighbours(still, np.arange(12) % 2, 2, (10, 30), np.random.default_rng(1))[1]).all()


def test_of_many_rows_a_sample_is_looked_among(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = clouds(300, 3, 7)
    whole = leave_one_out_neighbours(vectors, labels, 3, (10,), np.random.default_rng(1))[0]
    monkeypatch.setattr(vector_models, "_MOST_REFERENCES", 150)
    monkeypatch.setattr(vector_models, "_BLOCK", 70)
    sampled = leave_one_out_neighbours(vectors, labels, 3, (10,), np.random.default_rng(1))[0]
    assert not np.array_equal(whole, sampled)
    assert np.mean(sampled.argmax(axis=1) == whole.argmax(axis=1)) > 0.8
