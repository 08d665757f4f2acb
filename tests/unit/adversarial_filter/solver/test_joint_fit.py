"""Our joint solver against scikit-learn's optimum."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from cartograph.adversarial_filter.classifiers import JointLogistic, OneByOne, Rows
from cartograph.adversarial_filter.solver import joint_fit
from cartograph.adversarial_filter.solver import problem as solver_problem
from cartograph.adversarial_filter.solver.joint_fit import (
    _parts,
    _pilot,
    _right,
    correct_predictions,
    fit,
)
from cartograph.adversarial_filter.solver.problem import Problem, problem
from cartograph.adversarial_filter.splits import random_splits
from tests.vectors import correlated


def optimum(penalty: float = 1.0) -> LogisticRegression:
    return LogisticRegression(C=penalty, solver="newton-cholesky", tol=1e-6, max_iter=200)


def predictions(given: Problem, weights: torch.Tensor) -> np.ndarray:
    scores = given.take(np.arange(len(given.rows))) @ weights[:-1] + weights[-1]
    return (scores[:, 0] > 0).long().numpy() if given.columns == 1 else scores.argmax(dim=1).numpy()


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("train_size", [100, 700])
def test_weights_are_those_of_scikit_learn(classes: int, train_size: int) -> None:
    """At train size 100 the rows are gathered, at 700 masked."""
    features, labels = correlated(2_000, 24, classes)
    train = random_splits(2_000, train_size, 12, (1,))
    given = problem(features, np.arange(2_000), labels, classes, "cpu", keep_bytes=2**30)
    weights = fit(given, train)
    assert weights.unconverged == 0
    same, right = [], np.zeros(2_000)
    for number in range(12):
        model = optimum().fit(features[train[:, number]].astype(np.float64), labels[train[:, number]])
        predicted = model.predict(features)
        held_out = ~train[:, number]
        same.append(np.mean((predicted == predictions(given, weights.coefficients[number]))[held_out]))
        right += (predicted == labels) & held_out
    assert np.mean(same) >= 0.998
    ours = correct_predictions(given, train, weights)
    counts = (~train).sum(axis=1)
    assert np.corrcoef(ours / counts, right / counts)[0, 1] >= 0.998


@pytest.mark.parametrize("larger", [1e4, 1e6])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_those_of_scikit_learn_where_columns_differ_much_in_size(classes: int, larger: float) -> None:
    """Of a large column the weight is small and as good as free of penalty, however large it is; a constant one is of no use."""
    features, labels = correlated(800, 12, classes)
    features[:, 1] = 0.0
    even = features * np.where(np.arange(12) == 0, 1e3, 1.0)
    features[:, 0] *= larger
    features[:, 1] = 100.0
    train = random_splits(800, 300, 3, (1,))
    weights = fit(problem(features, np.arange(800), labels, classes, "cpu", keep_bytes=2**30), train)
    assert weights.unconverged == 0
    for number, own in enumerate(train.T):
        model = optimum().fit(even[own], labels[own])
        scores = torch.from_numpy(features) @ weights.coefficients[number][:-1] + weights.coefficients[number][-1]
        ours = (scores[:, 0] > 0).long() if classes == 2 else scores.argmax(dim=1)
        assert np.mean((model.predict(even) == ours.numpy())[~own]) >= 0.99


@pytest.mark.parametrize("penalty", [0.01, 100.0])
def test_the_regularisation_is_scikit_learns(penalty: float) -> None:
    features, labels = correlated(600, 8, 3)
    given = problem(features, np.arange(600), labels, 3, "cpu", keep_bytes=2**30)
    weights = fit(given, np.ones((600, 1), bool), penalty=penalty, tolerance=1e-4).coefficients[0].numpy()
    model = optimum(penalty).fit(features.astype(np.float64), labels)
    assert np.abs(weights[:-1].T - model.coef_).max() < 0.02 * np.abs(model.coef_).max()
    centred = weights[-1] - weights[-1].mean()
    assert np.abs(centred - (model.intercept_ - model.intercept_.mean())).max() < 0.02 * np.abs(model.intercept_).max()


@pytest.mark.parametrize("train_size", [60, 300])
def test_a_partition_is_fitted_as_if_it_were_alone(train_size: int) -> None:
    features, labels = correlated(800, 10, 3)
    train = random_splits(800, train_size, 5, (2,))
    given = problem(features, np.arange(800), labels, 3, "cpu", keep_bytes=2**30)
    together = fit(given, train, tolerance=1e-4).coefficients
    for number in range(5):
        alone = fit(given, train[:, [number]], tolerance=1e-4).coefficients[0]
        assert (predictions(given, alone) == predictions(given, together[number])).mean() > 0.998


def test_the_start_does_not_change_the_optimum() -> None:
    features, labels = correlated(800, 10, 3)
    train = random_splits(800, 300, 4, (2,))
    given = problem(features, np.arange(800), labels, 3, "cpu", keep_bytes=2**30)
    cold = fit(given, train, tolerance=1e-4)
    far = fit(given, train, tolerance=1e-4, start=torch.full((11, 3), 2.0) * torch.randn(11, 3, generator=torch.Generator().manual_seed(0)))
    for one, other in zip(cold.coefficients, far.coefficients, strict=True):
        assert (predictions(given, one) == predictions(given, other)).mean() > 0.998


def test_features_in_blocks_give_the_same_weights() -> None:
    features, labels = correlated(3_000, 10, 3)
    rows = np.flatnonzero(np.arange(3_000) % 3 != 0)
    train = random_splits(2_000, 900, 4, (2,))
    inside, outside = (problem(features, rows, labels[rows], 3, "cpu", keep_bytes=keep) for keep in (2**30, 0))
    assert (inside.resident is None, outside.resident is None) == (False, True)
    one, other = (fit(given, train, tolerance=1e-4).coefficients for given in (inside, outside))
    assert torch.allclose(one, other, atol=1e-3)


def test_a_partition_never_predicts_a_class_that_it_did_not_see() -> None:
    features, labels = correlated(600, 6, 3)
    train = random_splits(600, 200, 4, (2,)) & (labels != 2)[:, None]
    given = problem(features, np.arange(600), labels, 3, "cpu", keep_bytes=2**30)
    # Weights to start from that know the class well: nothing in the partitions' own rows would move them.
    start = fit(given, np.ones((600, 1), bool)).coefficients[0]
    right = correct_predictions(given, train, fit(given, train, start=start))
    assert right[labels == 2].max() == 0
    assert right[labels != 2].mean() > 1


def test_partitions_that_do_not_converge_are_counted_over_all_parts() -> None:
    features, labels = correlated(900, 10, 3)
    train = random_splits(900, 100, 5, (2,))
    given = problem(features, np.arange(900), labels, 3, "cpu", keep_bytes=2**30)
    for room in (0, 2**30):
        weights = fit(given, train, most_passes=1, tolerance=1e-9, gather_bytes=room)
        assert (weights.unconverged, weights.passes) == (5, 1)


def test_no_more_rows_are_gathered_than_there_is_room_for() -> None:
    features, labels = correlated(1_000, 10, 3)
    train = random_splits(1_000, 100, 5, (2,))
    given = problem(features, np.arange(1_000), labels, 3, "cpu", keep_bytes=2**30)
    rows = 100 * 10 * 4
    assert [part.stop - part.start for part in _parts(given, train, 2 * rows)] == [2, 2, 1]
    assert [part.stop - part.start for part in _parts(given, train, 0)] == [1] * 5
    assert torch.allclose(fit(given, train, gather_bytes=0).coefficients, fit(given, train).coefficients, atol=1e-4)


@pytest.mark.parametrize("train_size", [80, 400])
def test_a_fit_says_how_far_it_is(train_size: int) -> None:
    """At train size 80 the rows are gathered, two partitions' at a time, at 400 masked."""
    features, labels = correlated(1_000, 10, 3)
    train = random_splits(1_000, train_size, 6, (2,))
    given = problem(features, np.arange(1_000), labels, 3, "cpu", keep_bytes=2**30)
    said: list[float] = []
    passes = fit(given, train, gather_bytes=2 * 80 * 10 * 4, report=said.append).passes
    assert said == sorted(said) and len(said) >= passes and 0 < said[0] < 0.4 and 0.5 < said[-1] <= 1
    assert sum(share > 1 / 3 for share in said) > 1


