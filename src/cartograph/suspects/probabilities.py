"""Class probabilities with one label a row: whether they are what they should be, and which other label they suggest."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Ids, Integers, Integers32, Reals
from cartograph.data.kept_logits import KeptShares
from cartograph.errors import InputError


def suggested_labels(probabilities: Reals | KeptShares, labels: Ids) -> Integers32:
    """Return each row's most probable class other than the given one, ``(n_examples,)``; the lowest id where several tie.

    Args:
        probabilities: mean over epochs or models of the class probabilities, ``(n_examples, n_classes)``; best out of fold.
        labels: given label ids, ``(n_examples,)``.

    Raises:
        InputError: as ``label_doubt`` does.

    >>> suggested_labels(np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]]), np.array([0, 2])).tolist()
    [1, 0]
    """
    if isinstance(probabilities, KeptShares):
        return probabilities.other_than(labels)
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
