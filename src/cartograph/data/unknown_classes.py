"""Which classes the models that doubt labels do not know."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Floats, Ids, Integers

NEARLY_ALL = 0.8
"""Share of a class's rows from which on, if they are suspects, the models do not know the class."""

SURELY_RIGHT, KNOWN = 0.1, 5
"""Unless the label of so many of its rows is wrong with less than such a probability: then the models know the class, and most of what has
its label is of another. Of 16 classes of texts and tables nearly all of whose rows were suspects though most were right, none had more than
two such rows; of the 13 that had five, at least four in five of the suspects were wrong."""


def unknown_classes(labels: Ids, flagged: Bools, n_classes: int, wrong: Floats) -> Integers:
    """Return the ids of classes of which nearly all rows are suspects: models that do not know a class doubt whatever is in it.

    Args:
        labels: given label ids, ``(n_examples,)``.
        flagged: which rows are suspects, ``(n_examples,)``.
        n_classes: how many classes there are.
        wrong: probability that each label is wrong, ``(n_examples,)``.

    >>> labels, doubted = np.array([0, 0, 0, 1, 2]), np.array([False, True, False, True, False])
    >>> unknown_classes(labels, doubted, 3, np.where(doubted, 0.9, 0.2)).tolist()
    [1]
    >>> unknown_classes(np.zeros(50, int), np.arange(50) > 4, 1, np.where(np.arange(50) > 4, 0.9, 0.02)).tolist()
    []
    """
    rows, suspects, surely = (np.bincount(of, minlength=n_classes) for of in (labels, labels[flagged], labels[wrong < SURELY_RIGHT]))
    return np.flatnonzero((rows > 0) & (suspects >= NEARLY_ALL * rows) & (surely < KNOWN))
