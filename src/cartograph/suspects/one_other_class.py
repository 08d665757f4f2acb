"""Errors by which rows of a class are called one other class, among many classes: pair flips.

They look like hard rows: the models have learnt them, so that next to none of these labels are of classes that nothing speaks for
(``hard_classes``), and a class's few anchors do not prove a habit of its own. But hard rows are mistaken for several classes, or two
classes for each other; of such errors two that contradict the models in one class agree, far more often than those. So what the anchors
of one class are too few for is asked of all classes together, by more rows than the anchors.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.statistics.proportion import least_share
from cartograph.suspects.anchors import anchor_counts

_ASKED, _READ = 0.3, 0.6
"""Share of the rows predicted as a class, the surest first, by which it is asked whether errors are such, and by which it is read off of
which classes they are."""

AGREE, _OFTEN = 0.25, 0.05
"""How often two labels that contradict the models in one class are of the same other class, and which share of the rows that are asked
have a label of their class's most frequent other one, at the least, for errors to be such."""

_MOSTLY, _BACK = 0.5, 0.5
"""Share of a class's contradicting labels, at the least, that are of its other class; and how many times as many rows of that one may be
called the class in turn at most: two classes that are alike are mistaken for each other."""


def one_other_class(probabilities: Floats, given: Integers) -> Floats | None:
    """Return the share of each class's rows that are called its one other class, ``(n_classes, n_classes)``; None if errors are not such.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
    """
    asked = anchor_counts(probabilities, given, _ASKED)
    # Beyond as many as the other class's rows are called the class in turn.
    rows, contradicting = float(asked.sum()), np.maximum(asked - asked.T, 0.0)
    often, in_all = contradicting.max(axis=1), contradicting.sum(axis=1)
    pairs = float((in_all * (in_all - 1.0)).sum())
    agreeing = float((contradicting * (contradicting - 1.0)).sum())
    if not pairs or agreeing < AGREE * pairs or least_share(int(often[often >= 2].sum()), int(rows), 0.95) <= _OFTEN:
        return None
    read = anchor_counts(probabilities, given, _READ)
    total, contradicting = read.sum(axis=1), without_own(read)
    classes, others = np.arange(len(read)), contradicting.argmax(axis=1)
    often, back = contradicting[classes, others], contradicting[others, classes]
    one = (often >= 2) & (often >= _MOSTLY * contradicting.sum(axis=1)) & (back <= _BACK * often)
    found = np.zeros_like(read)
    found[classes[one], others[one]] = often[one] / total[one]
    return found


def without_own(anchors: Floats) -> Floats:
    """Return counts of anchors by class and label, ``(n_classes, n_classes)``, without those that have their own."""
    return anchors * (1.0 - np.eye(len(anchors)))
