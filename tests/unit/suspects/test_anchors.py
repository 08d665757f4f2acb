"""The rows that models are surest about: which they are, and how many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.suspects.anchors import anchor_counts, anchor_rows, anchor_share, contradicting
from cartograph.suspects.transitions import even_transition
from tests.made_noise import noisy_with_truth


def surest_rows_tables(probabilities: Floats, labels: Integers, share: float) -> Floats:
    """How often the surest rows predicted as each class have each label."""
    n_classes = probabilities.shape[1]
    counts = np.zeros((n_classes, n_classes))
    for label in range(n_classes):
        rows = [row for row in range(len(labels)) if probabilities[row].argmax() == label]
        for row in sorted(rows, key=lambda row: -probabilities[row, label])[: math.ceil(share * len(rows) - 1e-9)]:
            counts[label, labels[row]] += 1
    return counts


@pytest.mark.parametrize("share", [0.1, 0.25, 1.0])
def test_anchors_are_the_surest_rows_of_each_predicted_class(share: float) -> None:
    probabilities, given, _ = noisy_with_truth(even_transition(3, 0.2), 400, 4.0, seed=3)
    counts = anchor_counts(probabilities, given, share)
    np.testing.assert_array_equal(counts, surest_rows_tables(probabilities, given, share))
    assert contradicting(counts) == (counts.sum() - np.trace(counts), counts.sum())


def test_more_rows_are_read_where_they_are_as_sure_and_few_and_not_where_they_are_less_sure_or_many() -> None:
    def sure(rows: int, unsure: float, at_last: float) -> np.ndarray:
        wrong = np.linspace(unsure, at_last, rows)
        return np.column_stack([wrong, 1.0 - wrong])

    assert anchor_share(sure(600, 0.05, 0.07), 0.17) == 0.6
    assert anchor_share(sure(600, 0.05, 0.45), 0.17) in (0.17, 0.2)
    assert anchor_share(sure(200_000, 0.05, 0.15), 0.1) == 0.1
    assert anchor_share(sure(600, 0.05, 0.07)[::-1], 0.17) == 0.6
    assert anchor_share(sure(4, 0.0, 0.0), 0.3) in (0.3, 0.45, 0.6)


def test_the_rows_of_each_class_stand_surest_first() -> None:
    probabilities, _, _ = noisy_with_truth(even_transition(3, 0.2), 400, 4.0, seed=3)
    for label, rows in enumerate(anchor_rows(probabilities, 0.25)):
        predicted = np.flatnonzero(probabilities.argmax(axis=1) == label)
        assert len(rows) == math.ceil(0.25 * len(predicted))
        assert (probabilities[rows].argmax(axis=1) == label).all()
        assert list(probabilities[rows, label]) == sorted(probabilities[predicted, label], reverse=True)[: len(rows)]