def test_a_filter_keeps_to_the_memory_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[int] = []
    monkeypatch.setattr(joint_fit, "_parts", lambda given, train, room: rooms.append(room) or iter([slice(0, train.shape[1])]))
    features, labels = correlated(1_000, 10, 3)
    JointLogistic(device="cpu", keep_bytes=5).tally(Rows(features, np.arange(1_000), labels), random_splits(1_000, 100, 5, (2,)), [], 0)
    assert rooms == [5]


def test_warm_rounds_agree_with_scikit_learn_round_by_round() -> None:
    features, labels = correlated(1_500, 16, 3)
    ours, theirs = JointLogistic(device="cpu"), OneByOne(optimum())
    for number, rows in enumerate((np.arange(1_500), np.arange(0, 1_500, 2))):
        train = random_splits(len(rows), 300, 16, (number,))
        pool, other = Rows(features.astype(np.float64), rows, labels[rows]), Rows(features, np.arange(1, 1_500, 7), labels[1::7])
        both = [model.tally(pool, train, [other], 0) for model in (ours, theirs)]
        assert np.corrcoef(both[0][0], both[1][0])[0, 1] > 0.995
        assert np.corrcoef(both[0][1][0], both[1][1][0])[0, 1] > 0.995


def test_separable_features_converge() -> None:
    labels = np.arange(400) % 2
    features = np.where(labels[:, None] == 1, 4.0, -4.0).astype(np.float32) + np.random.default_rng(0).normal(0, 0.1, (400, 3)).astype(
        np.float32
    )
    given = problem(features, np.arange(400), labels.astype(np.int64), 2, "cpu", keep_bytes=2**30)
    train = random_splits(400, 100, 3, (2,))
    weights = fit(given, train)
    assert torch.isfinite(weights.coefficients).all()
    assert (correct_predictions(given, train, weights) == (~train).sum(axis=1)).all()


