"""What follows from answers where what equals the same is equal: pairs not worth asking about, and answers that contradict others."""

from __future__ import annotations

from collections import deque

import numpy as np

from cartograph.data.arrays import Integers8
from cartograph.data.components import components
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.task import Task, pairs_within

MOST = 2_000_000
"""Most pairs that are listed as known to differ; of two large groups all pairs would be."""


def implied_pairs(task: Task, keys: Keys, labels: Integers8) -> Keys:
    """Return the pairs whose label follows from others, ascending: within a group of what is the same, and between two that differ.

    Args:
        task: whose pairs; none follow where it is not transitive.
        keys: (n,) pairs with a label.
        labels: (n,) 1 or 0; others say nothing.
    """
    if not task.transitive:
        return np.empty(0, np.int64)
    width, space = len(task.right), task.space("train")
    positive = keys[labels == 1]
    component = components(positive // width, positive % width, len(task.left))
    parts, listed = [pairs_within(space, component)], 0
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], np.arange(component.max() + 2))
    groups = np.sort(np.stack([component[keys[labels == 0] // width], component[keys[labels == 0] % width]], axis=1), axis=1)
    for one, other in np.unique(groups, axis=0).tolist():
        left, right = (order[starts[group] : starts[group + 1]] for group in (one, other))
        listed += len(left) * len(right)
        if one != other and listed <= MOST:
            parts.append(space.keys(np.repeat(left, len(right)), np.tile(right, len(left))))
    return np.unique(np.concatenate(parts))


def contradictions(task: Task, keys: Keys, labels: Integers8) -> dict[int, list[int]]:
    """Return each pair that is said to differ and whose two sides others make the same -> the fewest positive pairs that do.

    Args:
        task: whose pairs; nothing contradicts where it is not transitive.
        keys: (n,) pairs with a label.
        labels: (n,) 1 or 0; others say nothing.
    """
    if not task.transitive:
        return {}
    width = len(task.right)
    positive = keys[labels == 1]
    component = components(positive // width, positive % width, len(task.left))
    negative = np.unique(keys[labels == 0])
    wrong = negative[component[negative // width] == component[negative % width]]
    if not len(wrong):
        return {}
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for key in positive.tolist():
        left, right = divmod(key, width)
        neighbours.setdefault(left, []).append((right, key))
        neighbours.setdefault(right, []).append((left, key))
    return {key: _path(neighbours, *divmod(key, width)) for key in wrong.tolist()}


def _path(neighbours: dict[int, list[tuple[int, int]]], start: int, end: int) -> list[int]:
    """Return the keys of the fewest pairs that lead from one record to another; there are some."""
    came: dict[int, tuple[int, int]] = {start: (start, -1)}
    waiting = deque([start])
    while end not in came:
        here = waiting.popleft()
        for other, key in neighbours[here]:
            if other not in came:
                came[other] = (here, key)
                waiting.append(other)
    path = []
    while end != start:
        end, key = came[end]
        path.append(key)
    return path[::-1]
