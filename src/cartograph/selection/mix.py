"""mix: ambiguous rows, a share of them replaced by the easiest (Swayamdipta et al. 2020, §4 and Fig. 3, right)."""

from __future__ import annotations

import numpy as np

from cartograph.selection.strategy import Candidates, Picks, Strategy, highest


def choose(candidates: Candidates, n: int, rng: np.random.Generator, share: float) -> Picks:
    """Return round(share · n) of the easiest rows behind the n − round(share · n) most ambiguous ones.

    The easy rows are those of highest confidence among the rows that are not taken for their variability; the score is the
    measure that a row was taken for. ``tied`` counts the ties at the cut of the easy rows, or of the ambiguous where no easy row is taken.
    """
    easy = round(share * n)
    ambiguous, tied = highest(candidates, candidates.measures["variability"], n - easy, rng)
    left = np.setdiff1d(np.arange(len(candidates)), ambiguous)
    best, tied_easy = highest(candidates.take(left), candidates.measures["confidence"][left], easy, rng)
    rows = np.concatenate([ambiguous, left[best]]).astype(np.int64)
    variability, confidence = candidates.measures["variability"][ambiguous], candidates.measures["confidence"][left[best]]
    reasons = [f"ambiguous: variability {value:.3f}" for value in variability]
    reasons += [f"easy, in place of an ambiguous row: confidence {value:.3f}" for value in confidence]
    return Picks(rows, np.concatenate([variability, confidence]).astype(np.float64), reasons, tied_easy if easy else tied)


STRATEGY = Strategy(
    "mix",
    "ambiguous rows, a share of them replaced by the easiest",
    choose,
    needs=("variability", "confidence"),
    share=0.1,
)
