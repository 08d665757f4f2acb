"""The probabilities of the true classes from those of the given labels: what a classifier would say, had it not learnt from errors.

A classifier that is fitted on labels of which a twentieth is wrong gives no class more than .95, however clear the row is, and fitting its
scores to those labels flattens them further: rows that are all equally clear end between .6 and .95. So the scores are fitted
*through* the noise: q = softmax(slope · log p + bias), with slope and biases under which the given labels are most likely as draws from
q T, T[y, z] the rate at which class y is labelled z (forward correction: Patrini et al., CVPR 2017, §4.2). Where labels are clear but for
errors, the slope becomes steep; where rows are hard, it stays near 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from cartograph.data.arrays import Floats, Integers

_ROWS, _CELLS, _FEWEST = 20_000, 4_000_000, 2_000
"""Most rows that are fitted on, evenly spaced; fewer where there are many classes, but so many at least."""

_MOST_BIASES = 200
"""Classes above which only the slope is fitted: a bias a class would be fitted on a handful of rows."""

_HOLD, _HOLD_BIAS = 0.1, 1.0
_STEPS, _TOLERANCE, _LOWEST = 80, 1e-7, 1e-6


@dataclass(frozen=True)
class Sharpened:
    """Slope and biases of the log probabilities.

    Attributes:
        slope: > 0; 1 leaves them as they are.
        biases: of each class, ``(n_classes,)``.
    """

    slope: float
    biases: Floats

    def probabilities(self, given: Floats) -> Floats:
        """Return the probabilities of the true classes from those of the given labels, both ``(n_examples, n_classes)``."""
        shares: Floats = softmax(self.slope * _centred_logs(given) + self.biases, axis=1)
        return shares


def sharpen(probabilities: Floats, labels: Integers, transition: Floats) -> Sharpened:
    """Return the slope and biases under which the given labels are most likely, if they are true classes gone wrong by ``transition``.

    Each step takes the true classes' posterior probabilities for targets, and one Newton step of the logistic regression on them. Cost:
    O(rows · n_classes) a step, at most eighty, on at most 20,000 rows.

    Args:
        probabilities: out-of-sample, of the given labels, ``(n_examples, n_classes)``.
        labels: given label ids, ``(n_examples,)``.
        transition: T[y, z], the share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``.
    """
    n_classes = probabilities.shape[1]
    most = min(_ROWS, max(_FEWEST, _CELLS // n_classes))
    sample = np.unique(np.linspace(0, len(labels) - 1, min(len(labels), most)).astype(np.intp))
    logs, gone_wrong = _centred_logs(probabilities[sample]), transition.T[labels[sample]]
    fitted, best = Sharpened(1.0, np.zeros(n_classes)), -np.inf
    for _ in range(_STEPS):
        true = softmax(fitted.slope * logs + fitted.biases, axis=1)
        joint = true * gone_wrong
        likelihood = joint.sum(axis=1)
        held = _HOLD * np.log(fitted.slope) ** 2 + _HOLD_BIAS * (fitted.biases**2).sum()
        gain, best = float(np.log(likelihood).sum()) - held / 2 - best, float(np.log(likelihood).sum()) - held / 2
        if gain < _TOLERANCE * abs(best):
            break
        fitted = _step(fitted, logs, true, true - joint / likelihood[:, None])
    return fitted


def _step(fitted: Sharpened, logs: Floats, true: Floats, residual: Floats) -> Sharpened:
    n_classes, slope = logs.shape[1], fitted.slope
    weighted = true * logs
    mean = weighted.sum(axis=1)
    uphill = float((residual * logs).sum()) + _HOLD * np.log(slope) / slope
    # The prior of the slope is normal in its logarithm, so that far from 1 it curves the other way: its curvature is kept above 0.
    curve = float((weighted * logs).sum() - (mean**2).sum()) + _HOLD * max((1.0 - np.log(slope)) / slope**2, 0.05)
    if n_classes > _MOST_BIASES:
        return Sharpened(_moved(slope, uphill / curve), fitted.biases)
    cross = weighted.sum(axis=0) - mean @ true
    at_bias = np.diag(true.sum(axis=0) + _HOLD_BIAS) - true.T @ true
    system = np.block([[np.array([[curve]]), cross[None]], [cross[:, None], at_bias]])
    step = np.linalg.solve(system, np.concatenate([[uphill], residual.sum(axis=0) + _HOLD_BIAS * fitted.biases]))
    return Sharpened(_moved(slope, float(step[0])), fitted.biases - np.clip(step[1:], -1.0, 1.0))


def _moved(slope: float, step: float) -> float:
    return slope - float(np.clip(step, -0.5 * slope, 0.5 * slope))


def _centred_logs(probabilities: Floats) -> Floats:
    logs = np.log(np.clip(probabilities, _LOWEST, None))
    centred: Floats = logs - logs.mean(axis=1, keepdims=True)
    return centred
