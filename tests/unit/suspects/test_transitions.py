"""How labels go wrong, estimated from the surest rows: as defined, and held to even errors where the labels do not say otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cartograph.data.arrays import Floats
from cartograph.suspects.anchors import anchor_counts
from cartograph.suspects.through_noise import sharpen
from cartograph.suspects.transitions import counted_transition, even_transition, likely_transition
from tests.made_noise import ONE_WAY, noisy_with_truth


def even_noise(n_classes: int, wrong: float) -> Floats:
    return np.where(np.eye(n_classes, dtype=bool), 1 - wrong, wrong / (n_classes - 1))


@pytest.mark.parametrize("pseudo_rows", [0.5, 20.0, math.inf])
def test_so_many_rows_of_even_errors_are_added(pseudo_rows: float) -> None:
    counts = np.array([[8.0, 2.0, 0.0], [0.0, 19.0, 1.0], [0.0, 0.0, 0.0]])
    even = even_noise(3, 0.1)
    added = min(pseudo_rows, 1e15)
    expected = np.stack([(own + added * noise) / (own.sum() + added) for own, noise in zip(counts, even, strict=True)])
    np.testing.assert_allclose(counted_transition(counts, pseudo_rows), expected, atol=1e-12)


def foretold(counts: np.ndarray, pseudo_rows: float) -> float:
    """Return the log probability of each anchor's label by the others of its class, one anchor after the other."""
    even = even_noise(len(counts), 1.0 - np.trace(counts) / counts.sum())
    total = 0.0
    for predicted, label in zip(*np.nonzero(counts), strict=True):
        others = counts[predicted].copy()
        others[label] -= 1.0
        added = min(pseudo_rows, 1e15)
        total += counts[predicted, label] * math.log((others[label] + added * even[predicted, label]) / (others.sum() + added))
    return total


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
        through = sum(math.log(true[row] @ transition[:, label]) for row, label in enumerate(given))
        likely.append(math.log(ratio**place) + math.sqrt(2 / 3) * through + foretold(counts, 20.0 * (1, 3, 10, 30, math.inf)[place]) / 3)
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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_classes_that_overlap_are_no_habit(seed: int) -> None:
    # Thirty classes, each of which a model tells from its neighbour only where it is sure; errors are even.
    rng = np.random.default_rng(seed)
    true, logits = rng.integers(0, 30, 3000), rng.normal(0.0, 0.5, (3000, 30))
    logits[np.arange(3000), true] += rng.normal(3.0, 2.0, 3000)
    logits[np.arange(3000), true ^ 1] += 2.0
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(30, p=row) for row in probabilities])
    given = np.where(rng.random(3000) < 0.08, (labels + rng.integers(1, 30, 3000)) % 30, labels)
    probabilities = 0.92 * probabilities + 0.08 / 30
    counts = anchor_counts(probabilities, given, 0.1)
    found, even = likely_transition(probabilities, given, counts, 20.0), counted_transition(counts, math.inf)
    assert np.abs(found - even).max() < 0.4 * np.abs(counted_transition(counts, 20.0) - even).max()


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
