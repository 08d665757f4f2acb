"""Which labels of rows with several are put right without a person: those after which a row has a set of labels that another row has.

A row that is wrong as a whole has one label too many and lacks another. To take away the first alone, because it alone is sure enough,
leaves a row without any label, or a child without its parent: worse than it was.
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools


def turned_as_sets(given: Bools, sure: Bools, listed: Bools) -> Bools:
    """Return which labels are turned into the opposite, ``(n_examples, n_labels)``.

    In each row the sure ones, if the row then has the labels of another row as these are given; else also the other listed ones, if it has
    them then; else none.

    Args:
        given: whether a row has a label, ``(n_examples, n_labels)``.
        sure: labels that are surely wrong, likewise.
        listed: labels that are probably wrong, likewise.

    >>> given = np.eye(3, dtype=bool)[[0, 1, 2, 0]]
    >>> sure, listed = np.zeros_like(given), np.zeros_like(given)
    >>> sure[0, 0] = listed[0, 1] = sure[1, 1] = True
    >>> turned_as_sets(given, sure, listed).astype(int).tolist()
    [[1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    """
    known = {row.tobytes() for row in np.packbits(given, axis=1)}
    turned = np.zeros_like(sure)
    rows = np.flatnonzero(sure.any(axis=1))
    for also in (np.zeros_like(listed), listed):
        change = (sure | also)[rows]
        there = np.array([row.tobytes() in known for row in np.packbits(given[rows] ^ change, axis=1)], dtype=bool)
        turned[rows[there]] = change[there]
        rows = rows[~there]
    return turned
