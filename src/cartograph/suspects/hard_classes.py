"""How labels go wrong where hard classes, rather than wrong labels, may be what contradicts the surest rows of many classes.

Wrong labels contradict sure rows as often as less sure ones, and most of those that are given at random are of classes that nothing speaks
for. What contradicts hard rows are labels that the models hold for likely, too, and the less often the surer they are. None of it proves
anything: labels of one class may have been confused with those of another because they are alike. So what is found here counts beside what
all anchors show (``label_doubt``), and what the anchors of a class show for sure, or those of all together (``one_other_class``), is a
habit of labelling in any case.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.statistics.proportion import least_share, wilson_interval
from cartograph.suspects.anchors import anchor_counts, anchor_rows, contradicting, counted
from cartograph.suspects.given_labels import GivenLabels
from cartograph.suspects.one_other_class import one_other_class, without_own
from cartograph.suspects.transitions import LEAST, even_transition

MANY = 10
"""Classes from which on labels that the models hold for less likely than half of the others are distinguished from likely ones."""

_ENOUGH, EXPECTED = 40, 3.0
"""Anchors of a class from which on its surest quarter is looked at by itself; and how many times as often as the models expect anchors may
be contradicted for that to be hard rows: of sets whose labels are all right it is .8 to 2.7 times, of planted errors 3.4 to 13, even where
the surest rows show few of them."""

_AS_SURE = 1.2
"""How many times as many as the anchors the surest rows of any class may be: of more that are equally sure none is the surest."""

_HABIT = 0.1
"""Share of a class's anchors, at the least, from which on another label of theirs is a habit of labelling, however hard the class: hard
rows among the surest are mistaken for several classes, or seldom for one."""


def calm_transition(given: GivenLabels, share: float) -> tuple[Floats, tuple[float, float]] | None:
    """Return how labels go wrong, ``(n_classes, n_classes)``, if hard rows are most of what contradicts the anchors; None if not so.

    And how many of the rows that show it have a wrong label, and how many these are.

    Args:
        given: the labels, with what is known of their rows.
        share: of the rows predicted as a class that are anchors, in (0, 1].
    """
    probabilities, labels = given.anchorable
    many = probabilities.shape[1] >= MANY
    even = even_errors(probabilities, labels, share) if many else None
    if many and (called := one_other_class(probabilities, labels)) is not None:
        return _one_class_besides(anchor_counts(probabilities, labels, share), called, even)
    if even:
        return _even_but_for_habits(anchor_counts(probabilities, labels, share), even[0] / even[1]), even
    counts = calm_anchors(probabilities, labels, share)
    if counts is None and many:
        counts = surest_of_any(probabilities, labels, share)
    return None if counts is None else (given.transition(counts), contradicting(counts))


def even_errors(probabilities: Floats, given: Integers, share: float) -> tuple[float, float] | None:
    """Return how many of the surest rows have a label given at random, and how many these are; None unless clearly fewer than contradict.

    Of labels given at random about half are of classes that the models hold for less likely than half of them; of hard rows nearly none.
    The surest rows are those of each class, or of any, whichever have fewer such labels.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class that are anchors, in (0, 1].
    """
    n_classes, every = probabilities.shape[1], np.concatenate(anchor_rows(probabilities, share))
    own, highest = probabilities[np.arange(len(given)), given], probabilities.max(axis=1)
    half = (n_classes + 1) // 2
    far = np.count_nonzero(probabilities > own[:, None], axis=1) >= half
    return fewer_at_random(far, (n_classes - 1) / (n_classes - half), highest, probabilities.argmax(axis=1) != given, every, share)


def fewer_at_random(far: Bools, times: float, highest: Floats, wrong: Bools, every: Integers, share: float) -> tuple[float, float] | None:
    """Return what ``even_errors`` does.

    Args:
        far: whether a row's label is of a class that the models hold for unlikely, ``(n_examples,)``.
        times: how many labels are given at random for each of these.
        highest: probability of the predicted class, ``(n_examples,)``.
        wrong: whether the label is another, ``(n_examples,)``.
        every: the anchors, ``(n_anchors,)``.
        share: of the rows predicted as a class that they are, in (0, 1].
    """
    sure = _surest(np.arange(len(highest)), highest, share)
    rows = sure if len(sure) <= _AS_SURE * len(every) and far[sure].mean() < far[every].mean() else every
    number = int(np.count_nonzero(far[rows]))
    if times * wilson_interval(number, len(rows))[1] >= wrong[every].mean():
        return None
    return times * number, float(len(rows))


def _one_class_besides(anchors: Floats, called: Floats, even: tuple[float, float] | None) -> tuple[Floats, tuple[float, float]]:
    """Return what ``calm_transition`` does where classes are called one other class, and the other errors are even.

    Args:
        anchors: how often the surest rows of each predicted class have each label, ``(n_classes, n_classes)``.
        called: the share of each class's rows that are called its one other class, ``(n_classes, n_classes)``.
        even: how many of the surest rows have a label given at random, and how many these are; None if that is not known to be few.
    """
    number = float(anchors.sum())
    others = even[0] / even[1] if even else float(np.where(called > 0.0, 0.0, without_own(anchors)).sum()) / number
    wrong = number * others + float((anchors.sum(axis=1) * called.sum(axis=1)).sum())
    return _even_but_for_habits(anchors, others, called), (wrong, number)


def _even_but_for_habits(anchors: Floats, rate: float, called: Floats | None = None) -> Floats:
    transition = even_transition(len(anchors), max(rate, LEAST))
    total = anchors.sum(axis=1)
    labels, others = habits_of(anchors)
    transition[labels, others] = anchors[labels, others] / total[labels]
    if called is not None:
        transition = np.maximum(transition, called)
    np.fill_diagonal(transition, 0.0)
    np.fill_diagonal(transition, np.maximum(1.0 - transition.sum(axis=1), LEAST))
    shares: Floats = transition / transition.sum(axis=1, keepdims=True)
    return shares


def calm_anchors(probabilities: Floats, given: Integers, share: float) -> Floats | None:
    """Return how often the surest quarter of the anchors has each label, ``(n_classes, n_classes)``, where the others may be hard rows.

    Wrong labels contradict the surest rows as often as less sure ones, and more often than the models expect to be contradicted; hard rows
    do so about as often as they expect. So the quarter counts where it is contradicted clearly less often than all, and all are at most
    ``EXPECTED`` times as often as by the models' own probabilities; None elsewhere. A quarter of each class of which there are enough
    anchors, and of the others together: among many classes some are surer throughout.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class that are anchors, in (0, 1].
    """
    predicted, highest = probabilities.argmax(axis=1), probabilities.max(axis=1)
    alone: list[Integers] = []
    together: list[Integers] = []
    for surest in anchor_rows(probabilities, share):
        (alone if len(surest) >= _ENOUGH else together).append(surest)
    parts = [*alone, *([np.concatenate(together)] if together else [])]
    chosen, every = np.concatenate([_surest(part, highest, 0.25) for part in parts]), np.concatenate(parts)
    wrong = predicted != given
    few = wrong[every].sum() <= EXPECTED * (1.0 - highest[every]).sum()
    if not few or wilson_interval(int(wrong[chosen].sum()), len(chosen))[1] >= wrong[every].mean():
        return None
    return counted(predicted[chosen], given[chosen], probabilities.shape[1])


def surest_of_any(probabilities: Floats, given: Integers, share: float) -> Floats | None:
    """Return how often the surest rows of any class have each label, ``(n_classes, n_classes)``, where those of each may be hard rows.

    They are where these contradict clearly more often: of many classes some are never sure. What is a habit counts all the same. None
    elsewhere. Of few classes one that is often called another is itself less sure than the others, so that this says nothing of them.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class that are anchors, in (0, 1].
    """
    predicted, highest = probabilities.argmax(axis=1), probabilities.max(axis=1)
    wrong, anchors = predicted != given, anchor_counts(probabilities, given, share)
    contradicted, number = contradicting(anchors)
    sure = _surest(np.arange(len(given)), highest, share)
    if len(sure) > _AS_SURE * number or wilson_interval(int(wrong[sure].sum()), len(sure))[1] >= contradicted / number:
        return None
    counts = counted(predicted[sure], given[sure], probabilities.shape[1])
    for label, other in zip(*habits_of(anchors), strict=True):
        counts[label, [label, other]] = anchors[label, [label, other]]
    return counts


def habits_of(anchors: Floats) -> tuple[Integers, Integers]:
    """Return which other label of which class's anchors, ``(n_classes, n_classes)``, is a habit: classes and labels, ``(n_habits,)``."""
    labels, others = np.nonzero(anchors)
    habits = are_habits(anchors[labels, others], anchors.sum(axis=1)[labels]) & (labels != others)
    return labels[habits], others[habits]


def are_habits(counts: Floats, totals: Floats, confidence: float = 0.95) -> Bools:
    """Return which counts of a label among a class's anchors are a habit of labelling, however hard the class (``_HABIT``).

    Args:
        counts: of a label of some class's anchors each, ``(n_counts,)``.
        totals: how many anchors that class has, ``(n_counts,)``.
        confidence: of each; more where classes are so many that some have by chance what looks like one.
    """
    found: Bools = counts > _HABIT * totals
    for place in np.flatnonzero(found):
        found[place] = least_share(int(counts[place]), int(totals[place]), confidence) > _HABIT
    return found


def _surest(rows: Integers, highest: Floats, share: float) -> Integers:
    """Return the surest share of some rows, and those that are as sure as its last one: which of them stands first says nothing."""
    sure = np.sort(highest[rows])[::-1]
    kept: Integers = rows[highest[rows] >= sure[max(int(share * len(rows)), 1) - 1]]
    return kept
