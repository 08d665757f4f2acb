"""What the labels of a text's copies say of its own label.

Copies are held out together (``data.linked_rows``), so no model that scores one has met the labels of the others; yet who labelled them
read the same text. Copies got their labels in one of three ways: all at once, with the label of what they were copied from; each on its
own, by the same transition T[y, ·] of their one true class y (Dawid & Skene 1979, with annotators that all go wrong alike); or each by what
is not in the text, as if they were no copies. The shares of the three show in how often copies agree, beyond what the models make of
their texts, and are fitted by maximum likelihood (EM; Dempster, Laird & Rubin 1977): only in the second way do others' labels say
something. The third is left out unless it makes the labels clearly likelier (``SURELY``). How often copies disagree also shows how often
their labels go wrong: more seldom, where the models alone, unsure of hard texts, think them wrong, or more often, where rows were copied by
mistake and got another row's label, or copies that agree were removed. The factor of T is the likeliest of ``FACTORS``.

Where copies are few they are not held out together, and models of one have met the label of the other: of two that contradict each other
each looks surely wrong. One label at most is right there. What the models say of one text is then their mean, and every label of it counts
as given by the transition (``once_for_all``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats, Ids, Integers, Integers32
from cartograph.suspects.transitions import LEAST

FACTORS, MOST_WRONG = (8.0, 4.0, 2.0, 1.0, 0.7, 0.5, 0.35, 0.25, 0.15), (0.5, 0.7)
"""By how much labels of copies may go wrong more or less often than the transition says, and how often at most: so often, and so often as
drawn labels would, so that the most of a text's labels always says something."""

COPIED = 0.9
"""Share of labels that were copied from which on the others are not heard."""

SURELY = 20.0
"""By how much the labels' log likelihood must rise for copies to pass for unrelated rows."""

LIKELIER = 2.0
"""By how much softer probabilities must make it likelier to count: where every text has contradicting labels both say the same of them."""

_ROUNDS, _CLOSE, _TINY = 200, 1e-6, 1e-300


@dataclass(frozen=True)
class Copies:
    """How the labels of a set's copies agree.

    Attributes:
        rows: places of the rows that have copies, ``(n_copies,)``, ascending.
        text: number of each one's text, from 0 on, ``(n_copies,)``.
        agreeing: how many copies of each row of the set have its label, ``(n_examples,)``; 0 without copies.
        contradicting: how many have another, likewise.
    """

    rows: Integers
    text: Integers
    agreeing: Integers32
    contradicting: Integers32


def copies_of(number: Integers, labels: Ids) -> Copies | None:
    """Return which rows are copies, and how their labels agree; None where there are none.

    Args:
        number: of each row's text, equal for copies that no model read one of to score another, negative where it has none,
            ``(n_examples,)``.
        labels: given label ids, ``(n_examples,)``.

    >>> copies_of(np.array([4, -1, 4, 2]), np.array([0, 0, 1, 1])).contradicting.tolist()
    [1, 0, 1, 0]
    """
    among, times = np.unique(number, return_inverse=True, return_counts=True)[1:]
    rows = np.flatnonzero((number >= 0) & (times[among] > 1))
    if not len(rows):
        return None
    text = np.unique(number[rows], return_inverse=True)[1]
    same = np.unique(np.stack([text, np.asarray(labels)[rows].astype(np.intp)]), axis=1, return_inverse=True, return_counts=True)
    alike = same[2][same[1].reshape(-1)]
    agreeing, contradicting = np.zeros(len(number), np.int32), np.zeros(len(number), np.int32)
    agreeing[rows], contradicting[rows] = alike - 1, np.bincount(text)[text] - alike
    return Copies(rows, text, agreeing, contradicting)


def contradicting_copies(number: Integers, labels: Ids) -> Copies | None:
    """Return the copies of texts that have several labels; None without any.

    Args:
        number: of each row's text, equal for copies, ``(n_examples,)``.
        labels: given label ids, ``(n_examples,)``.

    >>> contradicting_copies(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 1])).rows.tolist()
    [0, 1]
    """
    found = copies_of(number, labels)
    if found is None or not found.contradicting.any():
        return None
    return copies_of(np.where(np.isin(number, number[found.contradicting > 0]), number, -1), labels)


def relabelled(copies: Copies | None, labels: Ids, *, contradicting: bool = False) -> Copies | None:
    """Return copies with other labels; where asked for, those whose labels still differ. None without any.

    >>> relabelled(copies_of(np.array([4, -1, 4]), np.array([0, 0, 1])), np.array([0, 0, 0])).agreeing.tolist()
    [1, 0, 1]
    """
    if copies is None:
        return None
    number = np.full(len(labels), -1, np.intp)
    number[copies.rows] = copies.text
    return contradicting_copies(number, labels) if contradicting else copies_of(number, labels)


def once_for_all(true_classes: Floats, transition: Floats, given: Integers, copies: Copies) -> Floats:
    """Return the probabilities of the true classes where models of one copy have met the other's label, ``(n_examples, n_classes)``.

    Args:
        true_classes: of each row, ``(n_examples, n_classes)``.
        transition: T[y, z], the share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``.
        given: label ids, ``(n_examples,)``.
        copies: those whose labels differ.

    >>> sure, even = np.array([[0.1, 0.9], [0.9, 0.1]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> labels = np.array([0, 1])
    >>> once_for_all(sure, even, labels, copies_of(np.zeros(2, int), labels)).round(2).tolist()
    [[0.1, 0.9], [0.9, 0.1]]
    """
    rows, text = copies.rows, copies.text
    mean = np.zeros((int(text.max()) + 1, true_classes.shape[1]))
    np.add.at(mean, text, true_classes[rows])
    mean /= np.bincount(text)[:, None]
    goes = np.clip(transition, LEAST / len(transition), None).T[given[rows]]
    updated: Floats = true_classes.copy()
    updated[rows] = mean[text] * _of_others(np.log(goes), text)
    updated[rows] /= updated[rows].sum(axis=1, keepdims=True)
    return updated


