"""Train, dev and test parts of a pairwise task, such that no stated pair stands across two of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Integers, Integers8

SPLITS = ("train", "dev", "test")
SHARES = (0.5, 0.25, 0.25)


def split_components(component: Integers, rng: np.random.Generator, shares: Sequence[float] = SHARES) -> Integers8:
    """Return each node's split, ``(n_nodes,)`` of 0, 1, …; nodes of one component share it.

    Components are lined up in random order and the line is cut where the shares are reached; one that lies across a cut goes where its
    middle is.

    Args:
        component: (n_nodes,) component of each node, of all stated pairs, positive or not.
        rng: of the order.
        shares: part of the nodes that each split is to have; they add up to 1.
    """
    sizes = np.bincount(component)
    order = rng.permutation(len(sizes))
    ends = np.cumsum(sizes[order])
    middles = (ends - sizes[order] / 2) / len(component)
    split = np.empty(len(sizes), np.int8)
    split[order] = np.searchsorted(np.cumsum(shares)[:-1], middles, side="right")
    return split[component]
