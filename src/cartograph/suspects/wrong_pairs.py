"""How many labels of each class should be which other one: the number of wrong labels, class by class, each with an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.statistics.proportion import wilson_interval
from cartograph.suspects.transitions import LEAST

FEWEST, MOST = 0.5, 200
"""Least number of wrong labels of a pair of classes that is worth a line, and most lines."""

_ABOVE = 1.1

_BEYOND, _MORE = 1.5, 2.0
"""An interval as wide as a few surest rows leave it ends at so many times as many rows as the models take for the class, and so many more:
of rows that the models do not take for a class, hardly any is of it."""


@dataclass(frozen=True)
class WrongPair:
    """How many labels of one class should be one other class.

    Attributes:
        given: label id.
        true: label id of the class that the rows belong to.
        expected: the sum of the rows' probabilities of it.
        low, high: interval, meant for 95 % where errors do not gather on hard rows: its width was set beforehand, and in planted sets of
            four kinds of texts with even, one-way and careless errors it held the true number of 301 of 314 pairs (where errors gather
            on hard rows, of 86 of 132).
        most: how many of these rows the models take for that class (at least ``high``), if nearly all hard rows are wrong.
    """

    given: int
    true: int
    expected: float
    low: float
    high: float
    most: float


def wrong_pairs(
    probabilities: Floats,
    true_classes: Floats,
    given: Integers,
    transition: Floats,
    anchors: Floats,
    relative: tuple[float, float],
    scale: float = 1.0,
    at_most: tuple[float, float] = (np.inf, np.inf),
) -> tuple[WrongPair, ...]:
    """Return the pairs of classes between which labels are wrong, the most frequent first.

    A pair's interval is as wide as that of the whole number, and where the surest rows of the class hold few labels to count, as wide as
    Wilson's of their share.

    Args:
        probabilities: out-of-sample, of the given labels, ``(n_examples, n_classes)``.
        true_classes: of the true classes, likewise.
        given: label ids, ``(n_examples,)``.
        transition: T[y, z], the share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``.
        anchors: how often the surest rows of each predicted class have each label, ``(n_classes, n_classes)``.
        relative: ends of the interval of all wrong labels, as multiples of their expected number.
        scale: how many labels are estimated to be wrong, as a multiple of how many are by these true classes and this transition.
        at_most: the upper end of the interval of all wrong labels, and how many can be: no pair has more, nor more than its label has rows.

    >>> sure = np.repeat([[0.99, 0.01], [0.01, 0.99]], 100, axis=0)
    >>> labels = np.repeat([0, 1, 1], [90, 10, 100])
    >>> goes_wrong, counts = np.array([[0.9, 0.1], [0.0, 1.0]]), np.array([[90.0, 10.0], [0.0, 100.0]])
    >>> [pair] = wrong_pairs(sure, sure, labels, goes_wrong, counts, (0.5, 1.5))
    >>> pair.given, pair.true, round(pair.expected), round(pair.low), round(pair.high)
    (1, 0, 9, 5, 18)
    """
    found = sorted(_pairs(probabilities, true_classes, given, transition, anchors, relative, scale), key=lambda pair: -pair.expected)
    high, most = at_most
    rows = np.bincount(given, minlength=len(transition)).astype(float).tolist()
    return tuple(
        replace(pair, high=min(pair.high, high, rows[pair.given]), most=min(pair.most, most, rows[pair.given])) for pair in found[:MOST]
    )


def _pairs(
    probabilities: Floats,
    true_classes: Floats,
    given: Integers,
    transition: Floats,
    anchors: Floats,
    relative: tuple[float, float],
    scale: float,
) -> Iterator[WrongPair]:
    of_class = anchors.sum(axis=1)
    for label in np.unique(given).tolist():
        rows = np.flatnonzero(given == label)
        joint = np.clip(true_classes[rows], 1e-12, None) * transition[:, label]
        expected, taken_for = scale * (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0), probabilities[rows].sum(axis=0)
        for true in np.flatnonzero(expected >= FEWEST).tolist():
            if true == label:
                continue
            number, total = int(anchors[true, label]), int(of_class[true])
            least, most = wilson_interval(number, total) if total else (0.0, 1.0)
            rate = max(number / max(total, 1), float(transition[true, label]), LEAST)
            own = float(expected[true])
            low, high = own * min(relative[0], least / rate), min(own * max(relative[1], _ABOVE * most / rate), float(len(rows)))
            high = min(high, max(own * relative[1], _BEYOND * float(taken_for[true]) + _MORE))
            yield WrongPair(label, true, own, low, high, max(high, float(taken_for[true])))
