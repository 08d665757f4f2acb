"""How doubtful a given label is, from out-of-fold class probabilities and the estimated rates at which labels are confused.

A classifier that predicts the *given* labels well still mixes two things: what it finds hard, and what is wrong. Here the
rate at which the true class y was written down as z is estimated for the whole set, T[y, z], and a row's doubt is the
probability that its label is wrong, given both (Natarajan et al., NeurIPS 2013, class-conditional noise; Northcutt et al.,
JAIR 2021, estimate the same matrix by counting above thresholds). Where labels go wrong evenly this is close to
1 − probability of the given label; where one class is mostly mistaken for another it ranks far better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats, Ids, Integers, Integers32, Reals
from cartograph.errors import InputError

PSEUDO_ROWS = 50.0
_STEPS, _TOLERANCE, _START = 50, 1e-4, 0.05


@dataclass(frozen=True)
class Doubt:
    """How doubtful each label is.

    Attributes:
        score: probability that the given label is wrong, ``(n_examples,)``, in [0, 1]; higher = more suspect.
        suggested: the most probable other class, ``(n_examples,)``.
        transition: estimated T[y, z], share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``; rows sum to 1.
    """

    score: Floats
    suggested: Integers32
    transition: Floats


def label_doubt(probabilities: Reals, labels: Ids, *, pseudo_rows: float = PSEUDO_ROWS) -> Doubt:
    """Return the doubt about every given label.

    T comes from expectation maximisation with the probabilities held fixed: a row's true class is p[y] · T[y, z]
    normalised, and T the shares of those, with ``pseudo_rows`` rows for each entry of even noise at the overall rate added, so
    that a few hard rows do not look like a habit of the annotators. Cost: O(n_examples · n_classes) a step, 50 steps at most.

    Args:
        probabilities: for each row by a model that did not see that row, ``(n_examples, n_classes)``; each in [0, 1], rows sum to 1.
        labels: given label ids, ``(n_examples,)``.
        pseudo_rows: > 0; the larger, the closer to ranking by 1 − probability of the given label.

    Raises:
        InputError: shapes that do not fit, probabilities that are negative or do not sum to 1, or a label outside the classes.

    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.9, 0.1]])
    >>> label_doubt(p, np.array([0, 0, 1, 1])).score.argmax()
    np.int64(3)
    """
    given = check_probabilities(probabilities, labels)
    if not pseudo_rows > 0:
        raise InputError(f"`pseudo_rows` must be above 0, but is {pseudo_rows}.")
    # A model may be certain, and yet no label is beyond doubt.
    safe = np.clip(probabilities.astype(np.float64), 1e-12, None)
    n_classes = safe.shape[1]
    transition = _even(n_classes, _START)
    for _ in range(_STEPS):
        counts = _counts(_posterior(safe, transition, given), given)
        wrong = 1.0 - np.trace(counts) / counts.sum()
        added = n_classes * pseudo_rows
        updated = (counts + added * _even(n_classes, wrong)) / (counts.sum(axis=1, keepdims=True) + added)
        change, transition = np.abs(updated - transition).max(), updated
        if change < _TOLERANCE:
            break
    rows = np.arange(len(given))
    posterior = _posterior(safe, transition, given)
    right = posterior[rows, given].copy()
    posterior[rows, given] = 0.0
    # Summed over the others rather than 1 − right, which would round the surest labels to one value.
    score = posterior.sum(axis=1) / (posterior.sum(axis=1) + right)
    return Doubt(score=score, suggested=suggested_labels(probabilities, labels), transition=transition)


def suggested_labels(probabilities: Reals, labels: Ids) -> Integers32:
    """Return each row's most probable class other than the given one, ``(n_examples,)``; the lowest id where several tie.

    Args:
        probabilities: mean over epochs or models of the class probabilities, ``(n_examples, n_classes)``; best out of fold.
        labels: given label ids, ``(n_examples,)``.

    Raises:
        InputError: as ``label_doubt`` does.

    >>> suggested_labels(np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]]), np.array([0, 2])).tolist()
    [1, 0]
    """
    given = check_probabilities(probabilities, labels)
    others = probabilities.astype(np.float64)
    others[np.arange(len(given)), given] = -1.0
    suggested: Integers32 = others.argmax(axis=1).astype(np.int32)
    return suggested


def check_probabilities(probabilities: Reals, labels: Ids) -> Integers:
    """Return the labels as an index; refuse what is no table of probabilities with one label a row.

    Raises:
        InputError: naming the first row that does not fit.
    """
    if probabilities.ndim != 2 or probabilities.shape[1] < 2 or labels.shape != probabilities.shape[:1]:
        raise InputError(
            "class probabilities of shape (examples, classes ≥ 2) and one label per example are needed, "
            f"but they have shapes {probabilities.shape} and {labels.shape}."
        )
    # A sum in single precision over many classes is off by more than one in double.
    bad = ~(np.isfinite(probabilities).all(axis=1) & (probabilities >= 0).all(axis=1) & (np.abs(probabilities.sum(axis=1) - 1.0) < 1e-3))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"row {row + 1} has the class probabilities {probabilities[row].tolist()}, which are not ≥ 0 with a sum of 1.")
    outside = (labels < 0) | (labels >= probabilities.shape[1])
    if outside.any():
        row = int(outside.argmax())
        raise InputError(
            f"row {row + 1} has label id {labels[row]}, but there are probabilities of classes 0 to {probabilities.shape[1] - 1} only."
        )
    return labels.astype(np.intp)


def _posterior(probabilities: Floats, transition: Floats, given: Integers) -> Floats:
    joint = probabilities * transition.T[given]
    normalised: Floats = joint / joint.sum(axis=1, keepdims=True)
    return normalised


def _counts(posterior: Floats, given: Integers) -> Floats:
    """Return the expected rows of true class y labelled z, ``(n_classes, n_classes)``."""
    n_classes = posterior.shape[1]
    return np.stack([np.bincount(given, weights=posterior[:, label], minlength=n_classes) for label in range(n_classes)])


def _even(n_classes: int, wrong: float) -> Floats:
    even = np.full((n_classes, n_classes), wrong / (n_classes - 1))
    np.fill_diagonal(even, 1.0 - wrong)
    return even
