from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from cartograph.adversarial_filter import many_classes
from cartograph.adversarial_filter.algorithm import aflite
from cartograph.adversarial_filter.classifiers import Rows
from cartograph.adversarial_filter.many_classes import ManyClasses

CLASSES = 140


def clouds(rows: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    labels = np.arange(rows) % CLASSES
    centres = np.random.default_rng(0).normal(0, 1, (CLASSES, 16))
    return (centres[labels] + rng.normal(0, spread, (rows, 16))).astype(np.float32), labels


def test_against_all_rivals_it_counts_what_scikit_learns_discriminants_predict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_classes, "RIVALS", CLASSES)
    features, labels = clouds(1_400, 0.6)
    rng = np.random.default_rng(2)
    train = np.stack([rng.permutation(1_400) < 700 for _ in range(4)], axis=1)
    others = Rows(features[:50] + np.float32(0.01), np.arange(50), np.where(np.arange(50) < 5, -1, labels[:50]))
    right, [theirs] = ManyClasses().tally(Rows(features, np.arange(1_400), labels), train, [others], 1)
    expected, unseen = np.zeros(1_400, int), np.zeros(50, int)
    for own in train.T:
        shrunk = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=_Shrunk()).fit(features[own], labels[own])
        expected += ~own & (shrunk.predict(features) == labels)
        unseen += shrunk.predict(others.features) == others.labels
    assert np.abs(right - expected).mean() < 0.02 and expected.sum() > 1_500
    assert np.abs(theirs - unseen).mean() < 0.1 and not theirs[:5].any()


class _Shrunk:
    """The within-class covariance as the module shrinks it; ``fit`` is called class by class with deviations that scikit-learn pools."""

    def fit(self, rows: np.ndarray) -> _Shrunk:
        covariance = np.cov(rows.T, bias=True)
        self.covariance_ = 0.9 * covariance + 0.1 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
        return self


def test_each_fitted_partition_is_reported() -> None:
    features, labels = clouds(1_400, 0.6)
    train = np.stack([np.random.default_rng(number).permutation(1_400) < 700 for number in range(4)], axis=1)
    said: list[float] = []
    ManyClasses().tally(Rows(features, np.arange(1_400), labels), train, [], 1, said.append)
    assert said == pytest.approx([said[-1] * part / 4 for part in range(1, 5)]) and 0.5 < said[-1] < 1


def test_few_rivals_are_nearly_all_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = clouds(1_400, 1.0)
    rng = np.random.default_rng(2)
    train = np.stack([rng.permutation(1_400) < 400 for _ in range(6)], axis=1)
    rows = Rows(features, np.arange(1_400), labels)
    few = ManyClasses().tally(rows, train, [], 1)[0]
    monkeypatch.setattr(many_classes, "RIVALS", CLASSES)
    every = ManyClasses().tally(rows, train, [], 1)[0]
    assert (few >= every).all() and (few - every).sum() < 0.02 * (~train).sum()


def test_the_filter_removes_what_is_easy_of_many_classes() -> None:
    features, labels = clouds(1_400, 0.2)
    hard = np.arange(1_400) >= 700
    features[hard] = np.random.default_rng(5).normal(0, 1, (700, 16))
    result = aflite(
        features, labels, target_size=700, train_size=560, slice_size=200, n_partitions=8, evaluation={"same": (features, labels)}
    )
    assert result.kept[hard].mean() > 0.95 and result.kept[~hard].mean() < 0.5
    assert result.history[0].bias > result.history[-1].bias
    assert result.evaluation["same"].kept.sum() < 1_000
