"""The rows that a classifier is surest about, whose labels show how often each class is labelled as which (anchor points).

Rows that are almost certainly of a class show the labels that the class gets (Liu & Tao, TPAMI 2016; Patrini et al., CVPR 2017). Those of a
class that is hard to tell are not that certain, though: what contradicts them may be the classifier's own mistakes.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.statistics.proportion import least_share, wilson_interval

SHARES = (0.2, 0.3, 0.45, 0.6)
"""Of the rows predicted as a class, that are tried."""

_ENOUGH, EXPECTED = 40, 3.0
"""Anchors of a class from which on its surest quarter is looked at by itself; and how many times as often as the models expect anchors may
be contradicted for that to be hard rows: of sets whose labels are all right it is .8 to 2.7 times, of planted errors 3.4 to 13, even where
the surest rows show few of them."""

_AS_SURE = 1.2
"""How many times as many as the anchors the surest rows of any class may be: of more that are equally sure none is the surest."""

_HABIT = 0.1
"""Share of a class's anchors, at the least, from which on another label of theirs is a habit of labelling, however hard the class: hard
rows among the surest are mistaken for several classes, or seldom for one."""


def anchor_share(probabilities: Floats, least: float) -> float:
    """Return the share of the rows predicted as a class, the surest first, that T is read off: more than the least where that helps.

    Few rows show how often labels go wrong with an error of their own, more rows are less sure: by how much, the classifier says itself. Of
    569 tissue samples, 48 of them labelled wrongly, 103 anchors contradicted 4 to 9 %, and 4 to 49 suspects were listed, by the draw.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        least: the least share, in (0, 1].
    """
    unsure = np.sort(1.0 - probabilities.max(axis=1))
    mean = np.cumsum(unsure) / np.arange(1, len(unsure) + 1)

    def error(share: float) -> float:
        number = max(int(np.ceil(share * len(unsure))), 1)
        rate, first = mean[number - 1], mean[max(int(np.ceil(least * len(unsure))), 1) - 1]
        return float((rate - first) ** 2 + rate * (1.0 - rate) / number)

    return min((least, *(share for share in SHARES if share > least)), key=error)


def anchor_counts(probabilities: Floats, given: Integers, share: float) -> Floats:
    """Return how often the surest rows of each predicted class have each label, ``(n_classes, n_classes)``.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class, in (0, 1].
    """
    n_classes = probabilities.shape[1]
    predicted = probabilities.argmax(axis=1)
    counts = np.zeros((n_classes, n_classes))
    for label in np.unique(predicted):
        rows = np.flatnonzero(predicted == label)
        surest = rows[np.argsort(-probabilities[rows, label], kind="stable")[: int(np.ceil(share * len(rows)))]]
        counts[label] = np.bincount(given[surest], minlength=n_classes)
    return counts


def calm_anchors(probabilities: Floats, given: Integers, share: float) -> Floats | None:
    """Return how often anchors that may be the only sure ones have each label, ``(n_classes, n_classes)``; None where all are as sure.

    Wrong labels contradict the surest rows as often as less sure ones; hard rows contradict these more often. So the surest quarter of the
    anchors counts where it is contradicted clearly less often than all, and all are at most ``EXPECTED`` times as often as the models
    expect. Else, as the models are surer of some classes throughout, the surest rows of any class count, where they are contradicted
    clearly less often than the anchors of all; with what labels of the anchors are a habit, whatever their class (``_HABIT``).

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class that are anchors, in (0, 1].
    """
    predicted, highest = probabilities.argmax(axis=1), probabilities.max(axis=1)
    alone: list[Integers] = []
    together: list[Integers] = []
    for label in np.unique(predicted):
        rows = np.flatnonzero(predicted == label)
        surest = rows[np.argsort(-highest[rows], kind="stable")[: int(np.ceil(share * len(rows)))]]
        (alone if len(surest) >= _ENOUGH else together).append(surest)
    # A quarter of each class of which there are enough anchors, and of the others together: among many classes some are surer throughout.
    parts = [*alone, *([np.concatenate(together)] if together else [])]
    chosen, every = np.concatenate([_surest(part, highest, 0.25) for part in parts]), np.concatenate(parts)
    wrong = predicted != given
    contradicted = float(wrong[every].mean())
    if wrong[every].sum() <= EXPECTED * (1.0 - highest[every]).sum() and _less_often(wrong[chosen], contradicted):
        return _counted(predicted, given, chosen, probabilities.shape[1])
    sure = _surest(np.arange(len(given)), highest, share)
    if len(sure) > _AS_SURE * len(every) or not _less_often(wrong[sure], contradicted):
        return None
    counts, anchors = (_counted(predicted, given, rows, probabilities.shape[1]) for rows in (sure, every))
    total = anchors.sum(axis=1)
    for label, other in np.argwhere(anchors > _HABIT * total[:, None]):
        if label != other and least_share(int(anchors[label, other]), int(total[label])) > _HABIT:
            counts[label, [label, other]] = anchors[label, [label, other]]
    return counts


def _less_often(wrong: Bools, share: float) -> bool:
    """Return whether rows are clearly less often contradicted than such a share."""
    return wilson_interval(int(wrong.sum()), len(wrong))[1] < share


def _counted(predicted: Integers, given: Integers, rows: Integers, n_classes: int) -> Floats:
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (predicted[rows], given[rows]), 1.0)
    return counts


def _surest(rows: Integers, highest: Floats, share: float) -> Integers:
    """Return the surest share of some rows, and those that are as sure as its last one: which of them stands first says nothing."""
    sure = np.sort(highest[rows])[::-1]
    kept: Integers = rows[highest[rows] >= sure[max(int(share * len(rows)), 1) - 1]]
    return kept


def contradicting(anchors: Floats) -> tuple[float, float]:
    """Return how many anchors have another label than the predicted one, and how many there are."""
    total = float(anchors.sum())
    return total - float(np.trace(anchors)), total
