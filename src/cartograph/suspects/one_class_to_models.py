"""Classes that models tell apart hardly better than chance: that one of their labels should be the other cannot be found.

They may be one class under two names: of 720 packages in seven classes, half of the games called leisure, 20 right labels were surely
wrong, and dropped; now none is.

Where texts come in near copies whose labels are of two such classes, each copy is predicted as the others are labelled, and so is surely of
the other class to models that never saw it. Of 808 descriptions of commands in 14 classes, two of them so, all labelled rightly, 32 were
surely wrong, and 81 even errors stood behind these (average precision .69). Doubted as if the two were one class, 1 is surely wrong, and
average precision is .99.

One of them may also be full of the other's rows, labelled wrongly, so that it looks like it. Which of both is so nobody can tell from the
rows; where one is far smaller, its labels are next to be looked at, though not listed.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.data.components import components
from cartograph.statistics.rank_area import error_by_chance, rank_area

_BELOW, _SURELY_BELOW, _CONFUSED, _FEWEST = 0.57, 0.65, 0.15, 5
"""Area under the ROC curve below which two classes are not distinguished, and below which it is with two standard errors more (where 30 %
of one are labelled as the other it is .8, and .6 where 40 % of either are); share of their rows, at the least, that are predicted as the
other one; and fewest rows of either, and predicted so."""

_SMALLER = 0.5
"""How many times as many rows as the other a class that is far smaller may have."""

_MOST = 0.6
"""Share of the rows above which classes that are not distinguished are no exception."""


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


def in_smaller(given: Integers, pairs: tuple[tuple[int, int], ...]) -> Bools:
    """Return whether a row's label is the far smaller class of one of the pairs, ``(n_examples,)``.

    >>> in_smaller(np.repeat([0, 1, 2], [2, 9, 8]), ((0, 1), (1, 2))).sum()
    np.int64(2)
    """
    rows = np.bincount(given, minlength=max((max(pair) for pair in pairs), default=0) + 1)
    small = [min(pair, key=lambda label: rows[label]) for pair in pairs if min(rows[list(pair)]) <= _SMALLER * max(rows[list(pair)])]
    found: Bools = np.isin(given, small)
    return found


def as_one(n_classes: int, pairs: tuple[tuple[int, int], ...]) -> Integers:
    """Return a number for each class, from 0 on, equal for classes that are not distinguished, even through others, ``(n_classes,)``.

    >>> as_one(4, ((1, 2),)).tolist(), as_one(3, ()).tolist()
    ([0, 1, 1, 2], [0, 1, 2])
    """
    if not pairs:
        return np.arange(n_classes)
    one, other = np.array(pairs).T
    return components(one, other, n_classes)


def summed(probabilities: Floats, number: Integers) -> Floats:
    """Return the probabilities of the numbers of classes (``as_one``), ``(n_examples, n_numbers)``.

    >>> summed(np.array([[0.1, 0.7, 0.2]]), np.array([0, 1, 1])).round(3).tolist()
    [[0.1, 0.9]]
    """
    added: Floats = probabilities @ np.eye(int(number.max()) + 1)[number]
    return added


def spread(transition: Floats, number: Integers, given: Integers) -> Floats:
    """Return how classes are labelled, ``(n_classes, n_classes)``, from how their numbers are, ``(n_numbers, n_numbers)``.

    What goes wrong as several classes does so as often as each of them is given; that one of them is labelled as another is not known: 0.

    >>> spread(np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([0, 1, 1]), np.array([0, 1, 2, 2, 2])).round(3).tolist()
    [[0.8, 0.05, 0.15], [0.1, 0.9, 0.0], [0.1, 0.0, 0.9]]
    >>> spread(np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([0, 0, 1]), np.array([0, 1])).round(3).tolist()
    [[0.8, 0.0, 0.2], [0.0, 0.8, 0.2], [0.05, 0.05, 0.9]]
    """
    # Hardly a row of a class that no row has, which is a number of its own.
    rows = np.maximum(np.bincount(given, minlength=len(number)), 1e-9)
    shares = rows / np.bincount(number, rows)[number]
    wide = transition[number][:, number] * shares
    same = number[:, None] == number
    whole: Floats = np.where(same, np.diag(np.diag(transition)[number]), wide)
    return whole
