"""The rows that models are surest about: which they are, how many, and which of them hard classes cannot pass for wrong labels in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.suspects.anchors import anchor_counts, anchor_share, calm_anchors, contradicting
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


def hard_rows(rng: np.random.Generator, classes: int, rows: int, wrong: float = 0.0) -> tuple[Floats, Integers]:
    """Probabilities that are right as often as they say, some classes harder than others, and labels of which a share is wrong."""
    labels = rng.integers(0, classes, rows)
    sure = np.clip(rng.normal(np.linspace(0.5, 1.1, classes)[labels], 0.1), 1.2 / classes, 0.999 - 0.01 * rng.random(rows))
    taken = np.where(rng.random(rows) < sure, labels, (labels + rng.integers(1, classes, rows)) % classes)
    known = np.repeat(((1.0 - sure) / (classes - 1))[:, None], classes, axis=1)
    known[np.arange(rows), taken] = sure
    flipped = rng.random(rows) < wrong
    return known, np.where(flipped, (labels + rng.integers(1, classes, rows)) % classes, labels)


def test_where_the_less_sure_anchors_alone_are_contradicted_and_as_often_as_expected_the_surest_count() -> None:
    rng = np.random.default_rng(1)
    known, given = hard_rows(rng, 40, 4000)
    found = calm_anchors(known, given, 0.1)
    assert found is not None and found.sum() < 0.3 * anchor_counts(known, given, 0.1).sum()
    wrong, number = contradicting(found)
    assert wrong / number < 0.4 * np.divide(*contradicting(anchor_counts(known, given, 0.1)))
    order = rng.permutation(len(given))
    again = calm_anchors(known[order], given[order], 0.1)
    assert again is not None and contradicting(again)[1] == pytest.approx(number, abs=3)


@pytest.mark.parametrize("kind", ["even errors", "one way", "sure and wrong", "ties"])
def test_wrong_labels_are_not_taken_for_hard_rows(kind: str) -> None:
    rng = np.random.default_rng(2)
    classes = 2 if kind == "one way" else 20
    labels = rng.integers(0, classes, 3000)
    sure = np.full(3000, 0.97) if kind == "ties" else np.clip(rng.normal(0.95, 0.04, 3000), 0.6, 0.999)
    known = np.repeat(((1.0 - sure) / (classes - 1))[:, None], classes, axis=1)
    known[np.arange(3000), labels] = sure
    given = labels.copy()
    if kind in ("even errors", "ties"):
        flipped = rng.random(3000) < 0.15
        given[flipped] = (labels[flipped] + 1) % classes
    else:  # One class in four, which the models give without a doubt.
        flipped = (labels < max(classes // 4, 1)) & (rng.random(3000) < 0.3)
        given[flipped] = (labels[flipped] + 1) % classes
    if kind == "ties":  # Which of those that are equally sure stand first says nothing.
        order = np.argsort(flipped, kind="stable")
        known, given = known[order], given[order]
    assert calm_anchors(known, given, 0.1) is None


def overconfident(rng: np.random.Generator, classes: int, rows: int) -> tuple[Floats, Integers, Integers]:
    """Probabilities of models that say too much, of half of the classes most; labels that are all right; and the classes predicted."""
    labels = rng.integers(0, classes, rows)
    hard = labels % 2 == 1
    sure = np.clip(rng.normal(np.where(hard, 0.93, 0.995), np.where(hard, 0.02, 0.002)), 0.5, 0.9995)
    right = rng.random(rows) < np.where(hard, 0.8, 0.999)
    taken = np.where(right, labels, (labels + 2 * rng.integers(1, classes // 2, rows)) % classes)
    known = np.repeat(((1.0 - sure) / (classes - 1))[:, None], classes, axis=1)
    known[np.arange(rows), taken] = sure
    return known, labels, taken


def test_where_the_anchors_of_hard_classes_alone_are_contradicted_the_surest_rows_of_any_class_count() -> None:
    known, given, _ = overconfident(np.random.default_rng(3), 20, 4000)
    wrong, number = contradicting(anchor_counts(known, given, 0.1))
    assert wrong / number > 0.05
    found = calm_anchors(known, given, 0.1)
    assert found is not None
    assert contradicting(found)[0] <= 0.01 * contradicting(found)[1] and found.sum() == pytest.approx(400, abs=2)


def test_what_a_hard_class_is_called_often_is_a_habit_still() -> None:
    known, labels, taken = overconfident(np.random.default_rng(4), 20, 4000)
    given = np.where((taken == 5) & (np.random.default_rng(5).random(4000) < 0.4), 8, labels)
    every, found = anchor_counts(known, given, 0.1), calm_anchors(known, given, 0.1)
    assert found is not None
    assert found[5, 8] == every[5, 8] > 0.3 * every[5].sum() and found[5, 5] == every[5, 5]
    assert found[5].sum() < every[5].sum(), "its other labels are no habit"
    others = np.delete(found, 5, axis=0)
    assert contradicting(found)[0] == found[5].sum() - found[5, 5] + others.sum() - sum(found[k, k] for k in range(20) if k != 5)
    assert others.sum() - sum(found[k, k] for k in range(20) if k != 5) <= 0.01 * others.sum()
