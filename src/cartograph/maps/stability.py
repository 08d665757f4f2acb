"""Stability of a data map: between fewer epochs and all (burn-out), and between random seeds.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), App. A.1 with Fig. 6, and footnote 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cartograph.data.arrays import Floats
from cartograph.maps.measures import Measures, mean_and_deviation
from cartograph.statistics.correlation import pearson


class BurnOut(NamedTuple):
    """How soon a map settles; both ``(n_epochs,)``, entry b − 1 belongs to the first b epochs; 1 = settled."""

    confidence: Floats
    variability: Floats


def burn_out(probabilities: Floats) -> BurnOut:
    """Return Pearson's r between the map of the first b epochs and the map of all, for b = 1..E.

    Args:
        probabilities: the gold label's probability, ``(n_examples, n_epochs)``.

    A correlation is NaN where it has no meaning: one epoch has no variability.
    """
    columns = list(np.ascontiguousarray(probabilities.T))
    full = mean_and_deviation(columns)
    curve = [mean_and_deviation(columns[:count]) for count in range(1, len(columns) + 1)]
    return BurnOut(*(np.array([pearson(early[axis], full[axis]) for early in curve]) for axis in (0, 1)))


class Stability(NamedTuple):
    """Mean Pearson's r over all pairs of maps; the paper has 0.75 or more on WinoGrande with five seeds."""

    confidence: float
    variability: float


def stability(maps: Sequence[Measures]) -> Stability:
    """Return how far maps of one dataset agree, for example maps from different random seeds.

    Args:
        maps: two or more, their rows in the same order.
    """
    pairs = list(combinations(maps, 2))
    if not pairs:
        raise ValueError(f"two maps or more are needed, not {len(maps)}")
    return Stability(
        float(np.mean([pearson(a.confidence, b.confidence) for a, b in pairs])),
        float(np.mean([pearson(a.variability, b.variability) for a, b in pairs])),
    )
