"""Scores on the stated test pairs, which somebody balanced: what published tables report, and what hides a useless model."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.integer[Any]]


def accuracy_and_f1(label: Labels, probability: Scores) -> tuple[float, float]:
    """Return accuracy and F1 of the positive class at p ≥ ½, each in [0, 1]; F1 is 0 where nothing is predicted positive.

    >>> accuracy_and_f1(np.array([1, 1, 0, 0]), np.array([0.9, 0.2, 0.8, 0.1]))
    (0.5, 0.5)
    """
    predicted = probability >= 0.5
    positive = label == 1
    hits = int(np.count_nonzero(predicted & positive))
    return float(np.mean(predicted == positive)), 2 * hits / max(int(predicted.sum() + positive.sum()), 1)


def clean_map(query: npt.NDArray[np.integer[Any]], label: Labels, score: Scores) -> float | None:
    """Return mean average precision over *clean* queries, those with a positive and a negative pair; None where there is none.

    Pairs of one score are taken together, so their order does not count.

    Args:
        query: (n,) which query each pair belongs to.
        label: (n,) 1 = positive.
        score: (n,) higher = more likely positive.
    """
    found = []
    order = np.argsort(query, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
        positive = label[rows] == 1
        if not positive.any() or positive.all():
            continue
        ranked = rows[np.argsort(-score[rows], kind="stable")]
        ends = np.flatnonzero(np.diff(score[ranked], append=-np.inf))
        hits = np.cumsum(label[ranked] == 1)[ends]
        found.append(float(np.sum(np.diff(hits, prepend=0) / positive.sum() * hits / (ends + 1))))
    return float(np.mean(found)) if found else None
