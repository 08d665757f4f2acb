"""Scores of rows by decision trees that did not learn from them: boosted ones, after few and many trees and of many leaves, and a forest.

Each fold's boosted trees are fitted once and read at several stages: a wrong label is learnt late, so the early stages doubt it where the
late ones have learnt their fold's errors. The forest's trees are cut at random (extremely randomised trees: Geurts, Ernst and Wehenkel,
Machine Learning 2006) and vote, so that no single row decides.

Cost: O(folds · trees · n_examples · n_columns), of boosting times the classes. A forest's tree learns from at most 20,000 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cartograph.data.arrays import Bools, Floats, Floats32, Integers
from cartograph.data.progress import Progress
from cartograph.features.tables import TreeColumns

STAGES = (10, 25, 60)
"""Boosted trees per class after which the scores are read."""

LEAVES, DEEP_LEAVES = 8, 31
"""Of boosted trees. Few, so that a wrong label is learnt late; many, for labels that follow from several columns together: of 4,221 pupils,
whose kind of class follows from school and teacher, a tenth of the labels wrong, average precision is .43 without these, .68 with them."""

_LEAST = 1e-4
_RATE, _PENALTY = 0.1, 1.0
_ROWS_OF_LEAF = (5, 20)
_FOREST, _FOREST_LEAF, _FOREST_ROWS, _HELD_OUT = 100, 3, 20_000, 60

_ROUNDS, _FEWEST_ROUNDS, _MOST_TREES = 100, 30, 300
"""Of boosting to compare rows by: scikit-learn's default; of many classes, each of which has a tree a round, fewer."""


def out_of_fold_boosting(
    columns: TreeColumns,
    labels: Integers,
    n_classes: int,
    fold: Integers,
    progress: Progress | None = None,
    *,
    leaves: int = LEAVES,
    stages: Sequence[int] = STAGES,
) -> list[Floats32]:
    """Return, per stage, the scores of each row by boosted trees of the other folds, ``(n_examples, n_classes)``.

    Scores are log probabilities, centred per row; higher = more likely. A class that the other folds do not have is the least likely.

    Args:
        columns: numbers, and ids of categories, of each row.
        labels: label ids in [0, n_classes), ``(n_examples,)``.
        n_classes: two or more.
        fold: fold ids from 0 on, ``(n_examples,)``.
        progress: called with (folds done, folds).
        leaves: of a tree, at most.
        stages: numbers of trees per class after which the scores are read.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    def fitted(taught: Bools, held_out: Bools) -> tuple[Any, list[Floats]]:
        least, most = _ROWS_OF_LEAF
        model = HistGradientBoostingClassifier(
            learning_rate=_RATE,
            max_iter=max(stages),
            max_leaf_nodes=leaves,
            min_samples_leaf=int(np.clip(taught.sum() // 40, least, most)),
            l2_regularization=_PENALTY,
            categorical_features=columns.categorical if columns.categorical.any() else None,
            early_stopping=False,
            random_state=0,
        )
        # One thread: the sums in a histogram, and so the trees, are then the same on every machine.
        with threadpool_limits(1, "openmp"):
            model.fit(columns.values[taught], labels[taught])
            found = enumerate(model.staged_predict_proba(columns.values[held_out]), start=1)
            return model.classes_, [shares for stage, shares in found if stage in stages]

    return _out_of_fold(fitted, labels, n_classes, fold, len(stages), progress)


def out_of_fold_forest(
    columns: TreeColumns, labels: Integers, n_classes: int, fold: Integers, progress: Progress | None = None
) -> Floats32:
    """Return the scores of each row by a forest of the other folds, ``(n_examples, n_classes)``; else as ``out_of_fold_boosting``."""
    from sklearn.ensemble import ExtraTreesClassifier

    def fitted(taught: Bools, held_out: Bools) -> tuple[Any, list[Floats]]:
        many = bool(taught.sum() > _FOREST_ROWS)
        model = ExtraTreesClassifier(
            _FOREST, min_samples_leaf=_FOREST_LEAF, bootstrap=many, max_samples=_FOREST_ROWS if many else None, n_jobs=1, random_state=0
        )
        model.fit(columns.values[taught], labels[taught])
        return model.classes_, [model.predict_proba(columns.values[held_out])]

    return _out_of_fold(fitted, labels, n_classes, fold, 1, progress)[0]


def held_out_forest(columns: TreeColumns, labels: Integers, n_classes: int, weights: Floats32) -> Floats32:
    """Return the scores of every row by a forest that was grown on some of them, ``(n_examples, n_classes)``, as above.

    Its trees are grown out, as those of forests at their defaults are, so that a wrong label is learnt by heart.

    Args:
        columns: numbers, and ids of categories, of each row.
        labels: label ids in [0, n_classes), ``(n_examples,)``; those of rows without weight are not used.
        n_classes: two or more.
        weights: how much each row counts, 0 or more, ``(n_examples,)``.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    taught = weights > 0
    out = np.full((len(labels), n_classes), _LEAST)
    if taught.any():
        many = bool(taught.sum() > _FOREST_ROWS)
        model = ExtraTreesClassifier(_HELD_OUT, bootstrap=many, max_samples=_FOREST_ROWS if many else None, n_jobs=1, random_state=0)
        model.fit(columns.values[taught], labels[taught], sample_weight=weights[taught])
        out[:, model.classes_] = np.maximum(model.predict_proba(columns.values), _LEAST)
    return _centred(np.log(out))


def held_out_boosting(columns: TreeColumns, labels: Integers, n_classes: int, weights: Floats32) -> Floats32:
    """Return the scores of every row by boosted trees that were grown on some of them; else as ``held_out_forest``.

    They are grown at scikit-learn's defaults, as most who train on a table grow them (of more than three classes in fewer rounds): each
    tree learns what the others did not, so that wrong labels are learnt that a forest votes down.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    taught = weights > 0
    out = np.full((len(labels), n_classes), _LEAST)
    present = np.unique(labels[taught])
    if len(present) < 2:
        out[:, present] = 1.0
        return _centred(np.log(out))
    categorical = columns.categorical if columns.categorical.any() else None
    rounds = min(max(_MOST_TREES // len(present), _FEWEST_ROUNDS), _ROUNDS)
    model = HistGradientBoostingClassifier(max_iter=rounds, categorical_features=categorical, early_stopping=False, random_state=0)
    with threadpool_limits(1, "openmp"):
        model.fit(columns.values[taught], labels[taught], sample_weight=weights[taught])
        out[:, model.classes_] = np.maximum(model.predict_proba(columns.values), _LEAST)
    return _centred(np.log(out))


def _out_of_fold(fitted: Any, labels: Integers, n_classes: int, fold: Integers, tables: int, progress: Progress | None) -> list[Floats32]:
    out = [np.full((len(labels), n_classes), _LEAST) for _ in range(tables)]
    for part in range(int(fold.max()) + 1):
        held_out, taught = fold == part, fold != part
        if len(present := np.unique(labels[taught])) < 2:
            classes, found = present, [np.ones((int(held_out.sum()), len(present)))] * tables
        else:
            classes, found = fitted(taught, held_out)
        for table, shares in zip(out, found, strict=True):
            table[np.ix_(held_out, classes)] = np.maximum(shares, _LEAST)
        if progress is not None:
            progress(part + 1, int(fold.max()) + 1)
    return [_centred(np.log(table)) for table in out]


def _centred(logs: Floats) -> Floats32:
    centred: Floats32 = (logs - logs.mean(axis=1, keepdims=True)).astype(np.float32)
    return centred
