"""Doubt about labels: by hand, under one-sided noise, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.label_doubt import label_doubt, suggested_labels


def test_the_transition_is_that_of_expectation_maximisation_by_hand() -> None:
    rng = np.random.default_rng(7)
    probabilities = rng.dirichlet([0.5, 0.5, 0.5], 50)
    labels = rng.integers(0, 3, 50)
    transition = np.array([[0.95 if y == z else 0.025 for z in range(3)] for y in range(3)])
    for _ in range(50):
        counts = np.zeros((3, 3))
        for row, z in enumerate(labels):
            joint = [probabilities[row, y] * transition[y, z] for y in range(3)]
            for y in range(3):
                counts[y, z] += joint[y] / sum(joint)
        wrong = 1 - sum(counts[y, y] for y in range(3)) / 50
        for y in range(3):
            for z in range(3):
                transition[y, z] = (counts[y, z] + 30 * ((1 - wrong) if y == z else wrong / 2)) / (counts[y].sum() + 30)
    found = label_doubt(probabilities, labels, pseudo_rows=10)
    np.testing.assert_allclose(found.transition, transition, atol=5e-3)
    right = [probabilities[row, z] * transition[z, z] / (probabilities[row] @ transition[:, z]) for row, z in enumerate(labels)]
    np.testing.assert_allclose(found.score, 1 - np.array(right), atol=2e-2)


def test_one_sided_noise_is_noticed_and_helps() -> None:
    # Four in ten of class 1 are labelled 0, nobody of class 0 is labelled 1: a surprising 1 is right, a surprising 0 is wrong.
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 4000)
    wrong = (truth == 1) & (rng.random(4000) < 0.4)
    labels = np.where(wrong, 0, truth)
    sure = 1 / (1 + np.exp(-np.where(truth == 1, 1, -1) * 1.5 - rng.normal(0, 1.5, 4000)))
    seen = sure * 0.6
    probabilities = np.stack([1 - seen, seen], axis=1)
    found = label_doubt(probabilities, labels)
    assert found.transition[1, 0] > 3 * found.transition[0, 1]
    assert average_precision(wrong, found.score) > average_precision(wrong, -probabilities[np.arange(4000), labels]) + 0.1


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 5), st.integers(0, 2**31))
def test_doubt_is_a_probability_and_even_noise_ranks_by_the_given_labels_probability(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    probabilities, labels = rng.dirichlet(np.ones(n_classes), 60), rng.integers(0, n_classes, 60)
    found = label_doubt(probabilities, labels, pseudo_rows=1e9)
    assert ((found.score >= 0) & (found.score <= 1)).all()
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0)
    own = probabilities[np.arange(60), labels]
    assert (np.diff(found.score[np.argsort(own)]) <= 1e-6).all()
    assert (found.suggested != labels).all()


@pytest.mark.parametrize("sure", [1.0, 1 - 1e-16])
def test_doubt_about_a_certain_models_opinion_is_finite(sure: float) -> None:
    probabilities = np.array([[sure, 1 - sure], [1 - sure, sure], [sure, 1 - sure]])
    found = label_doubt(probabilities, np.array([0, 1, 1]))
    assert found.score[2] > 0.99 and found.score[:2].max() < 0.01


def test_the_most_probable_other_class_is_suggested() -> None:
    probabilities = np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
    assert suggested_labels(probabilities, np.array([0, 2, 0])).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        (
            [[0.5, 0.5]],
            [0, 1],
            r"shape \(examples, classes ≥ 2\) and one label per example are needed, but they have shapes \(1, 2\) and \(2,\)",
        ),
        ([[0.5, 0.5], [0.9, 0.3]], [0, 1], r"row 2 has the class probabilities \[0.9, 0.3\], which are not ≥ 0 with a sum of 1"),
        ([[np.nan, 1.0]], [0], "row 1 has the class probabilities"),
        ([[0.5, 0.5]], [2], "row 1 has label id 2, but there are probabilities of classes 0 to 1 only"),
    ],
)
def test_numbers_that_are_not_probabilities_are_refused(probabilities: list[list[float]], labels: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        label_doubt(np.array(probabilities), np.array(labels))
