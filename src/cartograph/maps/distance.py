"""How far apart two data maps lie: the energy distance of their points, and a permutation test of it.

The energy distance of two samples X and Y is ``2 E|X - Y| - E|X - X'| - E|Y - Y'|`` (Szekely & Rizzo 2004, "Testing for equal
distributions in high dimension"), with | | the Euclidean distance on the map's plane. It is 0 where the two distributions are
the same. The test asks how often a random parting of all points into two sets of the same sizes gives at least as much.
Complexity: O(n²) distances of at most ``2 * MOST_POINTS`` points, one matrix product for all permutations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Reals
from cartograph.errors import InputError

MOST_POINTS = 1500
"""Points of a map that a comparison looks at; larger maps are sampled."""


@dataclass(frozen=True)
class MapDistance:
    """How far apart two maps lie.

    Attributes:
        distance: square root of the energy distance, 0 or more; 0 = the same.
        p: share of random partings that are at least as far apart, in (0, 1]; small = not by chance.
    """

    distance: float
    p: float


def map_distance(one: Reals, other: Reals, rng: np.random.Generator, *, permutations: int = 199) -> MapDistance:
    """Return the distance of two maps, and the p-value of a permutation test of no difference.

    Rows that both maps have are taken as if they were independent, which makes the test careful: it finds less, not more.

    Args:
        one: (n_examples, 2), variability and confidence; a map of more than ``MOST_POINTS`` is sampled.
        other: (n_other, 2).
        rng: of the sample and the permutations.
        permutations: the smallest p that can be found is ``1 / (permutations + 1)``.

    Raises:
        InputError: a map without points.
    """
    if not len(one) or not len(other):
        raise InputError("a map without rows cannot be compared; audit a train set that has some.")
    first, second = (_sample(points, rng) for points in (one, other))
    points = np.concatenate([first, second]).astype(np.float64)
    gaps = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    size = len(first)
    partings = np.zeros((len(points), permutations + 1))
    partings[:size, 0] = 1
    for column in range(1, permutations + 1):
        partings[rng.permutation(len(points))[:size], column] = 1
    found = _energies(gaps, partings, size)
    extreme = np.count_nonzero(found[1:] >= found[0] - 1e-12)
    return MapDistance(float(np.sqrt(max(found[0], 0.0))), float((extreme + 1) / (permutations + 1)))


def _sample(points: Reals, rng: np.random.Generator) -> Reals:
    return points if len(points) <= MOST_POINTS else points[np.sort(rng.choice(len(points), MOST_POINTS, replace=False))]


def _energies(gaps: Reals, partings: Reals, size: int) -> Reals:
    """Return the energy distance of each parting; a column has 1 for the points of the first set."""
    other = len(gaps) - size
    rest = 1 - partings
    within, beyond = gaps @ partings, gaps @ rest
    across = (rest * within).sum(axis=0) / (size * other)
    inside = (partings * within).sum(axis=0) / size**2
    outside = (rest * beyond).sum(axis=0) / other**2
    energies: Reals = 2 * across - inside - outside
    return energies
