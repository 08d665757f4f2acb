"""Products of bfloat16: the same optimum, and float32 for what they do not lead to."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from cartograph.adversarial_filter.solver import halves
from cartograph.adversarial_filter.solver.halves import Product, halved, nearest_halves
from cartograph.adversarial_filter.solver.joint_fit import fit
from cartograph.adversarial_filter.solver.problem import Problem, problem
from cartograph.adversarial_filter.splits import random_splits


@pytest.fixture
def with_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have bfloat16 used wherever the tests run: a processor without such instructions computes the same, only slowly."""
    monkeypatch.setattr(halves, "multiplies_halves", lambda: True)
    monkeypatch.setattr(halves, "_WORTH", 0)


def overlapping(rows: int, width: int, classes: int, apart: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Rows far from the origin, as encoders have them, of classes that overlap; ``apart``: how far their means spread."""
    rng = np.random.default_rng(3)
    labels = rng.integers(classes, size=rows)
    scale = np.exp(-np.arange(width) / (width / 3))
    features = (
        rng.normal(size=(rows, width)) * scale + apart * (rng.normal(size=(classes, width)) * scale)[labels] + 20 * rng.normal(size=width)
    )
    return features.astype(np.float32), labels.astype(np.int64)


def given_by(features: np.ndarray, labels: np.ndarray, keep_bytes: int = 2**30) -> Problem:
    return problem(features, np.arange(len(labels)), labels, int(labels.max()) + 1, "cpu", keep_bytes=keep_bytes)


def predicted(features: np.ndarray, weights: torch.Tensor) -> np.ndarray:
    scores = torch.from_numpy(features) @ weights[:-1] + weights[-1]
    return (scores[:, 0] > 0).long().numpy() if scores.shape[1] == 1 else scores.argmax(dim=1).numpy()


def equal_to_scikit_learns(features: np.ndarray, labels: np.ndarray, train: np.ndarray, coefficients: torch.Tensor) -> float:
    """Return the share of out-of-sample predictions that scikit-learn's optimum makes too, the mean over partitions."""
    same = []
    for own, weights in zip(train.T, coefficients, strict=True):
        model = LogisticRegression(solver="newton-cholesky", tol=1e-6, max_iter=200).fit(features[own].astype(np.float64), labels[own])
        same.append(np.mean((model.predict(features) == predicted(features, weights))[~own]))
    return float(np.mean(same))


@pytest.mark.usefixtures("with_halves")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("train_size", "keep_bytes"), [(150, 2**30), (900, 2**30), (900, 0)])
def test_the_optimum_is_scikit_learns(classes: int, train_size: int, keep_bytes: int) -> None:
    """Gathered, masked, and masked in blocks that are read at every pass."""
    features, labels = overlapping(2_400, 32, classes)
    train = random_splits(2_400, train_size, 8, (1,))
    given = given_by(features, labels, keep_bytes)
    assert given.centre() is not None
    weights = fit(given, train)
    assert weights.unconverged == 0
    assert equal_to_scikit_learns(features, labels, train, weights.coefficients) >= 0.995


@pytest.mark.usefixtures("with_halves")
@pytest.mark.parametrize("classes", [6, 10])
def test_many_classes_are_predicted_as_the_optimum_predicts_them(classes: int) -> None:
    """A gradient of bfloat16 is as much rounding as gradient here: where the last step follows it, .9968 and .9978 are equal."""
    features, labels = overlapping(4_000, 48, classes, apart=0.05)
    train = random_splits(4_000, 1_000, 4, (1,))
    weights = fit(given_by(features, labels), train)
    assert weights.unconverged == 0
    assert equal_to_scikit_learns(features, labels, train, weights.coefficients) >= 0.9985


@pytest.mark.usefixtures("with_halves")
def test_what_asks_for_more_goes_on_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = overlapping(1_200, 16, 3)
    train = random_splits(1_200, 500, 4, (1,))
    closely = fit(given_by(features, labels), train, tolerance=1e-4)
    assert closely.unconverged == 0
    coarse = fit(given_by(features, labels), train)
    assert coarse.passes < closely.passes, "what float32 adds counts too"
    monkeypatch.setattr(halves, "multiplies_halves", lambda: False)
    alone = fit(given_by(features, labels), train, tolerance=1e-4)
    for one, other in zip(closely.coefficients, alone.coefficients, strict=True):
        assert (predicted(features, one) == predicted(features, other)).mean() > 0.998


@pytest.mark.usefixtures("with_halves")
def test_the_products_are_those_of_float32_but_for_rounding() -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(500, 24, generator=generator) + 30.0
    columns, residual = torch.randn(25, 5, generator=generator), torch.randn(500, 5, generator=generator)
    about = rows.mean(dim=0)
    exact, rounded = Product(columns, None), Product(columns, about)
    scores, close = exact.scores(rows), rounded.scores(halved(rows, about))
    assert torch.allclose(scores, rows @ columns[:-1] + columns[-1], atol=1e-3)
    assert 0 < (close - scores).abs().mean() < 0.003 * (scores - scores.mean(dim=0)).std()
    back, near = exact.back(rows, residual), rounded.back(halved(rows, about), residual)
    assert torch.allclose(back, torch.cat([rows, torch.ones(500, 1)], dim=1).T.mm(residual).T, rtol=1e-4, atol=1e-2)
    assert (near - back).abs().max() < 0.005 * (rows - about).norm(dim=0).mean() * residual.norm(dim=0).mean()


@pytest.mark.usefixtures("with_halves")
def test_weights_near_by_are_known_to_the_products_and_score_the_centre_alike() -> None:
    generator = torch.Generator().manual_seed(1)
    about, points = 10 * torch.randn(24, generator=generator), torch.randn(4, 25 * 3, generator=generator)
    weights, near = points.reshape(4, 25, 3), nearest_halves(points, about).reshape(4, 25, 3)
    assert (near[:, :-1] == near[:, :-1].bfloat16()).all() and 0 < (near - weights)[:, :-1].abs().max() < 0.01
    assert torch.allclose(about @ near[:, :-1] + near[:, -1], about @ weights[:, :-1] + weights[:, -1], atol=1e-4)


@pytest.mark.parametrize("halves_used", [False, True])
def test_some_scores_are_those_of_all(halves_used: bool) -> None:
    generator = torch.Generator().manual_seed(2)
    rows, columns = torch.randn(50, 8, generator=generator), torch.randn(9, 3 * 4, generator=generator)
    product = Product(columns, torch.zeros(8) if halves_used else None)
    rows = rows.bfloat16() if halves_used else rows
    row, column = torch.tensor([0, 7, 7, 49]), torch.tensor([3, 0, 2, 1])
    found = product.some_scores(rows, row, column, 4)
    every = product.scores(rows).reshape(50, 3, 4)
    torch.testing.assert_close(found, every[row, :, column].T)


def test_little_work_is_done_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = overlapping(200, 8, 2)
    monkeypatch.setattr(halves, "multiplies_halves", lambda: True)
    assert given_by(features, labels).centre() is None
    monkeypatch.setattr(halves, "_WORTH", 200 * 8)
    assert given_by(features, labels).centre() is not None
    monkeypatch.setattr(halves, "multiplies_halves", lambda: False)
    assert given_by(features, labels).centre() is None
