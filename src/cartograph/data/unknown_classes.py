"""Which classes the models that doubt labels do not know."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Ids, Integers

NEARLY_ALL = 0.8
"""Share of a class's rows from which on, if they are suspects, the models do not know the class."""


def unknown_classes(labels: Ids, flagged: Bools, n_classes: int) -> Integers:
    """Return the ids of classes of which nearly all rows are suspects: models that do not know a class doubt whatever is in it.

    Args:
        labels: given label ids, ``(n_examples,)``.
        flagged: which rows are suspects, ``(n_examples,)``.
        n_classes: how many classes there are.

    >>> unknown_classes(np.array([0, 0, 0, 1, 2]), np.array([False, True, False, True, False]), 3).tolist()
    [1]
    """
    rows, suspects = (np.bincount(of, minlength=n_classes) for of in (labels, labels[flagged]))
    return np.flatnonzero((rows > 0) & (suspects >= NEARLY_ALL * rows))
