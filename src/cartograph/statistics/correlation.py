"""Pearson's correlation with an interval, and linear regression with standard errors.

Ours rather than scipy's, which sums in an order that depends on the number of threads; and without statsmodels, whose HC3 errors it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt

from cartograph.data.arrays import Floats


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return Pearson's correlation of two equally long arrays: [−1, 1], NaN where either is constant or empty."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, not of shapes {a.shape} and {b.shape}")
    if not len(a) or a.min() == a.max() or b.min() == b.max():
        return float("nan")
    # Scaled first, so that squares of very small deviations do not vanish; summed without BLAS, whose order depends on threads.
    a, b = (centred / np.abs(centred).max() for centred in (a - a.mean(), b - b.mean()))
    return float(np.clip((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()), -1.0, 1.0))


@dataclass(frozen=True)
class Correlation:
    """Pearson's r and the ends of its 95 % interval over draws of the rows."""

    r: float
    low: float
    high: float


def correlation(first: Floats, second: Floats, rng: np.random.Generator, resamples: int = 2000) -> Correlation:
    """Return the correlation of two measures of the same rows, with a bootstrap interval (Efron and Tibshirani 1993, ch. 13).

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
        ValueError: a term is constant, or a linear combination of the other ones.
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
