"""Folds of a train set, balanced by class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Ids, Integers
from cartograph.errors import InputError


def assign_folds(labels: Ids, folds: int, classes: Sequence[str], rng: np.random.Generator) -> Integers:
    """Return a fold id in [0, folds) for each row; fold sizes, and each class's rows per fold, differ by one at most.

    Args:
        labels: label ids, ``(n_examples,)``.
        folds: 2 or more.
        classes: class names, for messages.
        rng: shuffles the rows.

    Raises:
        InputError: fewer than two folds, or more than the smallest class that occurs has rows.

    >>> assign_folds(np.array([0, 1, 0, 1]), 2, ["no", "yes"], np.random.default_rng(1)).tolist()
    [0, 0, 1, 1]
    """
    if folds < 2:
        raise InputError(f"`folds` must be 2 or more, so that each row has models that did not see it, but is {folds}.")
    counts = np.bincount(labels, minlength=len(classes))
    smallest = int(np.where(counts > 0, counts, len(labels) + 1).argmin())
    rows = int(counts[smallest])
    if folds > rows:
        sizes = ", ".join(f"{name} {count:,}" for name, count in zip(classes, counts, strict=True))
        fewer = f"use {rows} folds or fewer, or " if rows > 1 else ""
        raise InputError(
            f"`folds` is {folds}, but class {classes[smallest]!r} has only {rows:,} row{'s' * (rows > 1)} "
            f"(rows per class: {sizes}); {fewer}merge or drop the small class."
        )
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold
