"""The strategies that keep the rows of highest or lowest score: a measure of the map, or a number made of what else is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cartograph.data.arrays import Array, Floats
from cartograph.maps.measures import NEVER_LEARNT
from cartograph.selection.strategy import ACQUISITION, RESISTANCE, Candidates, Choose, Picks, Strategy, highest


def by_score(score: Callable[[Candidates], Array], reason: Callable[[float], str], sign: float = 1.0) -> Choose:
    """Return the choice of the rows with the highest (``sign`` 1) or lowest (-1) score; ``reason`` words a row's score."""

    def choose(candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
        values = score(candidates).astype(np.float64)
        rows, tied = highest(candidates, values, n, rng, sign)
        return Picks(rows, values[rows], [reason(value) for value in values[rows].tolist()], tied)

    return choose


def by_measure(name: str, meaning: str, measure: str, sign: float, what: str) -> Strategy:
    """Return the strategy of the rows with the highest (``sign`` 1) or lowest (-1) value of a measure; ``what`` begins the reason."""
    choose = by_score(lambda candidates: candidates.measures[measure], lambda value: f"{what}: {measure} {value:.3f}", sign)
    return Strategy(name, meaning, choose, needs=(measure,))


def _forgetting(candidates: Candidates) -> Floats:
    events = candidates.measures["forgetting"]
    return np.where(events == NEVER_LEARNT, np.inf, events.astype(np.float64))


def _certainty(candidates: Candidates) -> Floats:
    assert candidates.acquisition is not None
    certainty: Floats = candidates.acquisition.probabilities.max(axis=1)
    return certainty


# Swayamdipta et al. 2020, §3 and Table 2, but for the last.
STRATEGIES = (
    by_measure("high-confidence", "the rows of highest confidence: easy to learn", "confidence", 1.0, "easy to learn"),
    by_measure("low-variability", "the rows of lowest variability", "variability", -1.0, "steady"),
    by_measure("high-correctness", "the rows that were right in most epochs", "correctness", 1.0, "often right"),
    # Toneva et al. 2019.
    Strategy(
        "forgetting",
        "the rows forgotten most often; never learnt counts as most",
        by_score(_forgetting, lambda events: "never learnt" if np.isinf(events) else f"forgotten in {events:.0f} epoch changes"),
        needs=("forgetting",),
    ),
    # Joshi et al. 2009; the score is the probability of the most probable class, lower = less certain.
    Strategy(
        "AL-uncertainty",
        "the rows a model of a random share is least certain of",
        by_score(_certainty, lambda value: f"uncertain: its most probable class has {value:.3f}", sign=-1.0),
        needs=(ACQUISITION,),
    ),
    by_measure("low-correctness", "the rows that were right in fewest epochs", "correctness", -1.0, "seldom right"),
    by_measure("hard-to-learn", "the rows of lowest confidence", "confidence", -1.0, "hard to learn"),
    by_measure("ambiguous", "the rows of highest variability", "variability", 1.0, "ambiguous"),
    # Le Bras et al. 2020; rows outside the filter's pool come last.
    Strategy(
        "aflite",
        "the rows that AFLite would keep of that many: the least predictable",
        by_score(
            lambda candidates: candidates.measures[RESISTANCE],
            lambda value: "not in the filter's pool" if value < 0 else f"kept by the filter until round {int(np.ceil(value)) - 1}",
        ),
        needs=(RESISTANCE,),
    ),
)
