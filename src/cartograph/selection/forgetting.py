"""forgetting: the rows that were forgotten most often, those never learnt before all (Toneva et al. 2019; Swayamdipta et al. 2020, §3)."""

from __future__ import annotations

import numpy as np

from cartograph.maps.measures import NEVER_LEARNT
from cartograph.selection.strategy import Candidates, Picks, Strategy, highest


def choose(candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
    """Return the n rows of most forgetting events; the score of a row never learnt is infinite."""
    events = candidates.measures["forgetting"]
    score = np.where(events == NEVER_LEARNT, np.inf, events.astype(np.float64))
    rows, tied = highest(candidates, score, n, rng)
    reasons = ["never learnt" if np.isinf(value) else f"forgotten in {value:.0f} epoch changes" for value in score[rows]]
    return Picks(rows, score[rows], reasons, tied)


STRATEGY = Strategy("forgetting", "the rows forgotten most often; never learnt counts as most", choose, needs=("forgetting",))
