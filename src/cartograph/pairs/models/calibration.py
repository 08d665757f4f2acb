"""The calibration of a cosine model: a logistic regression on the standardised cosine, fitted to convergence (section A.1 of the paper)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from cartograph.data.arrays import Floats, Ids, Reals
from cartograph.data.json_files import read_json, write_json

_STEPS = 100
_RIDGE = 1e-3
_LEAST_SLOPE = 1e-3


@dataclass(frozen=True)
class Calibration:
    """p = σ(w · (cosine − mean) / deviation + b), with w > 0.

    Attributes:
        mean: of the cosines that it was fitted on.
        deviation: their standard deviation.
        w: slope.
        b: intercept.
    """

    mean: float
    deviation: float
    w: float
    b: float

    def probability(self, cosine: Reals) -> Floats:
        """Return the probability of being positive; it rises with the cosine."""
        probability: Floats = expit(self.w * (np.asarray(cosine, np.float64) - self.mean) / self.deviation + self.b)
        return probability

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        write_json(path, asdict(self))

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read back what ``save`` wrote."""
        return cls(**read_json(path))


def calibrate(cosine: Reals, label: Ids) -> Calibration:
    """Fit slope and intercept by Newton's method; a ridge of 0.001 on the slope keeps it finite where a cut parts the labels.

    The cosines of one class alone say nothing of a slope: it is then 1, and the intercept the log odds with half a row added to either
    class. A slope that would not be positive is held just above 0.

    Args:
        cosine: (n,) of labelled pairs.
        label: (n,) 1 = positive.
    """
    mean, deviation = float(np.mean(cosine)), max(float(np.std(cosine)), 1e-6)
    x, y = (np.asarray(cosine, np.float64) - mean) / deviation, (label == 1).astype(np.float64)
    prior = float(np.log((y.sum() + 0.5) / (len(y) - y.sum() + 0.5)))
    if y.min() == y.max():
        return Calibration(mean, deviation, 1.0, prior)
    w, b = _newton(x, y, prior)
    if w < _LEAST_SLOPE:
        w, b = _LEAST_SLOPE, prior
    return Calibration(mean, deviation, w, b)


def _newton(x: Reals, y: Reals, b: float) -> tuple[float, float]:
    w = 0.0
    for _ in range(_STEPS):
        p = expit(w * x + b)
        curve = p * (1 - p) + 1e-12
        gradient = np.array([((p - y) * x).sum() + _RIDGE * w, (p - y).sum()])
        hessian = np.array([[(curve * x * x).sum() + _RIDGE, (curve * x).sum()], [(curve * x).sum(), curve.sum()]])
        step = np.linalg.solve(hessian, gradient)
        longest = float(np.abs(step).max())
        # Newton steps overshoot where the probabilities are near 0 and 1.
        step *= min(1.0, 2.0 / longest) if longest > 0 else 1.0
        w, b = w - float(step[0]), b - float(step[1])
        if longest < 1e-10:
            break
    return w, b
