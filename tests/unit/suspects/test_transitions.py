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
    contradicting,
    contradicts_less,
    counted_transition,
    even_transition,
    likely_transition,
    surest_anchors,
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


def test_the_surest_quarter_is_of_each_class_with_many_anchors_and_of_the_others_together() -> None:
    sure = np.concatenate([np.linspace(0.99, 0.8, 400), np.linspace(0.7, 0.6, 400)])
    known = np.where((np.arange(800) < 400)[:, None], np.stack([sure, 1.0 - sure], axis=1), np.stack([1.0 - sure, sure], axis=1))
    given = np.repeat([0, 1], 400)
    given[400:410] = 0
    # A class that is unsure throughout shows its own habits: its surest ten are wrong.
    assert surest_anchors(known, given, 0.1).tolist() == [[10.0, 0.0], [10.0, 0.0]]
    # Few anchors to a class: the surest of all are the first class's.
    assert surest_anchors(known, given, 0.09).tolist() == [[18.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("surest", "all_of_them", "less"),
    [
        ((1, 96), (85, 386), True),
        ((16, 96), (85, 386), False),
        ((0, 10), (4, 40), False),
        ((9, 113), (40, 458), False),
        ((12, 113), (100, 458), True),
        ((0, 0), (0, 5), False),
    ],
)
def test_the_surest_contradict_less_where_that_is_no_chance(surest: tuple[int, int], all_of_them: tuple[int, int], less: bool) -> None:
    def counts(wrong: int, number: int) -> Floats:
        return np.array([[number - wrong, wrong], [0, 0]], dtype=float)

    assert contradicts_less(counts(*surest), counts(*all_of_them)) == less