def updated_by_copies(true_classes: Floats, transition: Floats, given: Integers, copies: Copies, softer: Floats | None = None) -> Floats:
    """Return the probabilities of the true classes once the other copies' labels are known, ``(n_examples, n_classes)``; rows sum to 1.

    Where labels go wrong less often than the transition says, a row's own label is heard as much more, too.

    Args:
        true_classes: of each row by models that have not met its copies, ``(n_examples, n_classes)``.
        transition: T[y, z], the share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``.
        given: label ids, ``(n_examples,)``.
        copies: of these rows.
        softer: other probabilities of the classes, which may prove likelier.

    >>> labels = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1])
    >>> unsure, even = np.full((12, 2), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> updated_by_copies(unsure, even, labels, copies_of(np.repeat(np.arange(4), 3), labels))[-3:].round(2).tolist()
    [[0.17, 0.83], [0.17, 0.83], [0.94, 0.06]]
    """
    rows = copies.rows
    known = [shares[rows] for shares in (true_classes, softer) if shares is not None]
    decided, undecided = _likeliest(known[0], transition, given, copies)
    for shares in known[1:]:
        one, other = _likeliest(shares, transition, given, copies)
        decided = one if one[0] > decided[0] + LIKELIER else decided
        undecided = other if other[0] > undecided[0] + LIKELIER else undecided
    _, copied, heard = undecided if undecided[0] > decided[0] + SURELY else decided
    if copied > COPIED:
        return true_classes
    updated: Floats = true_classes.copy()
    updated[rows] = heard / np.clip(transition, LEAST / len(transition), None).T[given[rows]]
    updated[rows] /= updated[rows].sum(axis=1, keepdims=True)
    return updated


def _likeliest(known: Floats, transition: Floats, given: Integers, copies: Copies) -> tuple[_Way, _Way]:
    """Return what ``_heard`` does by the likeliest of ``FACTORS``; one by one, since together they would be dozens of matrices."""
    decided, undecided = _heard(known, _gone_wrong(transition, FACTORS[0]), given, copies)
    for factor in FACTORS[1:]:
        one, other = _heard(known, _gone_wrong(transition, factor), given, copies)
        decided = one if one[0] > decided[0] else decided
        undecided = other if other[0] > undecided[0] else undecided
    return decided, undecided


def _gone_wrong(transition: Floats, factor: float) -> Floats:
    """Return the transition by which labels go wrong more or less often, ``MOST_WRONG`` at most where it is more."""
    off, (most, of_chance) = 1.0 - np.diag(transition), MOST_WRONG
    most = min(most, of_chance * (1.0 - 1.0 / len(off)))
    by = np.full(len(off), factor) if factor <= 1.0 else np.clip(most / np.maximum(off, LEAST), 1.0, factor)
    return np.eye(len(off)) + by[:, None] * (transition - np.eye(len(off)))


_Way = tuple[float, float, Floats]
"""How likely copies get their labels so (logarithm), the share copied, how likely each true class makes them, ``(n_copies, n_classes)``."""


def _heard(known: Floats, transition: Floats, given: Integers, copies: Copies) -> tuple[_Way, _Way]:
    """Return what the copies' labels say where their texts decide them, and where of some the texts do not."""
    goes = np.clip(transition, LEAST / len(transition), None)
    right = goes.T[given[copies.rows]]
    joint = known * right
    alone = joint.sum(axis=1)
    one = (copies.contradicting[copies.rows] == 0)[:, None]
    others = _of_others(np.log(right), copies.text)
    ways = [np.where(one, joint, 0.0), joint * others, joint * _of_others(np.log(np.maximum(alone, _TINY))[:, None], copies.text)]
    return _mixed(ways[:2]), _mixed(ways)


def _mixed(ways: Sequence[Floats]) -> tuple[float, float, Floats]:
    """Return the logarithm of how likely the ways make the labels together, the first one's share, and their mixture."""
    shares = _shares(np.stack([way.sum(axis=1) for way in ways]))
    together = sum((share * way for share, way in zip(shares.tolist(), ways, strict=True)), np.zeros_like(ways[0]))
    return float(np.log(np.maximum(together.sum(axis=1), _TINY)).sum()), float(shares[0]), together


def _of_others(logs: Floats, text: Integers) -> Floats:
    """Return the product over the other copies of each row, from logarithms, ``(n_copies, k)``."""
    every = np.zeros((int(text.max()) + 1, logs.shape[1]))
    np.add.at(every, text, logs)
    product: Floats = np.exp(every[text] - logs)
    return product


def _shares(likely: Floats) -> Floats:
    """Return the likeliest share of each way in which copies get their labels, from how likely it makes them, ``(n_ways, n_copies)``."""
    shares = np.full(len(likely), 1.0 / len(likely))
    for _ in range(_ROUNDS):
        joint = shares[:, None] * likely
        last, shares = shares, (joint / np.maximum(joint.sum(axis=0), _TINY)).mean(axis=1)
        if np.abs(shares - last).max() < _CLOSE:
            break
    return shares
