"""Ranking rows by a number, equal ones by lot."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Array, Integers


def lots(uids: Array, rng: np.random.Generator) -> Integers:
    """Return a random order of the rows, dealt in the order of their uids, so that the rows' own order does not matter."""
    dealt = np.empty(len(uids), dtype=np.int64)
    dealt[np.argsort(uids, kind="stable")] = rng.permutation(len(uids))
    return dealt


def lowest(values: Array, wanted: int, dealt: Integers) -> tuple[Integers, int]:
    """Return the rows of the lowest values, so many of them, the lowest first and ties by lot; and how many rows tie at the end.

    >>> rows, tied = lowest(np.array([3.0, 1.0, 2.0, 2.0]), 2, np.array([0, 1, 3, 2]))
    >>> rows.tolist(), tied
    ([1, 3], 2)
    """
    order = np.lexsort((dealt, values))
    if not 0 < wanted < len(values) or values[order[wanted - 1]] != values[order[wanted]]:
        return order[:wanted], 0
    return order[:wanted], int(np.count_nonzero(values == values[order[wanted]]))
