"""Out-of-fold scores of gradient-boosted trees on the columns of a table, after a few and after many trees.

Each fold's trees are fitted once and read at several stages: a wrong label is learnt late, so the early stages doubt it where the late ones
have learnt their fold's errors.

Cost: O(folds · classes · trees · n_examples · n_columns).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Floats32, Integers
from cartograph.features.tables import TreeColumns

STAGES = (10, 25, 60)
"""Trees per class after which the scores are read."""

_LEAST = 1e-4
_LEAVES, _RATE, _PENALTY = 8, 0.1, 1.0
_ROWS_OF_LEAF = (5, 20)
_THREADS = 1


def out_of_fold_boosting(
    columns: TreeColumns, labels: Integers, n_classes: int, fold: Integers, stages: Sequence[int] = STAGES
) -> list[Floats32]:
    """Return, per stage, the scores of each row by trees of the other folds, ``(n_examples, n_classes)``.

    Scores are log probabilities, centred per row; higher = more likely. A class that the other folds do not have is the least likely.

    Args:
        columns: numbers, and ids of categories, of each row.
        labels: label ids in [0, n_classes), ``(n_examples,)``.
        n_classes: two or more.
        fold: fold ids from 0 on, ``(n_examples,)``.
        stages: numbers of trees, ascending.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    out = [np.full((len(labels), n_classes), _LEAST) for _ in stages]
    least, most = _ROWS_OF_LEAF
    for part in range(int(fold.max()) + 1):
        held_out, taught = fold == part, fold != part
        if len(present := np.unique(labels[taught])) < 2:
            for table in out:
                table[np.ix_(held_out, present)] = 1.0
            continue
        model = HistGradientBoostingClassifier(
            learning_rate=_RATE,
            max_iter=max(stages),
            max_leaf_nodes=_LEAVES,
            min_samples_leaf=int(np.clip(taught.sum() // 40, least, most)),
            l2_regularization=_PENALTY,
            categorical_features=columns.categorical if columns.categorical.any() else None,
            early_stopping=False,
            random_state=0,
        )
        # One thread: the sums in a histogram, and so the trees, are then the same on every machine.
        with threadpool_limits(_THREADS, "openmp"):
            model.fit(columns.values[taught], labels[taught])
            for stage, found in enumerate(model.staged_predict_proba(columns.values[held_out]), start=1):
                if stage in stages:
                    out[stages.index(stage)][np.ix_(held_out, model.classes_)] = np.maximum(found, _LEAST)
    return [_centred(np.log(table)) for table in out]


def _centred(logs: np.ndarray) -> Floats32:
    centred: Floats32 = (logs - logs.mean(axis=1, keepdims=True)).astype(np.float32)
    return centred
