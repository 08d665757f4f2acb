"""Random splits of a pool into the rows that a classifier trains on and those that it predicts."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Ids


def random_splits(size: int, train_size: int, n_partitions: int, key: tuple[int, ...], groups: Ids | None = None) -> Bools:
    """Return which rows each partition trains on, ``(size, n_partitions)``; it predicts all others.

    Every partition is drawn by a generator of its own, seeded by (key, number), so no two are the same split.

    Args:
        size: rows in the pool.
        train_size: rows that a partition trains on, from 1 to size − 1.
        n_partitions: number of splits.
        key: seeds.
        groups: (size,) group ids: all rows of a group stay on one side. Groups are taken in random order for as long as they fit, so
            a partition trains on at most ``train_size`` rows, or on one group alone where that is larger.
    """
    train = np.zeros((size, n_partitions), bool)
    if groups is None:
        for number in range(n_partitions):
            train[np.random.default_rng([*key, number]).choice(size, train_size, replace=False), number] = True
        return train
    _, member, counts = np.unique(groups, return_inverse=True, return_counts=True)
    for number in range(n_partitions):
        order = np.random.default_rng([*key, number]).permutation(len(counts))
        taken = order[: max(1, int(np.searchsorted(np.cumsum(counts[order]), train_size, side="right")))]
        inside = np.zeros(len(counts), bool)
        inside[taken] = True
        train[:, number] = inside[member]
    return train
