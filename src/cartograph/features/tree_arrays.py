"""Fitted trees as arrays: what scikit-learn learnt, without its objects, so that a model is data and not code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cartograph.data.arrays import Array, Bools, Floats, Floats32, Integers, Integers32

_BLOCK = 16_384
_PARTS = ("feature", "threshold", "left", "right", "value", "roots")
_MORE = ("missing_left", "chosen", "sets")
_CATEGORIES = 256
_VALUES = 2_000_000


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
        base = np.arange(len(block), dtype=np.int64) * block.shape[1]
        return self._descend(block.reshape(-1), base, np.full(len(block), root, np.int32))

    def _descend(self, flat: Floats32, base: Integers, node: Integers32) -> Integers32:
        """Return the leaves below some nodes, ``(n,)``; the row of each begins at ``base`` in ``flat``."""
        on_the_way = np.arange(len(node))
        while len(on_the_way):
            here = node[on_the_way]
            goes_left = self._goes_left(here, flat[base[on_the_way] + self.feature[here]])
            down = np.where(goes_left, self.left[here], self.right[here])
            node[on_the_way] = down
            on_the_way = on_the_way[self.left[down] != down]
        return node

    def _goes_left(self, node: Integers32, looked_at: Floats32) -> Bools:
        below: Bools = looked_at <= self.threshold[node]
        return below

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


@dataclass(frozen=True, kw_only=True)
class HistogramTrees(Trees):
    """Trees of ``HistGradientBoostingClassifier``, which also read missing values (NaN) and ids of categories.

    Attributes:
        missing_left: (n_nodes,) whether a missing value goes left.
        chosen: (n_nodes,) the row of ``sets`` that says which categories go left; -1 where a node looks at a number.
        sets: (n_sets, 256) of each category.
    """

    missing_left: Bools
    chosen: Integers32
    sets: Bools

    @classmethod
    def of_boosting(cls, fitted: Any, stages: range) -> HistogramTrees:
        """Return the trees of a fitted model, stage by stage and in a stage class by class.

        The columns that it was fitted on have 32-bit numbers, categories before numbers, and of each category the ids 0, 1, …, all of which
        occur.

        Args:
            fitted: a ``HistGradientBoostingClassifier``.
            stages: which of its stages, of which there is one at least.
        """
        grown = [tree for stage in stages for tree in fitted._predictors[stage]]
        nodes = [tree.nodes for tree in grown]
        roots = np.cumsum([0, *map(len, nodes)])
        start = np.repeat(roots[:-1], np.diff(roots))
        whole = np.concatenate(nodes)
        leaf, own = whole["is_leaf"].astype(bool), np.arange(len(whole))
        by_set = (whole["is_categorical"].astype(bool)) & ~leaf
        bits = np.concatenate([tree.raw_left_cat_bitsets for tree in grown]).astype("<u4")
        before = np.cumsum([0, *(len(tree.raw_left_cat_bitsets) for tree in grown)])
        places = np.repeat(before[:-1], np.diff(roots)) + whole["bitset_idx"]
        return cls(
            feature=np.where(leaf, 0, whole["feature_idx"]).astype(np.int32),
            threshold=_rounded_down(np.where(leaf, 0.0, whole["num_threshold"])),
            left=np.where(leaf, own, whole["left"] + start).astype(np.int32),
            right=np.where(leaf, own, whole["right"] + start).astype(np.int32),
            value=whole["value"].astype(np.float64),
            roots=roots[:-1].astype(np.int32),
            missing_left=whole["missing_go_to_left"].astype(bool),
            chosen=np.where(by_set, places, -1).astype(np.int32),
            sets=np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(bool).reshape(-1, _CATEGORIES),
        )

    def values(self, table: Floats32) -> Floats:
        """Return what each tree says of each row, ``(n_rows, n_trees)``.

        Args:
            table: (n_rows, n_features).
        """
        found = np.zeros((len(table), len(self.roots)))
        rows = max(_VALUES // max(len(self.roots), 1), 1)
        for start in range(0, len(table), rows):
            block = np.ascontiguousarray(table[start : start + rows], np.float32)
            base = np.repeat(np.arange(len(block), dtype=np.int64) * block.shape[1], len(self.roots))
            leaves = self._descend(block.reshape(-1), base, np.tile(self.roots, len(block)))
            found[start : start + rows] = self.value[leaves].reshape(len(block), -1)
        return found

    def _goes_left(self, node: Integers32, looked_at: Floats32) -> Bools:
        missing, chosen = np.isnan(looked_at), self.chosen[node]
        left = np.where(missing, self.missing_left[node], looked_at <= self.threshold[node])
        of_sets = np.flatnonzero((chosen >= 0) & ~missing)
        left[of_sets] = self.sets[chosen[of_sets], looked_at[of_sets].astype(np.int64)]
        return left

    def arrays(self, name: str) -> dict[str, Array]:
        """Return what ``from_arrays`` reads, each under a name that begins with this one."""
        return super().arrays(name) | {f"{name}.{part}": getattr(self, part) for part in _MORE}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], name: str) -> HistogramTrees:
        """Return the trees that ``arrays`` gave."""
        own: dict[str, Any] = {part: arrays[f"{name}.{part}"] for part in (*_PARTS, *_MORE)}
        return cls(**own)


def _rounded_down(threshold: Array) -> Floats32:
    """Return thresholds as 32-bit numbers that part the same 32-bit features: x ≤ t exactly where x ≤ the number just below t."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)
