"""random: a uniform sample, which every other selection is compared with."""

from __future__ import annotations

import numpy as np

from cartograph.data.lots import lots
from cartograph.selection.strategy import Candidates, Picks, Strategy


def choose(candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
    """Return the first n rows of a random order; their score is their place in it."""
    drawn = lots(candidates.uids, rng)
    rows = np.argsort(drawn, kind="stable")[:n]
    return Picks(rows, drawn[rows].astype(np.float64), ["drawn at random"] * len(rows))


STRATEGY = Strategy("random", "a uniform sample", choose)
