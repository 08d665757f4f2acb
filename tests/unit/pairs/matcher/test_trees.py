from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from cartograph.pairs.matcher.trees import Trees


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
