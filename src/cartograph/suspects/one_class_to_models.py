"""Classes that models tell apart hardly better than chance: that one of their labels should be the other cannot be found.

They may be one class under two names: of 720 packages in seven classes, half of the games called leisure, 20 right labels were surely
wrong, and dropped; now none is.

Where texts come in near copies whose labels are of two such classes, each copy is predicted as the others are labelled, and so is surely of
the other class to models that never saw it. Of 808 descriptions of commands in 14 classes, two of them so, all labelled rightly, 32 were
surely wrong, and 81 even errors stood behind these (average precision .69). So what speaks for the one class does not speak against the
other's label: 2 are surely wrong, and average precision is .99.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.statistics.rank_area import error_by_chance, rank_area

_BELOW, _SURELY_BELOW, _CONFUSED, _FEWEST = 0.57, 0.65, 0.15, 5
"""Area under the ROC curve below which two classes are not told apart, and below which it is with two standard errors more (where 30 % of
one are labelled as the other it is .8, and .6 where 40 % of either are); share of their rows, at the least, that are predicted as the other
one; and fewest rows of either, and predicted so."""

_MOST = 0.6
"""Share of the rows above which classes that are not told apart are no exception."""

_HEARD = 0.02
"""Share of what speaks for the other class that still does: so rows keep their order."""


def not_told_apart(probabilities: Floats, given: Integers) -> tuple[tuple[int, int], ...]:
    """Return the pairs of classes that models tell apart hardly better than chance, the lower id first.

    None of two classes in all, nor where more than three rows in five are of such classes: there models know too little of any.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.

    >>> shares = np.tile([[0.1, 0.6, 0.3], [0.1, 0.3, 0.6], [0.8, 0.1, 0.1], [0.8, 0.1, 0.1]], (20, 1))
    >>> not_told_apart(shares, np.tile([2, 1, 0, 0], 20)), not_told_apart(shares, np.tile([1, 2, 0, 0], 20))
    (((1, 2),), ())
    """
    n_classes = probabilities.shape[1]
    if n_classes < 3:
        return ()
    rows = np.bincount(given, minlength=n_classes)
    predicted = np.zeros((n_classes, n_classes))
    np.add.at(predicted, (given, probabilities.argmax(axis=1)), 1.0)
    mistaken = predicted + predicted.T
    often = (mistaken >= np.maximum(_CONFUSED * (rows[:, None] + rows), _FEWEST)) & (np.minimum(rows[:, None], rows) >= _FEWEST)
    found = []
    for one, other in zip(*np.nonzero(np.triu(often, 1)), strict=True):
        either = np.flatnonzero((given == one) | (given == other))
        shares = probabilities[either][:, [one, other]]
        area = rank_area(shares[:, 1] / np.maximum(shares.sum(axis=1), 1e-12), given[either] == other)
        if area < _BELOW and area + 2.0 * error_by_chance(int(rows[other]), int(rows[one])) < _SURELY_BELOW:
            found.append((int(one), int(other)))
    return () if np.isin(given, found).mean() > _MOST else tuple(found)


def for_either(probabilities: Floats, given: Integers, pairs: tuple[tuple[int, int], ...]) -> Floats:
    """Return the probabilities with what speaks for a class that is not told from a row's label counted for the label.

    Args:
        probabilities: ``(n_examples, n_classes)``; rows sum to 1.
        given: label ids, ``(n_examples,)``.
        pairs: as ``not_told_apart`` returns them.

    >>> for_either(np.array([[0.1, 0.7, 0.2], [0.1, 0.7, 0.2]]), np.array([2, 0]), ((1, 2),)).round(3).tolist()
    [[0.1, 0.014, 0.886], [0.1, 0.7, 0.2]]
    """
    if not pairs:
        return probabilities
    counted: Floats = probabilities.copy()
    for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
        rows = np.flatnonzero(given == one)
        moved = (1.0 - _HEARD) * probabilities[rows, other]
        counted[rows, one] += moved
        counted[rows, other] -= moved
    return counted
