"""When a data map has settled: one more epoch hardly moves a row, so that the epochs left would be spent for little.

The measure is Swayamdipta et al.'s (*Dataset Cartography*, App. A.1, Fig. 6): the correlation of a map with the map of other epochs;
here of the first b epochs with the first b - 1, for confidence and for variability. Where both reach ``BOUND``, on six sets of texts
after 4 to 8 epochs, the map's ranks agreed with those of all eight by .96 or more in confidence and .78 or more in variability, as two
seeds of one training do not (.71 to .86, .35 to .65), and low confidence found planted errors no worse
(`benchmarks/results/fidelity.txt`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
from scipy.special import softmax

from cartograph.data.arrays import Floats
from cartograph.dynamics.epoch_files import by_blocks
from cartograph.statistics.correlation import pearson

BOUND = 0.9
LEAST_EPOCHS = 4


def gold_shares(epoch: pa.Table) -> Floats:
    """Return the probability of each row's given label in one epoch (``schema.dynamics_schema``), in [0, 1]."""
    shares: Floats = by_blocks(epoch, lambda logits, gold: softmax(logits.astype(np.float64), axis=1)[np.arange(len(gold)), gold])
    return shares


def of_surest_third(given: Floats) -> float:
    """Return the probability that a third of the rows have at the least."""
    return float(np.sort(given)[-math.ceil(len(given) / 3)])


class Settling:
    """Reads a training's epochs as they come, and says when it may end.

    Args:
        learnt: whether a model is good enough to end with, by its accuracy on the rows it trains on and the probability that it gives
            to the given label of a third of them at the least, both in [0, 1].
        bound: of both correlations, in (0, 1].
    """

    def __init__(self, learnt: Callable[[float, float], bool], bound: float = BOUND) -> None:
        self._learnt, self._bound = learnt, bound
        self._epochs = 0
        self._sum: Floats = np.zeros(0)
        self._squares: Floats = np.zeros(0)
        self._before: tuple[Floats, Floats] | None = None
        self.settled = False

    def read(self, epochs: Iterable[pa.Table]) -> None:
        """Read epochs recorded before, ``schema.dynamics_schema``, in order."""
        for epoch in epochs:
            self.add(epoch)

    def add(self, epoch: pa.Table) -> bool:
        """Read one more epoch, its rows in the order of the others; return whether the training may end."""
        given = gold_shares(epoch)
        right = by_blocks(epoch, lambda logits, gold: logits.argmax(axis=1) == gold)
        self._epochs += 1
        self._sum = given if self._epochs == 1 else self._sum + given
        self._squares = given**2 if self._epochs == 1 else self._squares + given**2
        mean = self._sum / self._epochs
        now = mean, np.sqrt(np.maximum(self._squares / self._epochs - mean**2, 0.0))
        stable = self._before is not None and all(pearson(one, other) >= self._bound for one, other in zip(now, self._before, strict=True))
        self._before = now
        self.settled = self._epochs >= LEAST_EPOCHS and stable and self._learnt(float(right.mean()), of_surest_third(given))
        return self.settled
