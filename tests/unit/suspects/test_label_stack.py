"""What a row's other labels say: heard where each label errs for itself, and not where rows are wrong as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import Reading
from cartograph.suspects.label_stack import stacked, vouch
from cartograph.suspects.several_labels import several_doubts

ROWS, CLASSES = 1200, 5


def one_each(share: float, *, rows_wrong: bool) -> tuple[Integers, Integers, Reading]:
    """Labels of which every row has one, in truth and as given, and what a committee reads of the rows."""
    rng = np.random.default_rng(3)
    truth = np.eye(CLASSES, dtype=np.int64)[rng.integers(0, CLASSES, ROWS)]
    vectors = (2.0 * truth - 1.0 + rng.normal(0, 0.7, truth.shape)).astype(np.float32)
    given = truth.copy()
    if rows_wrong:
        wrong = rng.choice(ROWS, round(share * ROWS), replace=False)
        given[wrong] = truth[np.roll(wrong, 1)]
    else:
        given = np.where(rng.random(truth.shape) < share, 1 - truth, truth)
    return truth, given, Reading(None, vectors, None)


def doubts_of(probabilities: Floats, given: Integers) -> Floats:
    return np.where(given == 1, 1.0 - probabilities, probabilities)


def own_committee(truth: Integers, given: Integers) -> tuple[Floats, Floats, list[Integers]]:
    """Log odds of yes by committees that are mostly right, the doubts from them, and folds."""
    odds = np.where(truth == 1, 2.0, -2.0) + np.random.default_rng(4).normal(0, 1.0, truth.shape)
    return odds, doubts_of(1.0 / (1.0 + np.exp(-odds)), given), [np.arange(ROWS) % 5] * truth.shape[1]


@pytest.mark.parametrize("rows_wrong", [True, False])
def test_labels_vouch_for_each_other_where_rows_are_wrong_as_a_whole(rows_wrong: bool) -> None:
    truth, given, _ = one_each(0.1, rows_wrong=rows_wrong)
    odds, doubted, folds = own_committee(truth, given)
    assert vouch(doubted, given, folds, 13) == rows_wrong
    assert vouch(doubted, given, folds, 13, weak=True) == rows_wrong
    wrong: Bools = given != truth
    found = doubts_of(stacked(odds, doubted, given, folds, 13), given)
    least = average_precision(wrong.ravel(), doubted.ravel())
    assert average_precision(wrong.ravel(), found.ravel()) > least + (-0.1 if rows_wrong else 0.01)


@pytest.mark.slow
def test_a_stack_is_the_same_by_the_same_seed_whether_it_samples_or_not() -> None:
    truth, given, _ = one_each(0.05, rows_wrong=False)
    odds, doubted, folds = own_committee(truth, given)
    many = [np.tile(fold, 20) for fold in folds]
    wide = [np.tile(values, (20, 1)) for values in (odds, doubted, given)]
    first, again = (stacked(wide[0], wide[1], wide[2], many, 13) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == wide[0].shape and (first > 0).all() and (first < 1).all()


def test_wrong_rows_of_one_label_each_are_found_and_counted() -> None:
    truth, given, reading = one_each(0.1, rows_wrong=True)
    found = several_doubts(reading, given, [f"label {number}" for number in range(CLASSES)], 13)
    wrong = given != truth
    listed = found.score >= 0.5
    assert wrong[listed].mean() > 0.8 and (listed & wrong).sum() > 0.5 * wrong.sum()
    assert found.together.wrong is not None and found.together.wrong.low <= wrong.sum() <= found.together.wrong.scattered
