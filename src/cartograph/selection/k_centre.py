"""Greedy k-centre by cosine, exact, in blocks: repeatedly the point farthest from all that are chosen.

How far is by cosine distance, 1 - cos, as Swayamdipta et al. 2020 have it (§7): the features of a model's last layer are long where the
model is sure, and by Euclidean distance the longest would come first. On points of length 1 half the squared Euclidean distance *is*
the cosine distance, so the search works on those.

Sources: Gonzalez, *Clustering to minimize the maximum intercluster distance* (1985); Sener and Savarese, *Active Learning for
Convolutional Neural Networks: A Core-Set Approach* (ICLR 2018), algorithm 1.

The plain way compares every point with every new centre: k passes over all the data. But a point's distance from the chosen set only
ever shrinks, so an old distance is an upper bound, and a point has to be compared with the centres it missed only once its bound is
among the highest. Such points are brought up to date together, as products of matrices, and kept in a pool for the next picks.

Cost: at most n · k · width multiplications, as the plain way, many of them saved and the others done in blocks. Memory: O(n) beside the
data, and a few thousand rows of it.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Floats32, Integers, Reals
from cartograph.data.progress import Progress

_POOL, _GROUP, _CENTRES = 1024, 256, 4096
_CHOSEN = -1.0


def k_centre(
    points: Reals,
    k: int,
    *,
    start: Integers | None = None,
    lots: Integers | None = None,
    pool: int = _POOL,
    progress: Progress | None = None,
) -> tuple[Integers, Floats]:
    """Return k further points, each the farthest from all chosen before it, and how far it was.

    Args:
        points: (n, width), finite; worked on as float32, each divided by its length. All points of zeros are one and the same, at a right
            angle to every other.
        k: how many, from 0 to n − len(start).
        start: places of points that are chosen already; without any, the first pick is the first by lot, infinitely far.
        lots: (n,) a permutation: of points equally far the lowest is taken; None = the points' own order.
        pool: points kept up to date together; changes the time, never the picks but for rounding.
        progress: called with (points picked, points to pick).

    Returns:
        (k,) places and (k,) cosine distances, in [0, 2], but for the first without ``start``, which is infinite; never rising from pick to
        pick.

    Raises:
        ValueError: there are not that many points.

    >>> places, distances = k_centre(np.array([[2.0, 0.0], [9.0, 0.0], [0.0, 1.0], [-3.0, 0.0]]), 2, start=np.array([0]))
    >>> places.tolist(), distances.tolist()
    ([3, 2], [2.0, 1.0])
    """
    chosen = np.empty(0, np.int64) if start is None else np.asarray(start, np.int64)
    if not 0 <= k <= len(points) - len(chosen):
        raise ValueError(f"k must be from 0 to {len(points) - len(chosen)}, not {k}")
    dealt = np.arange(len(points)) if lots is None else np.asarray(lots, np.int64)
    return _Search(_directions(points), chosen, dealt, k, pool).run(progress)


def _directions(points: Reals) -> Floats32:
    """Return the points at length 1, (n, width), with one more coordinate for the points of zeros where there are such."""
    whole = np.ascontiguousarray(points, np.float32)
    # By the largest number first: the square of a large one would be infinite, that of a small one zero.
    size = np.abs(whole).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(whole, size, out=np.zeros_like(whole), where=size > 0)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    none = (size == 0).astype(np.float32)
    scaled /= np.maximum(length, none)
    return np.ascontiguousarray(np.hstack((scaled, none))) if none.any() else scaled


class _Search:
    """Upper bounds of all squared distances, and a pool of points whose distances are exact."""

    def __init__(self, points: Floats32, start: Integers, lots: Integers, k: int, pool: int) -> None:
        self.points, self.lots, self.k, self.size = points, lots, k, max(pool, 1)
        self.norms = np.einsum("ij,ij->i", points, points)
        self.centres = np.empty((len(start) + k, points.shape[1]), np.float32)
        self.centres[: len(start)] = points[start]
        self.count = len(start)
        self.bound = np.full(len(points), np.inf, np.float32)
        self.bound[start] = _CHOSEN
        self.compared = np.zeros(len(points), np.int64)
        self._pool(np.empty(0, np.int64))

    def run(self, progress: Progress | None) -> tuple[Integers, Floats]:
        """Return the picks and half the squares of their distances."""
        picks: list[int] = []
        squares: list[float] = []
        while len(picks) < self.k:
            exact = self.bound[self.rows]
            best = exact.max(initial=_CHOSEN)
            if self.count and best <= self.limit:
                self._refill()
                continue
            if best == 0:
                same = np.flatnonzero(self.bound > _CHOSEN)
                picks += same[np.argsort(self.lots[same], kind="stable")][: self.k - len(picks)].tolist()
                break
            ties = self.rows[exact == best] if self.count else np.arange(len(self.points))
            picks.append(int(ties[self.lots[ties].argmin()]))
            squares.append(float(best) if self.count else np.inf)
            self._choose(picks[-1])
            if progress is not None and (not len(picks) % _GROUP or len(picks) == self.k):
                progress(len(picks), self.k)
        distances = np.zeros(self.k)
        distances[: len(squares)] = np.divide(squares, 2)
        return np.array(picks, np.int64), distances

    def _choose(self, place: int) -> None:
        self.centres[self.count] = self.points[place]
        self.count += 1
        squares = self.norms[place] - 2.0 * (self.near @ self.points[place]) + self.norms[self.rows]
        self.bound[self.rows] = np.minimum(self.bound[self.rows], np.maximum(squares, 0.0))
        self.compared[self.rows] = self.count
        # The pool keeps the place of a point that is chosen: it is never the best again.
        self.bound[place] = _CHOSEN

    def _refill(self) -> None:
        """Put the points of the highest bounds into the pool, all of equal bounds or none, and bring them up to date."""
        wanted = min(self.size, len(self.bound))
        edge = np.partition(self.bound, len(self.bound) - wanted)[len(self.bound) - wanted]
        rows = np.flatnonzero(self.bound >= max(edge, 0.0))
        stale = rows[self.compared[rows] < self.count]
        stale = stale[np.argsort(self.compared[stale], kind="stable")]
        for begin in range(0, len(stale), _GROUP):
            self._compare(stale[begin : begin + _GROUP])
        # Where nothing was compared with anything yet, all points have one bound, and all were brought up to date.
        self._pool(rows if edge < np.inf else rows[:0])

    def _pool(self, rows: Integers) -> None:
        self.rows, self.near = rows, self.points[rows]
        outside = np.ones(len(self.bound), bool)
        outside[rows] = False
        self.limit = float(self.bound[outside].max(initial=_CHOSEN))

    def _compare(self, rows: Integers) -> None:
        """Take into the bounds of some points the centres that they missed; the first of them missed the most."""
        near, nearest = self.points[rows], self.bound[rows]
        for begin in range(int(self.compared[rows[0]]), self.count, _CENTRES):
            centres = self.centres[begin : min(begin + _CENTRES, self.count)]
            squares = np.einsum("ij,ij->i", centres, centres) - 2.0 * (near @ centres.T)
            np.minimum(nearest, np.maximum(squares.min(axis=1) + self.norms[rows], 0.0), out=nearest)
        self.bound[rows] = nearest
        self.compared[rows] = self.count
