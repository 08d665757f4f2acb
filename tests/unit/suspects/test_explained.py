"""How much probabilities explain of labels, and whether labels that go wrong do so as well."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.explained import clear_share, entropy_of, explained_share, fits_the_labels

ONE_WAY = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])


def drawn(probabilities: np.ndarray, seed: int) -> np.ndarray:
    labels: np.ndarray = (np.random.default_rng(seed).random((len(probabilities), 1)) > probabilities.cumsum(axis=1)).sum(axis=1)
    return labels


def test_shares_of_the_entropy() -> None:
    labels = np.array([0, 1] * 500)
    assert entropy_of(labels) == pytest.approx(np.log(2))
    assert explained_share(np.full(1000, 0.5), entropy_of(labels)) == pytest.approx(0.0)
    assert explained_share(np.ones(1000), entropy_of(labels)) == 1.0
    assert clear_share(np.eye(2)[labels]) == pytest.approx(1.0)
    assert clear_share(np.full((4, 2), 0.5)) == pytest.approx(0.0)


def test_labels_gone_wrong_as_stated_fit_and_labels_of_rows_that_are_surer_than_that_do_not() -> None:
    logits = np.random.default_rng(1).normal(0, 4.0, (4000, 3))
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    given = drawn(true @ ONE_WAY, 2)
    flat = np.full_like(true, 1 / 3)
    assert fits_the_labels(true @ ONE_WAY, flat, ONE_WAY, ONE_WAY, given, entropy_of(given)), "by the inverse of the noise"
    added = 0.85 * ONE_WAY + 0.05
    assert not fits_the_labels(true @ ONE_WAY, flat, added, added, given, entropy_of(given))
    assert fits_the_labels(true @ ONE_WAY, flat, added, ONE_WAY, given, entropy_of(given))
    clean = drawn(true, 3)
    assert fits_the_labels(true, true, np.eye(3), np.eye(3), clean, entropy_of(clean))
    assert not fits_the_labels(true, true, ONE_WAY, ONE_WAY, clean, entropy_of(clean))


def test_too_few_rows_show_no_misfit() -> None:
    probabilities = np.array([[0.99, 0.01], [0.01, 0.99]] * 6)
    even = np.array([[0.8, 0.2], [0.2, 0.8]])
    labels = np.array([0, 1] * 5 + [1, 0])
    assert fits_the_labels(probabilities, probabilities, even, even, labels, entropy_of(labels))
