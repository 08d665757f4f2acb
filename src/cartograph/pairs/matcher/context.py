"""How a pair stands among its rivals: the other candidates of either of its records.

That the best candidate of a record is far ahead of the next says more than its similarity does: where a record has few partners, rivals
exclude each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats32, Integers, Reals
from cartograph.pairs.pair_space import Keys, PairSpace

KINDS = ("of the left record's best", "of the right record's best", "ahead of the left record's next", "ahead of the right record's next")


@dataclass(frozen=True)
class Context:
    """The best and the second-best value among each record's candidates.

    Attributes:
        offset: what is added to a right row to name it: 0 where both sides are one set.
        width: of keys.
        best: (n_records,) highest value of a record's candidates; 0 where it has none.
        key: (n_records,) key of that candidate; −1 without one.
        second: (n_records,) value of the next one; 0 without one.
    """

    offset: int
    width: int
    best: Floats32
    key: Integers
    second: Floats32

    @classmethod
    def of(cls, space: PairSpace, n_left: int, keys: Keys, value: Reals) -> Context:
        """Return the context that candidates make.

        Args:
            space: whose candidates.
            n_left: number of left records of the whole task.
            keys: (n,) of all candidates, ascending, labelled ones included.
            value: (n,) a similarity, at least 0.
        """
        offset = 0 if space.symmetric else n_left
        size = space.width + offset
        left, right = space.pairs(keys)
        records = np.concatenate([left, right + offset])
        values = np.concatenate([value, value]).astype(np.float32)
        owners = np.concatenate([keys, keys])
        order = np.lexsort((owners, -values, records))
        records, values, owners = records[order], values[order], owners[order]
        starts = np.flatnonzero(np.diff(records, prepend=-1))
        best, second, key = np.zeros(size, np.float32), np.zeros(size, np.float32), np.full(size, -1, np.int64)
        best[records[starts]], key[records[starts]] = values[starts], owners[starts]
        several = starts[np.diff(starts, append=len(records)) > 1]
        second[records[several]] = values[several + 1]
        return cls(offset, space.width, best, key, second)

    def columns(self, keys: Keys, value: Reals) -> Floats32:
        """Return (n, 4) of ``KINDS``: the value over the best of either record, and how far it is ahead of the best rival.

        Args:
            keys: (n,) pairs, candidates or not.
            value: (n,) theirs.
        """
        value = value.astype(np.float32)
        sides = (keys // self.width, keys % self.width + self.offset)
        shares = [value / np.maximum(np.maximum(self.best[rows], value), np.float32(1e-6)) for rows in sides]
        ahead = [value - np.where(self.key[rows] == keys, self.second[rows], self.best[rows]) for rows in sides]
        return np.stack([*shares, *ahead], axis=1)
