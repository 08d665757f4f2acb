"""Accuracy, F1 and clean MAP on the balanced stated test pairs, as published tables report them."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Ids, Reals
from cartograph.pairs.pair_space import Keys, PairSpace


def accuracy_and_f1(label: Ids, probability: Reals, weight: Reals | None = None) -> tuple[float, float]:
    """Return accuracy and F1 of the positive class at p ≥ ½, each in [0, 1]; F1 is 0 where nothing is predicted positive.

    >>> accuracy_and_f1(np.array([1, 1, 0, 0]), np.array([0.9, 0.2, 0.8, 0.1]))
    (0.5, 0.5)

    Args:
        label: (n,) 1 = positive.
        probability: (n,) of being positive.
        weight: (n,) how often each pair counts, not all 0; None: once.
    """
    counts = np.ones(len(label)) if weight is None else weight
    predicted, positive = probability >= 0.5, label == 1
    hits = counts[predicted & positive].sum()
    right = counts[predicted == positive].sum() / counts.sum()
    return float(right), float(2 * hits / max(counts[predicted].sum() + counts[positive].sum(), 1))


def clean_map(query: Ids, label: Ids, score: Reals) -> float | None:
    """Return mean average precision over *clean* queries, those with a positive and a negative pair; None without such a query.

    Args:
        query: (n,) which query each pair belongs to.
        label: (n,) 1 = positive.
        score: (n,) higher = more likely positive.
    """
    precisions = _clean(query, label, score)[1]
    return float(precisions.mean()) if len(precisions) else None


def balanced_draws(space: PairSpace, keys: Keys, label: Ids, probability: Reals, resamples: int, rng: np.random.Generator) -> Floats:
    """Return accuracy, F1 and clean MAP on each draw of the utterances with replacement, ``(resamples, 3)``.

    A pair counts as often as its utterances were drawn, as in ``estimate.bootstrap_scores``; nan where a draw has no pair or clean query,
    and for the clean MAP of a symmetric space.

    Args:
        space: of the split.
        keys: (n,) its stated pairs.
        label: (n,) 1 = positive.
        probability: (n,) of being positive.
        resamples: how many draws.
        rng: of the draws.
    """
    left, right = space.pairs(keys)
    queries, precision = _clean(left, label, probability)
    rows = np.searchsorted(space.left, left)
    others = np.searchsorted(space.right, right)
    draws = np.full((resamples, 3), np.nan)
    for draw in draws:
        times = np.bincount(rng.integers(0, len(space.left), len(space.left)), minlength=len(space.left)).astype(np.float64)
        weight = times[rows] * (times[others] if space.symmetric else 1.0)
        if weight.any():
            draw[:2] = accuracy_and_f1(label, probability, weight)
        drawn = times[np.searchsorted(space.left, queries)]
        if not space.symmetric and drawn.any():
            draw[2] = drawn @ precision / drawn.sum()
    return draws


def _clean(query: Ids, label: Ids, score: Reals) -> tuple[Ids, Floats]:
    """Return the clean queries and the average precision of each; pairs of one score are taken together, so their order does not count."""
    queries, precisions = [], []
    order = np.argsort(query, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
        positive = label[rows] == 1
        if not positive.any() or positive.all():
            continue
        ranked = rows[np.argsort(-score[rows], kind="stable")]
        ends = np.flatnonzero(np.diff(score[ranked], append=-np.inf))
        hits = np.cumsum(label[ranked] == 1)[ends]
        queries.append(query[rows[0]])
        precisions.append(float(np.sum(np.diff(hits, prepend=0) / positive.sum() * hits / (ends + 1))))
    return np.array(queries, np.int64), np.array(precisions)
