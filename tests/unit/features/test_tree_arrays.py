from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

from cartograph.features.tree_arrays import HistogramTrees, Trees


def test_arrays_say_what_scikit_learn_says() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 6)).astype(np.float32)
    table[:, 2] = np.round(table[:, 2])
    label = (table[:, 0] + table[:, 2] > 0.3).astype(int)
    forest = ExtraTreesClassifier(20, random_state=0).fit(table[:300], label[:300])
    trees = Trees.of([one.tree_ for one in forest.estimators_], [one.tree_.value[:, 0, 1] for one in forest.estimators_])
    again = Trees.from_arrays(trees.arrays("x"), "x")
    assert again.fitted == ()
    assert np.array_equal(again.total(table), trees.total(table))
    assert np.array_equal(replace(trees, fitted=()).total(table), trees.total(table))
    assert np.allclose(trees.total(table) / 20, forest.predict_proba(table)[:, 1])


def test_a_threshold_parts_the_same_numbers_in_32_bits() -> None:
    table = np.array([[0.1], [0.1000001], [0.3]], np.float32)
    forest = ExtraTreesClassifier(30, random_state=1).fit(table, [0, 1, 1])
    trees = Trees.of([one.tree_ for one in forest.estimators_], [one.tree_.value[:, 0, 1] for one in forest.estimators_])
    assert np.array_equal(Trees.from_arrays(trees.arrays("x"), "x").total(table), trees.total(table))


@pytest.mark.parametrize("classes", [2, 3])
def test_boosted_trees_with_missing_values_and_categories_say_what_scikit_learn_says(classes):
    rng = np.random.default_rng(classes)
    table = rng.normal(size=(800, 5)).astype(np.float32)
    table[:, 0] = rng.integers(0, 40, 800)
    table[:, 1] = rng.integers(0, 3, 800)
    label = np.sum([np.isin(table[:, 0] % 7, [1, 4]), table[:, 2] > 0.3, table[:, 3] > 1], axis=0) % classes
    table[rng.random(table.shape) < 0.15] = np.nan
    model = HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=8, categorical_features=[0, 1], random_state=0).fit(
        table[:500], label[:500]
    )
    table[500:520, 0] = np.nan
    trees = HistogramTrees.of_boosting(model, range(12))
    scores = trees.values(table).reshape(800, 12, -1).sum(axis=1) + model._baseline_prediction
    assert np.allclose(scores[:, 0] if classes == 2 else scores, model.decision_function(table), rtol=0, atol=1e-12)
    assert trees.sets.any() and trees.missing_left.any() and not trees.missing_left.all()
    again = HistogramTrees.from_arrays(trees.arrays("x"), "x")
    assert np.array_equal(again.values(table), trees.values(table))
    assert np.allclose(again.total(table), trees.values(table).sum(axis=1))
    later = HistogramTrees.of_boosting(model, range(7, 12))
    assert np.array_equal(later.values(table), trees.values(table)[:, 7 * (len(trees.roots) // 12) :])
