"""The share of wrong labels that is assumed where none can be estimated, and odds that come to it."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from cartograph.data.arrays import Floats

PRIOR = 0.1
"""Share of wrong labels that classifiers of suspects assume: no number is estimated where the committee cannot be used."""


def to_prior(odds: Floats) -> float:
    """Return what, added to the rows' log odds, makes their mean probability ``PRIOR``.

    >>> expit(np.array([-1.0, 3.0]) + to_prior(np.array([-1.0, 3.0]))).mean().round(6)
    np.float64(0.1)
    """
    low, high = -float(odds.max()) - 50.0, -float(odds.min()) + 50.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(odds + middle).mean() < PRIOR else (low, middle)
    return (low + high) / 2


def without_prior(probability: Floats) -> Floats:
    """Return probabilities before their odds were moved half the way to ``PRIOR``; those whose mean is no more than that as they are.

    >>> odds = np.array([-2.0, -1.0, 3.0])
    >>> without_prior(expit(odds + to_prior(odds) / 2.0)).round(6).tolist() == expit(odds).round(6).tolist()
    True
    >>> without_prior(np.array([0.01, 0.1])).tolist()
    [0.01, 0.1]
    """
    if probability.mean() <= PRIOR:
        return probability
    odds = logit(np.clip(probability, 1e-15, 1.0 - 1e-15))
    moved: Floats = expit(odds - to_prior(odds))
    return moved
