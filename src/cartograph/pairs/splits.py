"""Train, dev and test splits of a pairwise task that part no stated pair."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Integers, Integers8

SPLITS = ("train", "dev", "test")
SHARES = (0.5, 0.25, 0.25)
"""Part of the records that each split is to have."""


def split_components(component: Integers, rng: np.random.Generator) -> Integers8:
    """Return each node's split, ``(n_nodes,)`` of 0, 1, …; nodes of one component share it.

    Components are put in random order and cut where the shares are reached; one that spans a cut goes to the split of its middle.

    Args:
        component: (n_nodes,) component of each node, of all stated pairs, positive or not.
        rng: of the order.
    """
    sizes = np.bincount(component)
    order = rng.permutation(len(sizes))
    ends = np.cumsum(sizes[order])
    middles = (ends - sizes[order] / 2) / len(component)
    split = np.empty(len(sizes), np.int8)
    split[order] = np.searchsorted(np.cumsum(SHARES)[:-1], middles, side="right")
    return split[component]
