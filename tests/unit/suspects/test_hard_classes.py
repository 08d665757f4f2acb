"""Hard classes and wrong labels: which of them contradicts the rows that models are surest about."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.statistics.proportion import least_share
from cartograph.suspects.anchors import anchor_counts, contradicting
from cartograph.suspects.given_labels import GivenLabels
from cartograph.suspects.hard_classes import are_habits, calm_anchors, calm_transition, even_errors, surest_of_any
from cartograph.suspects.label_doubt import label_doubt


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
    found = surest_of_any(known, given, 0.1)
    assert found is not None
    assert contradicting(found)[0] <= 0.01 * contradicting(found)[1] and found.sum() == pytest.approx(400, abs=2)


def test_what_a_hard_class_is_called_often_is_a_habit_still() -> None:
    known, labels, taken = overconfident(np.random.default_rng(4), 20, 4000)
    given = np.where((taken == 5) & (np.random.default_rng(5).random(4000) < 0.4), 8, labels)
    every, found = anchor_counts(known, given, 0.1), surest_of_any(known, given, 0.1)
    assert found is not None
    assert found[5, 8] == every[5, 8] > 0.3 * every[5].sum() and found[5, 5] == every[5, 5]
    assert found[5].sum() < every[5].sum(), "its other labels are no habit"
    others = np.delete(found, 5, axis=0)
    assert others.sum() - sum(found[k, k] for k in range(20) if k != 5) <= 0.01 * others.sum()


def test_of_two_classes_one_that_is_called_the_other_is_not_held_for_hard() -> None:
    # Models of labels that go one way are less sure of that class: of .88 in place of .995.
    rng = np.random.default_rng(6)
    true = np.arange(2000) % 2
    sure = np.where(true == 0, rng.uniform(0.87, 0.9, 2000), rng.uniform(0.99, 0.999, 2000))
    known = np.where((true == 0)[:, None], np.column_stack([sure, 1 - sure]), np.column_stack([1 - sure, sure]))
    given = np.where((true == 0) & (rng.random(2000) < 0.12), 1, true)
    assert surest_of_any(known, given, 0.1) is not None
    assert calm_transition(GivenLabels(given, known, 20.0), 0.1) is None
    assert label_doubt(known, given).score[given != true].min() > 0.8


def alike(rng: np.random.Generator, rows: int, classes: int, at_random: float) -> tuple[Floats, Integers, Integers]:
    """Probabilities of surer models than they are right, who take half of the classes for their neighbours; labels, and true classes."""
    true = rng.integers(0, classes, rows)
    hard = true % 4 < 2
    taken = np.where(hard & (rng.random(rows) < 0.25), true ^ 1, true)
    known = rng.dirichlet(np.full(classes, 0.3), rows) * 0.02
    sure = rng.uniform(0.6, 0.97, rows)
    known[np.arange(rows), taken] += sure
    known[np.arange(rows), taken ^ 1] += 0.98 - sure
    wrong = rng.random(rows) < at_random
    return known / known.sum(axis=1, keepdims=True), np.where(wrong, (true + rng.integers(1, classes, rows)) % classes, true), true


@pytest.mark.parametrize("at_random", [0.0, 0.08])
def test_of_many_classes_labels_that_nothing_speaks_for_show_how_many_are_given_at_random(at_random: float) -> None:
    known, given, _ = alike(np.random.default_rng(1), 4000, 16, at_random)
    wrong, number = contradicting(anchor_counts(known, given, 0.1))
    assert wrong / number > at_random + 0.08
    found = even_errors(known, given, 0.1)
    assert found is not None
    assert found[0] / found[1] == pytest.approx(at_random, abs=0.035)
    doubt = label_doubt(known, given)
    calm = calm_transition(GivenLabels(given, known, 20.0), 0.1)
    assert calm is not None and calm[1] == found
    np.testing.assert_allclose(calm[0].sum(axis=1), 1.0)
    assert abs(1.0 - np.diag(calm[0]).mean() - at_random) < 0.1
    assert doubt.wrong is None or doubt.wrong.low <= at_random * 4000 <= doubt.wrong.scattered


def test_labels_given_at_random_alone_are_no_hard_rows() -> None:
    rng = np.random.default_rng(2)
    true = rng.integers(0, 16, 4000)
    known = rng.dirichlet(np.full(16, 0.3), 4000) * 0.05
    known[np.arange(4000), true] += 0.95
    given = np.where(rng.random(4000) < 0.1, (true + rng.integers(1, 16, 4000)) % 16, true)
    assert even_errors(known, given, 0.1) is None


def test_a_class_that_is_called_another_for_sure_is_so_beside_hard_ones() -> None:
    known, given, true = alike(np.random.default_rng(3), 4000, 16, 0.0)
    given = np.where((true == 6) & (np.random.default_rng(4).random(4000) < 0.4), 11, given)
    calm = calm_transition(GivenLabels(given, known, 20.0), 0.1)
    assert calm is not None
    assert calm[0][6, 11] == pytest.approx(0.4, abs=0.2) and calm[0][6, 6] == pytest.approx(1.0 - calm[0][6, 11], abs=0.1)
    assert np.diag(calm[0])[[2, 3, 10]].min() > 0.95
    doubt = label_doubt(known, given)
    wrong = given != true
    assert doubt.score[wrong & (true == 6)].mean() > 0.6 > 0.3 > doubt.score[~wrong].mean()


def test_of_few_classes_likely_labels_are_not_told_from_unlikely_ones() -> None:
    known, given, _ = alike(np.random.default_rng(1), 4000, 8, 0.0)
    calm, counts = calm_transition(GivenLabels(given, known, 20.0), 0.1), calm_anchors(known, given, 0.1)
    assert (calm is None) == (counts is None)
    assert calm is None or calm[1] == contradicting(counts)


def test_habits_are_what_a_tenth_of_the_anchors_have_for_sure() -> None:
    counts, totals = np.array([3.0, 9.0, 9.0, 1.0, 40.0]), np.array([10.0, 30.0, 60.0, 1.0, 500.0])
    for confidence in (0.95, 0.999):
        least = [least_share(int(count), int(total), confidence) for count, total in zip(counts, totals, strict=True)]
        assert are_habits(counts, totals, confidence).tolist() == [one > 0.1 for one in least]
    assert are_habits(counts, totals).tolist() == [False, True, False, False, False]
