"""Pairs that look wrongly labelled and are exceptions: they match though they have no word in common.

What models are surest about has exceptions where the labels name how two texts relate, so that part of what contradicts the surest pairs
may be no error. Whether it is, nobody can tell from the texts: a pair's doubt is the mean of both (``label_doubt``).
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats
from cartograph.suspects.anchors import contradicting
from cartograph.suspects.given_labels import GivenLabels

EXCEPTED = 0.07
"""Share of the surest pairs whose label may be an exception. Of nine sets of 1,195 to 1,750 pairs whose labels are all right (functions,
packages or operations and what is said of them, first lines and the rest) 0 to 7 % of the surest have the other label: they match though
they have no word in common. Of these sets' labels 3 are surely wrong in place of 129, and of none the number begins above 0, in place of
four. Where 5, 10 and 20 % were planted evenly, 72, 72 and 88 % of the surely wrong ones are (63, 71, 82), which
are a fifth, half and two thirds as many as else."""


def with_exceptions(
    given: GivenLabels, anchors: Floats, calm: tuple[Floats, tuple[float, float]] | None
) -> tuple[Floats, tuple[float, float]] | None:
    """Return how labels of pairs go wrong if exceptions are part of what contradicts the anchors; None where hard rows are as much of it.

    And how many of the anchors have a wrong label then, and how many these are.
    """
    counts = excepted(anchors)
    wrong, among = contradicting(counts)
    if wrong == contradicting(anchors)[0] or (calm is not None and calm[1][0] * among <= wrong * calm[1][1]):
        return None
    return given.transition(counts), (wrong, among)


def excepted(anchors: Floats) -> Floats:
    """Return anchors as they are if up to ``EXCEPTED`` of them contradict since pairs have exceptions, not since their labels are wrong.

    Args:
        anchors: how often the surest rows of each predicted class have each label, ``(n_classes, n_classes)``.

    >>> excepted(np.array([[90.0, 10.0], [0.0, 100.0]])).tolist(), excepted(np.array([[97.0, 3.0], [0.0, 100.0]])).tolist()
    ([[100.0, 0.0], [0.0, 100.0]], [[100.0, 0.0], [0.0, 100.0]])
    >>> excepted(np.array([[80.0, 20.0], [20.0, 80.0]])).tolist()
    [[87.0, 13.0], [13.0, 87.0]]
    """
    contradict, total = contradicting(anchors)
    kept = np.round(anchors * (max(contradict - EXCEPTED * total, 0.0) / max(contradict, 1.0)))
    np.fill_diagonal(kept, 0.0)
    np.fill_diagonal(kept, anchors.sum(axis=1) - kept.sum(axis=1))
    return kept


def still_doubted(score: Floats) -> Floats:
    """Return what a doubt comes to at least, ``(n_examples,)``, however many exceptions there are: from a half on a little more than that.

    >>> still_doubted(np.array([0.4, 0.5, 0.9, 1.0])).round(2).tolist()
    [0.0, 0.5, 0.54, 0.55]
    """
    least: Floats = np.where(score >= 0.5, 0.5 + (score - 0.5) / 10.0, 0.0)
    return least
