"""Blocking: the pairs that a matcher looks at, the exact nearest ones by words, by characters and by an encoder, united."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cartograph.data.arrays import Floats32, Integers
from cartograph.pairs.matcher.terms import TermVectors
from cartograph.pairs.pair_space import Keys, PairSpace

_CELLS = 20_000_000


def nearest_terms(space: PairSpace, vectors: TermVectors, k: int, tell: Callable[[int], None] = lambda _: None) -> Keys:
    """Return the pairs of each left record with its ``k`` nearest right ones by cosine, ascending; ties go to the smaller row.

    The search is exact, in blocks of rows. Pairs without a common term are never near, so there may be fewer. Where the sides differ, each
    right record's nearest left ones are not searched for.

    Args:
        space: whose pairs.
        vectors: of all records of the task.
        k: at least 1.
        tell: called with how many left records were searched for, block by block.
    """
    right = vectors.right[space.right].T.tocsr()
    block = max(1, _CELLS // max(right.shape[1], 1))
    parts = [np.empty(0, np.int64)]
    for start in range(0, len(space.left), block):
        rows = space.left[start : start + block]
        cosine = (vectors.left[rows] @ right).toarray()
        if space.symmetric:
            cosine[np.arange(len(rows)), start + np.arange(len(rows))] = 0.0
        owners, columns = _best_of_rows(cosine, k)
        parts.append(space.keys(rows[owners], space.right[columns]))
        tell(start + len(rows))
    return np.unique(np.concatenate(parts))


def _best_of_rows(cosine: Floats32, k: int) -> tuple[Integers, Integers]:
    """Return row and column of the ``k`` largest entries above 0 of each row."""
    if k < cosine.shape[1]:
        bound = np.partition(cosine, cosine.shape[1] - k, axis=1)[:, cosine.shape[1] - k]
        owners, columns = np.nonzero(cosine >= np.maximum(bound, np.finfo(np.float32).tiny)[:, None])
    else:
        owners, columns = np.nonzero(cosine > 0)
    order = np.lexsort((columns, -cosine[owners, columns], owners))
    owners, columns = owners[order], columns[order]
    starts = np.searchsorted(owners, np.arange(len(cosine)))
    kept = np.arange(len(owners)) - starts[owners] < k
    return owners[kept], columns[kept]


def nearest_vectors(space: PairSpace, left: Floats32, right: Floats32, k: int) -> Keys:
    """Return the pairs of each left record with its ``k`` nearest right ones by an encoder's unit vectors, ascending.

    Args:
        space: whose pairs.
        left: (n_left, width) of all left records of the task.
        right: (n_right, width) of all right ones.
        k: at least 1.
    """
    from cartograph.pairs.candidates import nearest

    most = len(space.right) - space.symmetric
    return nearest(replace(space, excluded=np.empty(0, np.int64)), left[space.left], right[space.right], min(k, most), kind="flat").keys
