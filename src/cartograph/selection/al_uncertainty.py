"""AL-uncertainty: the rows that a model trained on a small random share is least certain of (Joshi et al. 2009; Table 2)."""

from __future__ import annotations

import numpy as np

from cartograph.selection.strategy import ACQUISITION, Candidates, Picks, Strategy, highest


def choose(candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
    """Return the n rows whose most probable class is least probable; the score is that probability, lower = less certain."""
    if candidates.acquisition is None:
        raise ValueError("AL-uncertainty needs an acquisition model")
    certainty = candidates.acquisition.probabilities.max(axis=1)
    rows, tied = highest(candidates, certainty, n, rng, sign=-1.0)
    reasons = [f"uncertain: its most probable class has {value:.3f}" for value in certainty[rows]]
    return Picks(rows, certainty[rows].astype(np.float64), reasons, tied)


STRATEGY = Strategy("AL-uncertainty", "the rows a model of a random share is least certain of", choose, needs=(ACQUISITION,))
