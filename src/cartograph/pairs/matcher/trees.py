"""Fitted trees as arrays: what scikit-learn learnt, without its objects, so that a model is data and not code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cartograph.data.arrays import Array, Floats, Floats32, Integers32

_BLOCK = 16_384
_PARTS = ("feature", "threshold", "left", "right", "value", "roots")


@dataclass(frozen=True)
class Trees:
    """Binary trees, one after the other; a leaf is its own child.

    Attributes:
        feature: (n_nodes,) the feature that a node looks at.
        threshold: (n_nodes,) a pair goes left where the feature is at most this.
        left: (n_nodes,) the left child.
        right: (n_nodes,) the right child.
        value: (n_nodes,) what a leaf says.
        roots: (n_trees,) where each tree begins.
        fitted: scikit-learn's own trees, where they were fitted in this process; faster, and the same.
    """

    feature: Integers32
    threshold: Floats32
    left: Integers32
    right: Integers32
    value: Floats
    roots: Integers32
    fitted: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, fitted: Sequence[Any], values: Sequence[Array]) -> Trees:
        """Return scikit-learn's fitted trees.

        Args:
            fitted: their ``tree_``.
            values: per tree (n_nodes,): what each node says.
        """
        roots = np.cumsum([0, *(tree.node_count for tree in fitted)])
        feature, threshold, left, right = [], [], [], []
        for tree, start in zip(fitted, roots[:-1].tolist(), strict=True):
            leaf, own = tree.children_left < 0, np.arange(tree.node_count) + start
            feature.append(np.where(leaf, 0, tree.feature))
            threshold.append(_rounded_down(np.where(leaf, 0.0, tree.threshold)))
            left.append(np.where(leaf, own, tree.children_left + start))
            right.append(np.where(leaf, own, tree.children_right + start))
        whole = [np.concatenate(part).astype(np.int32) for part in (feature, left, right)]
        numbers = np.concatenate(values).astype(np.float64)
        return cls(whole[0], np.concatenate(threshold), whole[1], whole[2], numbers, roots[:-1].astype(np.int32), tuple(fitted))

    def total(self, table: Floats32) -> Floats:
        """Return the sum over trees of what their leaves say, ``(n_rows,)``.

        Args:
            table: (n_rows, n_features).
        """
        if self.fitted:
            # The same numbers, by scikit-learn's compiled loop.
            table = np.ascontiguousarray(table, np.float32)
            whole = np.zeros(len(table))
            for tree, values in zip(self.fitted, self.parts(), strict=True):
                whole += values[tree.apply(table)]
            return whole
        total = np.zeros(len(table))
        for start in range(0, len(table), _BLOCK):
            block = np.ascontiguousarray(table[start : start + _BLOCK], np.float32)
            for root in self.roots.tolist():
                total[start : start + len(block)] += self.value[self._leaves(block, root)]
        return total

    def _leaves(self, block: Floats32, root: int) -> Integers32:
        """Return the leaf of each row in one tree."""
        flat, base = block.reshape(-1), np.arange(len(block), dtype=np.int64) * block.shape[1]
        node, on_the_way = np.full(len(block), root, np.int32), np.arange(len(block))
        while len(on_the_way):
            here = node[on_the_way]
            down = np.where(flat[base[on_the_way] + self.feature[here]] <= self.threshold[here], self.left[here], self.right[here])
            node[on_the_way] = down
            on_the_way = on_the_way[self.left[down] != down]
        return node

    def parts(self) -> list[Floats]:
        """Return the nodes' values tree by tree."""
        return np.split(self.value, self.roots[1:])

    def arrays(self, name: str) -> dict[str, Array]:
        """Return what ``from_arrays`` reads, each under a name that begins with this one."""
        return {f"{name}.{part}": getattr(self, part) for part in _PARTS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], name: str) -> Trees:
        """Return the trees that ``arrays`` gave."""
        feature, threshold, left, right, value, roots = (arrays[f"{name}.{part}"] for part in _PARTS)
        return cls(feature, threshold, left, right, value, roots)


def _rounded_down(threshold: Array) -> Floats32:
    """Return thresholds as 32-bit numbers that part the same 32-bit features: x ≤ t exactly where x ≤ the number just below t."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)