@pytest.mark.parametrize("classes", [2, 4])
def test_a_prediction_is_right_where_the_label_has_the_highest_score(classes: int) -> None:
    rng = np.random.default_rng(5)
    columns = 1 if classes == 2 else classes
    scores = torch.from_numpy(rng.integers(-1, 2, size=(300, columns, 7)).astype(np.float32))
    labels = torch.from_numpy(rng.integers(-1, classes, size=300))
    predicted = (scores[:, 0] > 0).long() if classes == 2 else torch.from_numpy(scores.numpy().argmax(axis=1))
    assert torch.equal(_right(scores, labels, None), predicted == labels[:, None])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_pilot_is_near_the_optimum_on_the_pooled_rows(classes: int) -> None:
    features, labels = correlated(700, 6, classes)
    given = problem(features, np.arange(700), labels, classes, "cpu", keep_bytes=2**30)
    start = _pilot(given, 1 / (0.5 * 700), None, 1e-5, np.random.default_rng(0)).numpy()
    model = optimum(0.5).fit(features.astype(np.float64), labels)
    np.testing.assert_allclose(start[:-1].T, model.coef_, atol=0.01 * np.abs(model.coef_).max())
    np.testing.assert_allclose(
        start[-1] - start[-1].mean() * (classes > 2), model.intercept_ - model.intercept_.mean() * (classes > 2), atol=0.02
    )


@pytest.mark.parametrize("halves_used", [False, True])
def test_any_number_of_cores_gives_the_same_bytes(halves_used: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver_problem, "_BLOCK_ELEMENTS", 2**12)
    monkeypatch.setattr(solver_problem, "pays", lambda *_: halves_used)
    features, labels = correlated(5_000, 8, 3)
    train, found = random_splits(5_000, 1_500, 6, (4,)), []
    for cores in (1, 2, 5):
        monkeypatch.setattr(solver_problem, "cores", lambda cores=cores: cores)
        given = problem(features, np.arange(5_000), labels, 3, "cpu", keep_bytes=2**30)
        weights = fit(given, train)
        found.append((weights.coefficients.numpy().tobytes(), correct_predictions(given, train, weights).tobytes()))
    assert found[0] == found[1] == found[2]
