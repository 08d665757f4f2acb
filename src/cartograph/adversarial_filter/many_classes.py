"""The filter's classifiers where classes are many: linear discriminants in closed form, each row judged against its strongest rivals.

A softmax of a thousand classes costs a thousand times what one of two does, in every pass, for every partition. Where there are more than
``kept_logits.WHOLE`` classes two approximations take its place. A partition's classifier is the linear discriminant of its rows (a normal
distribution around each class's mean, all with one covariance): sums over its rows, and one small system of equations. And a prediction
counts as right where the row's own class scores higher than its ``RIVALS`` strongest others by the discriminant of all rows, in the first
round. Of 3,000 rows in 150 classes, of whose labels a third is guessed, one prediction in 65 counts as right that is not; predictability
correlates with that by logistic regressions at .95.

Cost: O(rows · d · classes) once, and of a round O(t · d² + d² · classes) a partition, O(rows · RIVALS · d · partitions).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from cartograph.adversarial_filter.classifiers import Rows, single_class
from cartograph.adversarial_filter.forecast import Report, unheard
from cartograph.data.arrays import Bools, Floats32, Integers, Integers32
from cartograph.data.kept_logits import in_blocks

RIVALS = 16
"""Other classes that a row's own is compared with."""

_FITTED = 0.65
"""About the share of a round's time that goes into the fits."""

_SHRINKAGE = 0.1
_ABSENT = np.float32(-1e30)
_BLOCK_PAIRS = 2**23


class ManyClasses:
    """Linear discriminants of every partition; see ``classifiers.Classifier``."""

    def __init__(self) -> None:
        self._classes = 0
        self._rivals: list[Integers32] = []

    def tally(
        self, pool: Rows, train: Bools, others: Sequence[Rows], seed: int, report: Report = unheard
    ) -> tuple[Integers32, list[Integers32]]:
        """See ``Classifier``; nothing is random, so the seed is not used."""
        # Thousands of small products: more threads than one wait for each other.
        with threadpool_limits(1):
            return self._tally(pool, train, others, report)

    def _tally(self, pool: Rows, train: Bools, others: Sequence[Rows], report: Report) -> tuple[Integers32, list[Integers32]]:
        features = np.asarray(pool.features[pool.places], dtype=np.float32)
        classes = int(pool.labels.max()) + 1
        single = single_class(pool.labels, train)
        unseen = [np.asarray(other.features[other.places], dtype=np.float32) for other in others]
        # Ids of classes are other ones as soon as a class has left.
        if classes != self._classes:
            every = _fitted(features, pool.labels, classes)
            self._rivals = [_rivals(part, rows, every) for part, rows in zip((features, *unseen), (pool, *others), strict=True)]
            self._classes = classes
        weights = np.empty((classes, train.shape[1], features.shape[1] + 1), np.float32)
        for number, own in enumerate(train.T):
            weights[:, number] = _fitted(features[own], pool.labels[own], classes)
            report(_FITTED * (number + 1) / train.shape[1])
        right = _right(features, pool.labels, self._rivals[0][pool.places], weights, ~train, single)
        every_row = [np.ones((len(part), train.shape[1]), bool) for part in unseen]
        return right, [
            _right(part, other.labels, known[other.places], weights, mask, single)
            for part, other, known, mask in zip(unseen, others, self._rivals[1:], every_row, strict=True)
        ]


def _fitted(features: Floats32, labels: Integers, classes: int) -> Floats32:
    """Return a discriminant's weights and, in the last column, biases, ``(classes, d + 1)``; an absent class's bias is huge, negative."""
    number = np.bincount(labels, minlength=classes)
    of_class = sparse.csr_array((np.ones(len(labels), np.float32), (labels, np.arange(len(labels)))), shape=(classes, len(labels)))
    mean = (of_class @ features) / np.maximum(number, 1)[:, None].astype(np.float32)
    within = (features.T @ features - (mean.T * number) @ mean).astype(np.float64) / len(labels)
    size = max(float(np.trace(within)) / len(within), 1e-12)
    within *= 1.0 - _SHRINKAGE
    within.flat[:: len(within) + 1] += _SHRINKAGE * size
    weights = mean @ np.linalg.inv(within).astype(np.float32)
    bias = np.log(np.maximum(number, 1) / len(labels)) - np.einsum("cd,cd->c", mean, weights) / 2
    return np.concatenate([weights, np.where(number > 0, bias, _ABSENT)[:, None]], axis=1).astype(np.float32)


def _right(features: Floats32, labels: Integers, rivals: Integers32, weights: Floats32, held_out: Bools, single: Integers) -> Integers32:
    """Return how many of the partitions that hold a row out predict its label, ``(n_examples,)``; a label of −1 never is.

    Args:
        features: ``(n_examples, d)``.
        labels: label ids, ``(n_examples,)``.
        rivals: ids of the classes that each row's own is compared with, ``(n_examples, k)``.
        weights: of each class and partition, ``(classes, n_partitions, d + 1)``.
        held_out: ``(n_examples, n_partitions)``.
        single: the one class of a partition, −1 where it has several.
    """
    tally = np.zeros(len(labels), np.int32)
    for block in in_blocks(len(labels), (rivals.shape[1] + 1) * weights.shape[1], _BLOCK_PAIRS):
        known = np.flatnonzero(labels[block] >= 0) + block.start
        if not len(known):
            continue
        own, against = labels[known], rivals[known]
        scores = _scores(features[known], np.concatenate([own[:, None], against], axis=1), weights)
        # Of equal scores the first class wins.
        ahead = (scores[:, :1] > scores[:, 1:]) | ((scores[:, :1] == scores[:, 1:]) & (own[:, None] < against)[:, :, None])
        right = np.where(single >= 0, own[:, None] == single, ahead.all(axis=1) & (scores[:, 0] > _ABSENT / 2))
        tally[known] = (right & held_out[known]).sum(axis=1)
    return tally


def _rivals(features: Floats32, rows: Rows, every: Floats32) -> Integers32:
    """Return the classes other than their own that score highest of the rows in play, by their places, ``(n_rows_in_all, rivals)``."""
    number = min(RIVALS, len(every) - 1)
    found = np.zeros((len(rows.features), number), np.int32)
    for block in in_blocks(len(features), len(every)):
        scores = features[block] @ every[:, :-1].T
        scores += every[:, -1]
        scores[np.arange(len(scores)), rows.labels[block]] = -np.inf
        found[rows.places[block]] = np.argpartition(scores, -number, axis=1)[:, -number:]
    return found


def _scores(features: Floats32, classes: Integers, weights: Floats32) -> Floats32:
    """Return every partition's scores of some classes of each row, ``(n_rows, k, n_partitions)``, class by class."""
    rows = np.repeat(np.arange(len(features)), classes.shape[1])
    order = np.argsort(classes, axis=None, kind="stable")
    of_class = classes.ravel()[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(of_class)) + 1, [len(of_class)]])
    scores = np.empty((classes.size, weights.shape[1]), np.float32)
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part, own = order[first:last], weights[of_class[first]]
        scores[part] = features[rows[part]] @ own[:, :-1].T + own[:, -1]
    return scores.reshape(*classes.shape, -1)
