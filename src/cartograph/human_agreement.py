"""How far annotators agree on a row, and how that goes with where the row lies on the data map.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §6 and Fig. 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from cartograph.stability import pearson

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.integer[Any]]


def label_counts(labels: Sequence[Sequence[str] | None], classes: Sequence[str]) -> Counts:
    """Return how many annotators gave each class, ``(n_examples, n_classes)``; labels that are no class do not count.

    >>> label_counts([["yes", "no", "yes"], None], ["no", "yes"]).tolist()
    [[1, 2], [0, 0]]
    """
    place = {name: number for number, name in enumerate(classes)}
    counts = np.zeros((len(labels), len(classes)), np.int64)
    for row, given in enumerate(labels):
        for label in given or ():
            if label in place:
                counts[row, place[label]] += 1
    return counts


def annotator_agreement(counts: Counts) -> Floats:
    """Return, per row, the mean over its annotators of how surely each agrees with the majority of the other ones; [0, 1].

    Where several labels have most of the others' votes the majority is one of them at random, each as likely: its expectation is taken
    and no lot is drawn.

    Args:
        counts: how many annotators gave each label, ``(n_examples, n_classes)``; a row with fewer than two has NaN.

    >>> annotator_agreement(np.array([[5, 0, 0], [4, 1, 0], [1, 1, 0]])).tolist()
    [1.0, 0.8, 0.0]
    """
    total = counts.sum(axis=1)
    found = np.zeros(len(counts))
    for label in range(counts.shape[1]):
        others = counts.copy()
        others[:, label] -= 1
        most = others.max(axis=1)
        agrees = (others[:, label] == most) / (others == most[:, None]).sum(axis=1)
        found += np.where(counts[:, label] > 0, counts[:, label] * agrees, 0.0)
    mean: Floats = np.divide(found, total, out=np.full(len(counts), np.nan), where=total >= 2)
    return mean


@dataclass(frozen=True)
class Correlation:
    """Pearson's r and the ends of its 95 % interval over draws of the rows."""

    r: float
    low: float
    high: float


def correlation(first: Floats, second: Floats, rng: np.random.Generator, resamples: int = 2000) -> Correlation:
    """Return how two measures of the same rows go together, with a bootstrap interval (Efron and Tibshirani 1993, ch. 13).

    All three are NaN where a measure is constant.
    """
    drawn = []
    for _ in range(resamples):
        rows = rng.integers(0, len(first), len(first))
        drawn.append(pearson(first[rows], second[rows]))
    known = [r for r in drawn if np.isfinite(r)]
    low, high = np.quantile(known, (0.025, 0.975)) if known else (np.nan, np.nan)
    return Correlation(pearson(first, second), float(low), float(high))


@dataclass(frozen=True)
class Term:
    """One term of a regression: its coefficient, standard error, two-sided p, and what R² gains by it."""

    name: str
    coefficient: float
    error: float
    p: float
    gain: float


def regression(target: Floats, terms: dict[str, Floats]) -> list[Term]:
    """Return an ordinary least-squares fit of ``target`` on a constant and the terms, each scaled to deviation 1.

    Errors hold for unequal variances (HC3: MacKinnon and White 1985); p is of a normal test, for some hundred rows or more; ``gain`` is R²
    with all terms less R² without this one.

    Raises:
        ValueError: a term is constant or the terms hang on each other.
    """
    columns = {name: (values - values.mean()) / values.std() for name, values in terms.items() if values.std() > 0}
    if len(columns) < len(terms):
        raise ValueError(f"term {next(name for name in terms if name not in columns)!r} is constant")
    design = np.column_stack([np.ones(len(target)), *columns.values()])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError("a term is a sum of the other ones")
    inverse = np.linalg.inv(design.T @ design)
    weights = inverse @ design.T @ target
    left = target - design @ weights
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    meat = design * (left / np.maximum(1 - leverage, 1e-9))[:, None]
    errors = np.sqrt(np.diag(inverse @ (meat.T @ meat) @ inverse))
    whole = _explained(design, target)
    return [
        Term(
            name,
            float(weights[place]),
            float(errors[place]),
            erfc(abs(weights[place] / errors[place]) / sqrt(2)),
            whole - _explained(np.delete(design, place, axis=1), target),
        )
        for place, name in enumerate(columns, start=1)
    ]


def _explained(design: Floats, target: Floats) -> float:
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(1 - (left @ left) / ((target - target.mean()) @ (target - target.mean())))
