"""A pairwise task: texts, splits, stated pairs, and the labels that follow from them for every pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from cartograph.data.arrays import Integers, Integers8
from cartograph.data.components import components
from cartograph.pairs.pair_space import Keys, PairSpace, is_among
from cartograph.pairs.splits import SPLITS


@dataclass(frozen=True)
class Task:
    """Texts and stated pairs.

    Attributes:
        left: texts of the left side.
        right: texts of the right side; ``left`` itself where symmetric.
        split: (n_left,) split of each left utterance, an index into ``SPLITS``. A symmetric task's pairs stand within one split; the
            right side of any other is shared by all.
        symmetric: whether both sides are one set.
        transitive: whether what equals the same is equal: positives are then all pairs within a component of the stated positives.
        stated_left: (n_stated,) left rows of the stated pairs.
        stated_right: (n_stated,) their right rows.
        stated_label: (n_stated,) 1 for a positive pair, 0 for a negative one.
        stated_split: (n_stated,) split of each stated pair, where files say it and an utterance is in pairs of several splits; None: that
            of its left utterance. Every split then has all utterances, and all pairs but those of other splits. A pair that nobody stated
            and that the closure makes positive belongs to the first split whose stated pairs, with those of the splits before, make it so.
        fields: name of a field that both sides have -> its left and its right values; empty where a record is one text.
    """

    left: Sequence[str]
    right: Sequence[str]
    split: Integers8
    symmetric: bool
    transitive: bool
    stated_left: Integers
    stated_right: Integers
    stated_label: Integers8
    stated_split: Integers8 | None = None
    fields: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)

    def space(self, split: str) -> PairSpace:
        """Return all pairs of a split."""
        if self.stated_split is not None:
            keys, owner = self._owned
            every = np.arange(len(self.left))
            others = keys[owner != SPLITS.index(split)]
            return PairSpace(every, every if self.symmetric else np.arange(len(self.right)), len(self.right), self.symmetric, others)
        left = np.flatnonzero(self.split == SPLITS.index(split)).astype(np.int64)
        return PairSpace(left, left if self.symmetric else np.arange(len(self.right)), len(self.right), self.symmetric)

    def stated(self, split: str) -> tuple[Keys, Integers8]:
        """Return the keys of a split's stated pairs, ascending, each once, and their imputed labels."""
        own = self.split[self.stated_left] if self.stated_split is None else self.stated_split
        inside = own == SPLITS.index(split)
        keys = np.unique(self.space(split).keys(self.stated_left[inside], self.stated_right[inside]))
        return keys, self.labels(keys)

    def labels(self, keys: Keys) -> Integers8:
        """Return the imputed label of each pair: positive if stated so, or if the closure of stated positives has it; else negative."""
        if self._component is not None:
            same: Integers8 = (self._component[keys // len(self.right)] == self._component[keys % len(self.right)]).astype(np.int8)
            return same
        return is_among(keys, self._positive).astype(np.int8)

    def positives(self, split: str) -> Keys:
        """Return the keys of a split's positive pairs, ascending."""
        if self.stated_split is not None:
            keys, owner = self._owned
            own = keys[owner == SPLITS.index(split)]
            positive: Keys = own[self.labels(own) == 1]
            return positive
        space = self.space(split)
        if self._component is None:
            return self._positive[np.isin(self._positive // len(self.right), space.left)]
        return pairs_within(space, self._component)

    @cached_property
    def _component(self) -> Integers | None:
        if not (self.symmetric and self.transitive):
            return None
        positive = self.stated_label == 1
        return components(self.stated_left[positive], self.stated_right[positive], len(self.left))

    @cached_property
    def _positive(self) -> Keys:
        positive = self.stated_label == 1
        space = PairSpace(np.arange(len(self.left)), np.arange(len(self.right)), len(self.right), self.symmetric)
        return np.unique(space.keys(self.stated_left[positive], self.stated_right[positive]))

    @cached_property
    def _owned(self) -> tuple[Keys, Integers8]:
        """Return the keys of all pairs that a split owns, ascending, and which; all others are negatives of every split."""
        assert self.stated_split is not None
        every = PairSpace(np.arange(len(self.left)), np.arange(len(self.right)), len(self.right), self.symmetric)
        keys, first = np.unique(every.keys(self.stated_left, self.stated_right), return_index=True)
        owner = self.stated_split[first]
        if self.symmetric and self.transitive:
            for place in range(len(SPLITS)):
                known = (self.stated_label == 1) & (self.stated_split <= place)
                implied = pairs_within(every, components(self.stated_left[known], self.stated_right[known], len(self.left)))
                new = implied[~is_among(implied, keys)]
                both, owners = np.concatenate([keys, new]), np.concatenate([owner, np.full(len(new), place, np.int8)])
                order = np.argsort(both)
                keys, owner = both[order], owners[order]
        return keys, owner


def pairs_within(space: PairSpace, component: Integers) -> Keys:
    """Return the keys of a symmetric space's pairs within one component each, ascending."""
    members = space.left[np.argsort(component[space.left], kind="stable")]
    starts = np.flatnonzero(np.diff(component[members], prepend=-1, append=-1))
    parts = [np.empty(0, np.int64)]
    for start, stop in pairwise(starts.tolist()):
        if stop - start > 1:
            first, second = np.triu_indices(stop - start, 1)
            parts.append(space.keys(members[start:stop][first], members[start:stop][second]))
    return np.sort(np.concatenate(parts))
