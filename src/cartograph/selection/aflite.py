"""aflite: the rows that withstood the filter longest, among those that it kept the least predictable first (Le Bras et al. 2020)."""

from __future__ import annotations

import numpy as np

from cartograph.selection.strategy import RESISTANCE, Candidates, Picks, Strategy, highest


def choose(candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
    """Return the n most resistant rows; rows outside the filter's pool come last."""
    resistance = candidates.measures[RESISTANCE]
    rows, tied = highest(candidates, resistance, n, rng)
    return Picks(rows, resistance[rows], [_reason(value) for value in resistance[rows].tolist()], tied)


def _reason(resistance: float) -> str:
    if resistance < 0:
        return "not in the filter's pool"
    return f"withstood the filter until round {int(np.ceil(resistance)) - 1}"


STRATEGY = Strategy("aflite", "the rows that AFLite would keep of that many: the least predictable", choose, needs=(RESISTANCE,))
