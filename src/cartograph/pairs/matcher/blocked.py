"""A split's candidates with their features, and the other pairs that an evaluation needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cartograph.data.arrays import Array, Bools, Floats, Floats32, Integers
from cartograph.pairs.matcher.blocking import nearest_terms, nearest_vectors
from cartograph.pairs.matcher.context import KINDS, Context
from cartograph.pairs.matcher.features import WHOLE, Features
from cartograph.pairs.models.learner import UtteranceVectors
from cartograph.pairs.pair_space import Keys, PairSpace, is_among

COMBINED = "combined"
"""The label-free score that unites all similarities of the whole text and how a pair stands among its rivals."""

BASES = ("words", "characters", "encoder")
"""Similarities of the whole text: each is a label-free score of its own."""


@dataclass(frozen=True)
class Blocked:
    """Candidates and other pairs of one split.

    Attributes:
        space: of the split.
        n_left: number of left records of the whole task.
        keys: (n,) ascending, each once.
        blocked: (n,) whether blocking proposes the pair; a matcher holds all others negative.
        names: of the columns of ``table``.
        table: (n, n_features) as ``Features`` gives them.
        vectors: unit vectors of all records that were learnt from labels; None without any.
    """

    space: PairSpace
    n_left: int
    keys: Keys
    blocked: Bools
    names: tuple[str, ...]
    table: Floats32
    vectors: UtteranceVectors | None = None

    @cached_property
    def learnt(self) -> Floats:
        """Return (n,) the cosine of each pair under the learnt vectors; 0 without any."""
        if self.vectors is None:
            return np.zeros(len(self.keys))
        return self.vectors.cosine(self.space, self.keys).astype(np.float64)

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """Label-free scores by name, in [0, 1]; ``COMBINED`` first.

        It has of each base the similarity and its shares of the best of either record. Between two tables their mean is taken. Within one,
        where many records have no partner and their best candidate is wrong, it is the geometric mean: a small similarity stays small.
        """
        found = {base: value.astype(np.float64) for base, (value, _) in self._bases.items()}
        shares = {base: columns[:, :2].astype(np.float64) for base, (_, columns) in self._bases.items()}
        if self.space.symmetric:
            combined = np.cbrt(np.mean([value * shares[base].prod(axis=1) for base, value in found.items()], axis=0))
        else:
            combined = np.mean([part for base, value in found.items() for part in (value, *shares[base].T)], axis=0)
        return {COMBINED: np.clip(combined, 0.0, 1.0), **found}

    @cached_property
    def whole(self) -> tuple[tuple[str, ...], Floats32]:
        """Names and table of all features: those of ``table``, and how a pair stands among its rivals."""
        names, parts = [*self.names], [self.table]
        for base, (_, columns) in self._bases.items():
            names += [f"{WHOLE}: {base}, {kind}" for kind in KINDS]
            parts.append(columns)
        names.append(COMBINED)
        parts.append(self.scores[COMBINED].astype(np.float32)[:, None])
        return tuple(names), np.concatenate(parts, axis=1)

    @cached_property
    def _bases(self) -> dict[str, tuple[Floats32, Floats32]]:
        """Similarity of the whole text -> its values, and the columns of its context, which labelled pairs are part of."""
        found = {}
        for base in BASES:
            name = f"{WHOLE}: {base}"
            if name in self.names:
                value = np.clip(self.table[:, self.names.index(name)], 0.0, 1.0)
                context = Context.of(self.space, self.n_left, self.keys[self.blocked], value[self.blocked])
                found[base] = (value, context.columns(self.keys, value))
        return found

    def places(self, keys: Keys) -> Integers:
        """Return the row of each key; all must be there."""
        places: Integers = np.searchsorted(self.keys, keys)
        return places

    def arrays(self) -> dict[str, Array]:
        """Return what ``from_arrays`` reads, beside what the task tells."""
        return {"keys": self.keys, "blocked": self.blocked, "table": self.table, "names": np.array(self.names)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], space: PairSpace, n_left: int) -> Blocked:
        """Return what ``arrays`` gave."""
        return cls(space, n_left, arrays["keys"], arrays["blocked"], tuple(arrays["names"].tolist()), arrays["table"])

    def with_pairs(self, keys: Keys, features: Features, *, proposed: bool = False) -> Blocked:
        """Return these and further pairs.

        Args:
            keys: in any order; those that are here already stay as they are, unless they are proposed now.
            features: of the task.
            proposed: whether a matcher is to look at them: they count as candidates.
        """
        wanted = np.unique(keys)
        new = wanted[~is_among(wanted, self.keys)]
        blocked = self.blocked | is_among(self.keys, wanted) if proposed else self.blocked
        if not len(new):
            return replace(self, blocked=blocked)
        both = np.concatenate([self.keys, new])
        order = np.argsort(both, kind="stable")
        table = np.concatenate([self.table, features.table(*self.space.pairs(new))])
        flags = np.concatenate([blocked, np.full(len(new), proposed)])
        return replace(self, keys=both[order], blocked=flags[order], table=table[order])

    def with_vectors(self, vectors: UtteranceVectors, k: int, features: Features) -> Blocked:
        """Return these pairs, and the ``k`` nearest of each left record under learnt vectors, as candidates."""
        near = nearest_vectors(self.space, vectors.left, vectors.right, k)
        return replace(self.with_pairs(near, features, proposed=True), vectors=vectors)


def block(space: PairSpace, n_left: int, features: Features, k: int, tell: Callable[[int, int], None] = lambda _, __: None) -> Blocked:
    """Return a split's candidates: of each left record the ``k`` nearest by words, by characters, and by the encoder if there is one.

    Args:
        space: of the split.
        n_left: number of left records of the whole task.
        features: of the task.
        k: at least 1.
        tell: called with how much is done, and of how much: left records for each kind of terms, then as many for the features.
    """
    records, kinds = len(space.left), (features.word_vectors, features.character_vectors)
    whole = records * (len(kinds) + 1)
    parts = [
        nearest_terms(space, vectors, k, lambda done, before=place * records: tell(before + done, whole))  # type: ignore[misc]
        for place, vectors in enumerate(kinds)
    ]
    parts += [nearest_vectors(space, left, right, k) for left, right in features.vectors.values()]
    keys = np.unique(np.concatenate(parts))

    def advance(pairs: int) -> None:
        tell(whole - records + records * pairs // max(len(keys), 1), whole)

    return Blocked(space, n_left, keys, np.ones(len(keys), bool), features.names, features.table(*space.pairs(keys), advance))
