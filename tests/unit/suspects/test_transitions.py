"""How labels go wrong, estimated from the surest rows: as defined, and held to even errors where the labels do not say otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.suspects.through_noise import sharpen
from cartograph.suspects.transitions import (
    anchor_counts,
    anchor_share,
    calm_anchors,
    contradicting,
    counted_transition,
    even_transition,
    likely_transition,
)
from tests.made_noise import ONE_WAY, noisy_with_truth


def surest_rows_tables(probabilities: Floats, labels: Integers, share: float) -> Floats:
    """How often the surest rows predicted as each class have each label."""
    n_classes = probabilities.shape[1]
    counts = np.zeros((n_classes, n_classes))
    for label in range(n_classes):
        rows = [row for row in range(len(labels)) if probabilities[row].argmax() == label]
        for row in sorted(rows, key=lambda row: -probabilities[row, label])[: math.ceil(share * len(rows) - 1e-9)]:
            counts[label, labels[row]] += 1
    return counts


def even_noise(n_classes: int, wrong: float) -> Floats:
    return np.where(np.eye(n_classes, dtype=bool), 1 - wrong, wrong / (n_classes - 1))


@pytest.mark.parametrize("share", [0.1, 0.25, 1.0])
def test_anchors_are_the_surest_rows_of_each_predicted_class(share: float) -> None:
    probabilities, given, _ = noisy_with_truth(even_noise(3, 0.2), 400, 4.0, seed=3)
    counts = anchor_counts(probabilities, given, share)
    np.testing.assert_array_equal(counts, surest_rows_tables(probabilities, given, share))
    assert contradicting(counts) == (counts.sum() - np.trace(counts), counts.sum())


@pytest.mark.parametrize("pseudo_rows", [0.5, 20.0, math.inf])
def test_so_many_rows_of_even_errors_are_added(pseudo_rows: float) -> None:
    counts = np.array([[8.0, 2.0, 0.0], [0.0, 19.0, 1.0], [0.0, 0.0, 0.0]])
    even = even_noise(3, 0.1)
    added = min(pseudo_rows, 1e15)
    expected = np.stack([(own + added * noise) / (own.sum() + added) for own, noise in zip(counts, even, strict=True)])
    np.testing.assert_allclose(counted_transition(counts, pseudo_rows), expected, atol=1e-12)


@pytest.mark.parametrize(("rare", "missed", "times"), [(1, False, 1.0), (3, False, None), (20, False, 5.0), (20, True, 1.0)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_transition_is_the_mean_by_how_likely_each_strength_is(seed: int, rare: int, missed: bool, times: float | None) -> None:
    probabilities, given, _ = noisy_with_truth(even_noise(3, 0.2), 700, 4.0, seed)
    # Of two classes one row in so many stays.
    kept = (given == 0) | (np.arange(700) % rare == 0)
    probabilities, given = probabilities[kept], given[kept]
    shares = [float((given == label).mean()) for label in range(3)]
    uneven = (3 / math.exp(-sum(share * math.log(share) for share in shares))) ** 8
    if times is None:
        assert 1.1 < uneven < 5
    ratio = 2 * (uneven if times is None else times)
    counts = anchor_counts(probabilities, given, 0.1)
    tried = [counted_transition(counts, 20.0 * strength) for strength in (1, 3, 10, 30, math.inf)]
    likely = []
    for place, transition in enumerate(tried):
        true = sharpen(probabilities, given, transition).probabilities(probabilities)
        prior = ratio**place
        likely.append(math.log(prior) + sum(math.log(true[row] @ transition[:, label]) for row, label in enumerate(given)))
    weights = np.exp(np.array(likely) - max(likely))
    expected = sum(weight * transition for weight, transition in zip(weights / weights.sum(), tried, strict=True))
    found = likely_transition(probabilities, given, counts, 20.0, missed=missed)
    np.testing.assert_allclose(found, expected, atol=1e-9 if rare > 1 else 1e-3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_errors_that_go_one_way_stay_and_even_ones_are_evened() -> None:
    probabilities, given, _ = noisy_with_truth(ONE_WAY, 3000, 4.0, seed=5)
    counts = anchor_counts(probabilities, given, 0.1)
    found, held_least = likely_transition(probabilities, given, counts, 20.0), counted_transition(counts, 20.0)
    np.testing.assert_allclose(found, held_least, atol=0.02)
    distances = []
    for seed in range(6):
        probabilities, given, _ = noisy_with_truth(even_noise(3, 0.2), 700, 4.0, seed)
        counts = anchor_counts(probabilities, given, 0.1)
        ways = likely_transition(probabilities, given, counts, 20.0), counted_transition(counts, 20.0)
        distances.append([np.abs(way - even_noise(3, 0.2)).mean() for way in ways])
    nearer, counted = np.mean(distances, axis=0)
    assert nearer < 0.8 * counted, "what a few anchors show by chance is no habit"


def test_even_errors_leave_the_same_share_of_each_class() -> None:
    np.testing.assert_allclose(even_transition(4, 0.3), even_noise(4, 0.3))


def test_the_few_sure_rows_of_a_rare_class_are_no_habit_unless_any_label_is_easily_missed() -> None:
    # Of 700 rows 30 look like the rare class, less surely than the others like theirs, and a fifth of these has the other label.
    rng = np.random.default_rng(7)
    sure = np.concatenate([rng.uniform(0.0, 0.1, 670), rng.uniform(0.5, 0.9, 30)])
    given = np.concatenate([np.arange(670) % 67 == 0, np.arange(30) % 5 > 0]).astype(np.intp)
    probabilities = np.column_stack([1 - sure, sure])
    counts = np.array([[99.0, 1.0], [3.0, 7.0]])
    as_others, as_rare = (likely_transition(probabilities, given, counts, 20.0, missed=missed) for missed in (True, False))
    even = counted_transition(counts, math.inf)
    assert np.abs(as_rare - even).max() < 0.6 * np.abs(as_others - even).max()


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
