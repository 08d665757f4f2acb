"""Out-of-fold scores of boosted trees."""

from __future__ import annotations

import numpy as np

from cartograph.data.folds import assign_folds
from cartograph.features.boosting import STAGES, out_of_fold_boosting
from cartograph.features.tables import tree_columns
from tests.training_sets import small_table


def test_a_row_does_not_speak_for_its_own_label() -> None:
    rows = small_table(120)
    labels = rows["label"].to_numpy().astype(np.intp)
    fold = assign_folds(labels, 4, np.random.default_rng(0))
    before = out_of_fold_boosting(tree_columns(rows), labels, 2, fold)
    assert len(before) == len(STAGES) and all(scores.shape == (120, 2) and np.isfinite(scores).all() for scores in before)
    assert (before[-1].argmax(axis=1) == labels).mean() > 0.85
    turned = labels.copy()
    turned[fold == 2] = 1 - turned[fold == 2]
    after = out_of_fold_boosting(tree_columns(rows), turned, 2, fold)
    assert all(np.array_equal(one[fold == 2], other[fold == 2]) for one, other in zip(before, after, strict=True))


def test_a_class_that_the_other_folds_lack_is_the_least_likely() -> None:
    rows = small_table(60)
    labels = rows["label"].to_numpy().astype(np.intp)
    labels[0] = 2
    fold = np.arange(60) % 3
    for scores in out_of_fold_boosting(tree_columns(rows), labels, 3, fold):
        assert (scores[fold == fold[0]].argmin(axis=1) == 2).all()


def test_folds_that_teach_one_class_alone() -> None:
    rows = small_table(40)
    labels = np.zeros(40, np.intp)
    labels[:20] = 1
    fold = (np.arange(40) >= 20).astype(np.intp)
    for scores in out_of_fold_boosting(tree_columns(rows), labels, 2, fold):
        assert np.array_equal(scores.argmax(axis=1), fold)
