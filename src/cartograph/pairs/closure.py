"""The transitive closure of pairs: connected components of utterances, by union–find."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Ids, Integers


def components(first: Ids, second: Ids, n_nodes: int) -> Integers:
    """Return each node's component, ``(n_nodes,)``; components are numbered by their smallest node, from 0 on.

    Union by size with path halving (Tarjan & van Leeuwen 1984): near-linear in the number of edges.

    Args:
        first: (n_edges,) nodes in [0, n_nodes).
        second: (n_edges,) the nodes that they are joined with.
        n_nodes: how many nodes there are.
    """
    parent, size = list(range(n_nodes)), [1] * n_nodes

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        a, b = root(one), root(other)
        if a != b:
            if size[a] < size[b]:
                a, b = b, a
            parent[b] = a
            size[a] += size[b]
    roots = np.fromiter((root(node) for node in range(n_nodes)), np.int64, n_nodes)
    _, smallest, member = np.unique(roots, return_index=True, return_inverse=True)
    order = np.argsort(smallest)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number[member]
