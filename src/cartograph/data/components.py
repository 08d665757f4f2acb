"""Connected components of a graph, and groups numbered as they first occur."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Array, Ids, Integers


def components(first: Ids, second: Ids, n_nodes: int) -> Integers:
    """Return each node's component, ``(n_nodes,)``; components are numbered by their smallest node, from 0 on.

    Args:
        first: (n_edges,) nodes in [0, n_nodes).
        second: (n_edges,) the nodes that they are joined with.
        n_nodes: how many nodes there are.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first), bool), (first, second)), shape=(n_nodes, n_nodes))
    return numbered(connected_components(graph, directed=False)[1])


def numbered(groups: Array) -> Integers:
    """Return groups numbered as they first occur, from 0 on.

    >>> numbered(np.array([7, 3, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, rows, own = np.unique(groups, return_index=True, return_inverse=True)
    order: Integers = np.argsort(np.argsort(rows))[own]
    return order
