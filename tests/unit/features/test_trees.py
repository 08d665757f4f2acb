"""Out-of-fold scores of decision trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cartograph.data.folds import assign_folds
from cartograph.features.tables import TreeColumns, tree_columns
from cartograph.features.trees import DEEP_LEAVES, STAGES, held_out_boosting, held_out_forest, out_of_fold_boosting, out_of_fold_forest
from tests.training_sets import small_table


def scores_of(rows: pa.Table, labels: np.ndarray, classes: int, fold: np.ndarray) -> list[np.ndarray]:
    """What the boosted trees say at each stage, and the forest."""
    columns = tree_columns(rows)
    return [*out_of_fold_boosting(columns, labels, classes, fold), out_of_fold_forest(columns, labels, classes, fold)]


def test_a_row_does_not_speak_for_its_own_label() -> None:
    rows = small_table(120)
    labels = rows["label"].to_numpy().astype(np.intp)
    fold = assign_folds(labels, 4, np.random.default_rng(0))
    before = scores_of(rows, labels, 2, fold)
    assert len(before) == len(STAGES) + 1 and all(scores.shape == (120, 2) and np.isfinite(scores).all() for scores in before)
    assert all((scores.argmax(axis=1) == labels).mean() > 0.85 for scores in before)
    turned = labels.copy()
    turned[fold == 2] = 1 - turned[fold == 2]
    after = scores_of(rows, turned, 2, fold)
    assert all(np.array_equal(one[fold == 2], other[fold == 2]) for one, other in zip(before, after, strict=True))


def test_large_trees_know_what_hangs_on_four_columns_together() -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 2, (800, 6)).astype(float)
    labels = values[:, :4].sum(axis=1).astype(np.intp) % 2
    columns, fold = TreeColumns(values, np.zeros(6, bool)), np.arange(800) % 4
    small, large = (
        out_of_fold_boosting(columns, labels, 2, fold, leaves=leaves, stages=(60,))[0].argmax(axis=1) for leaves in (4, DEEP_LEAVES)
    )
    assert (small == labels).mean() < 0.95 < (large == labels).mean()


def test_a_class_that_the_other_folds_lack_is_the_least_likely() -> None:
    rows = small_table(60)
    labels = rows["label"].to_numpy().astype(np.intp)
    labels[0] = 2
    fold = np.arange(60) % 3
    for scores in scores_of(rows, labels, 3, fold):
        assert (scores[fold == fold[0]].argmin(axis=1) == 2).all()


def test_folds_that_teach_one_class_alone() -> None:
    rows = small_table(40)
    labels = np.zeros(40, np.intp)
    labels[:20] = 1
    fold = (np.arange(40) >= 20).astype(np.intp)
    for scores in scores_of(rows, labels, 2, fold):
        assert np.array_equal(scores.argmax(axis=1), fold)


def test_a_forest_learns_from_the_rows_with_weight_and_by_heart() -> None:
    rng = np.random.default_rng(3)
    columns = TreeColumns(rng.normal(size=(300, 3)), np.zeros(3, bool))
    labels = (columns.values[:, 0] > 0).astype(np.int64)
    weights = np.ones(300, np.float32)
    weights[200:] = 0
    scores = held_out_forest(columns, labels, 3, weights)
    assert scores.shape == (300, 3) and (scores.argmax(axis=1)[:200] == labels[:200]).all() and (scores.argmax(axis=1) < 2).all()
    assert np.mean(scores.argmax(axis=1)[200:] == labels[200:]) > 0.9
    turned = labels.copy()
    turned[200:] = 1 - turned[200:]
    np.testing.assert_array_equal(held_out_forest(columns, turned, 3, weights), scores)
    wrong = np.arange(200) % 5 == 0
    turned[:200] = np.where(wrong, 1 - labels[:200], labels[:200])
    heard, unheard = (held_out_forest(columns, turned, 3, weights * np.where(np.arange(300) % 5 == 0, least, 1)) for least in (1, 0))
    right = [np.mean(own.argmax(axis=1)[200:] == labels[200:]) for own in (heard, unheard)]
    assert (heard.argmax(axis=1)[:200] == turned[:200]).all() and right[1] > right[0]
    assert held_out_forest(columns, labels, 3, np.zeros(300, np.float32)).max() == 0


def test_of_many_classes_boosted_trees_to_compare_rows_by_are_grown_in_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.ensemble

    rounds: list[int] = []

    class Counted(sklearn.ensemble.HistGradientBoostingClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            rounds.append(self.max_iter)
            self.set_params(max_iter=1)
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(sklearn.ensemble, "HistGradientBoostingClassifier", Counted)
    columns = TreeColumns(np.arange(240.0)[:, None], np.array([False]))
    for n_classes in (2, 3, 5, 40):
        held_out_boosting(columns, np.arange(240) % n_classes, n_classes, np.ones(240, np.float32))
    assert rounds == [100, 100, 60, 30]


def test_boosted_trees_learn_from_the_rows_with_weight_and_learn_wrong_labels() -> None:
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 4, 600)
    columns = TreeColumns(np.stack([rng.normal(size=600), np.where(kinds < 2, np.nan, kinds)], axis=1), np.array([False, True]))
    labels = ((columns.values[:, 0] > 0) & (kinds != 3)).astype(np.int64)
    weights = np.ones(600, np.float32)
    weights[400:] = 0
    scores = held_out_boosting(columns, labels, 3, weights)
    assert scores.shape == (600, 3) and np.mean(scores.argmax(axis=1) == labels) > 0.95 and (scores.argmax(axis=1) < 2).all()
    turned = labels.copy()
    turned[400:] = 1 - turned[400:]
    np.testing.assert_array_equal(held_out_boosting(columns, turned, 3, weights), scores)
    wrong = np.arange(400) % 4 == 0
    turned[:400] = np.where(wrong, 1 - labels[:400], labels[:400])
    heard, unheard = (held_out_boosting(columns, turned, 3, weights * np.where(np.arange(600) % 4 == 0, least, 1)) for least in (1, 0))
    right = [np.mean(own.argmax(axis=1)[400:] == labels[400:]) for own in (heard, unheard)]
    assert right[1] > right[0] + 0.02
    alone = held_out_boosting(columns, np.full(600, 2), 3, weights)
    assert (alone.argmax(axis=1) == 2).all(), "a class alone is told of every row"
    assert held_out_boosting(columns, labels, 3, np.zeros(600, np.float32)).max() == 0
