"""Folds of a train set, balanced by class."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Ids, Integers
from cartograph.errors import InputError


def assign_folds(labels: Ids, folds: int, rng: np.random.Generator) -> Integers:
    """Return a fold id in [0, folds) for each row; fold sizes, and each class's rows per fold, differ by one at most.

    A class with fewer rows than folds is in some folds only; of one row, no model learns it for that row.

    Args:
        labels: label ids, ``(n_examples,)``.
        folds: 2 or more.
        rng: shuffles the rows.

    Raises:
        InputError: fewer than two folds, or more than there are rows.

    >>> assign_folds(np.array([0, 1, 0, 1]), 2, np.random.default_rng(1)).tolist()
    [0, 0, 1, 1]
    """
    if folds < 2:
        raise InputError(f"`folds` must be 2 or more, so that each row has models that did not see it, but is {folds}.")
    if folds > len(labels):
        raise InputError(f"`folds` is {folds}, but there are only {len(labels):,} rows; use fewer folds.")
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold
