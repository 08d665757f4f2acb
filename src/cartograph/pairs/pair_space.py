"""All pairs of a split without a list of them: their keys, their number, and uniform draws."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cartograph.data.arrays import Bools, Integers

Keys = Integers


@dataclass(frozen=True)
class PairSpace:
    """Every pair of a left and a right utterance; of one set with itself where ``symmetric``.

    A pair's key is ``left · width + right``. In a symmetric space (a, b) and (b, a) are one pair, whose key has the smaller row first,
    and (a, a) is no pair.

    Attributes:
        left: (n_left,) rows of the left utterances, ascending.
        right: (n_right,) rows of the right utterances, ascending; ``left`` itself where symmetric.
        width: number of right utterances of the whole task, of whatever split.
        symmetric: whether both sides are one set.
        excluded: ascending keys of pairs of these utterances that belong to another split.
    """

    left: Integers
    right: Integers
    width: int
    symmetric: bool
    excluded: Keys = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def size(self) -> int:
        """Number of pairs."""
        n = len(self.left)
        return (n * (n - 1) // 2 if self.symmetric else n * len(self.right)) - len(self.excluded)

    def keys(self, left: Integers, right: Integers) -> Keys:
        """Return the key of each pair, in the given order and with repetitions; a row with itself has none and is left out.

        Args:
            left: (n,) rows of the task.
            right: (n,) rows of the task.
        """
        left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
        if self.symmetric:
            kept = left != right
            left, right = np.minimum(left, right)[kept], np.maximum(left, right)[kept]
        return left * self.width + right

    def pairs(self, keys: Keys) -> tuple[Integers, Integers]:
        """Return the left and the right row of each key."""
        return keys // self.width, keys % self.width

    def contains(self, keys: Keys) -> Bools:
        """Return which keys are pairs of this space."""
        left, right = self.pairs(keys)
        inside: Bools = np.isin(left, self.left) & np.isin(right, self.right) & ~is_among(keys, self.excluded)
        return inside & (left < right) if self.symmetric else inside

    def draw(self, number: int, excluded: Keys, rng: np.random.Generator) -> Keys:
        """Return different pairs drawn uniformly from all but the excluded ones, in the order in which they were drawn.

        Where fewer are left, all of them.

        Args:
            number: how many, at least 0.
            excluded: pairs of this space, each once, in any order.
            rng: of the draw.
        """
        left_over = self.size - len(excluded)
        excluded = np.sort(np.concatenate([excluded, self.excluded]))
        if number >= left_over or left_over < 4 * number:
            rest = np.setdiff1d(self._all(), excluded, assume_unique=True)
            return rng.permutation(rest)[:number]
        drawn = np.empty(0, np.int64)
        while len(drawn) < number:
            more = self._uniform(number - len(drawn) + 1024, rng)
            drawn = np.concatenate([drawn, more[~is_among(more, excluded)]])
            drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        return drawn[:number]

    def _uniform(self, number: int, rng: np.random.Generator) -> Keys:
        left = rng.integers(0, len(self.left), number)
        if not self.symmetric:
            return self.keys(self.left[left], self.right[rng.integers(0, len(self.right), number)])
        other = rng.integers(0, len(self.left) - 1, number)
        return self.keys(self.left[left], self.left[other + (other >= left)])

    def _all(self) -> Keys:
        if self.symmetric:
            first, second = np.triu_indices(len(self.left), 1)
            return self.keys(self.left[first], self.left[second])
        return self.keys(np.repeat(self.left, len(self.right)), np.tile(self.right, len(self.left)))


def is_among(keys: Keys, known: Keys) -> Bools:
    """Return which keys are among ``known``, which is sorted."""
    if not len(known):
        return np.zeros(len(keys), bool)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    same: Bools = known[places] == keys
    return same
