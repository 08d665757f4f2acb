"""Which rows of a round are removed: the three variants of Algorithm 1."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cartograph.data.arrays import Bools, Floats, Integers

Variant = Literal["greedy", "slicing", "sampling"]
VARIANTS: tuple[Variant, ...] = ("greedy", "slicing", "sampling")


def choose_slice(predictability: Floats, size: int, threshold: float, variant: Variant, rng: np.random.Generator) -> Integers:
    """Return up to ``size`` rows whose predictability is at least ``threshold``, in the order in which they are chosen.

    ``greedy`` and ``slicing`` take the most predictable first (greedy is slicing with slices of one row), ties in random order;
    ``sampling`` draws without replacement with probability proportional to predictability: the largest of log p plus standard
    Gumbel noise are such a draw (Vieira, 2014).

    Args:
        predictability: (n_examples,) in [0, 1]; NaN for a row never held out, which is never chosen.
        size: most rows.
        threshold: in [0, 1].
        variant: one of ``VARIANTS``.
        rng: breaks ties, and draws.
    """
    eligible = np.flatnonzero(predictability >= threshold)
    score = predictability[eligible]
    if variant == "sampling":
        eligible, score = eligible[score > 0], score[score > 0]
        score = np.log(score) + rng.gumbel(size=len(score))
    order = np.lexsort((rng.random(len(score)), -score))
    return eligible[order[:size]]


def choose_alike(predictability: Floats, pool: Floats, gone: Bools, rng: np.random.Generator) -> Bools:
    """Return which rows of another set leave: of each predictability as large a share as of the pool's rows at the nearest one.

    Args:
        predictability: (n_examples,) of the other set, in [0, 1].
        pool: (n_rows,) of the pool; NaN for a row never held out, which does not count.
        gone: (n_rows,) which of them were removed.
        rng: draws within a share.
    """
    known = ~np.isnan(pool)
    if not gone.any() or not len(predictability):
        return np.zeros(len(predictability), bool)
    levels, place = np.unique(pool[known], return_inverse=True)
    share = np.bincount(place, weights=gone[known]) / np.bincount(place)
    above = np.searchsorted(levels, predictability).clip(max=len(levels) - 1)
    below = (above - 1).clip(min=0)
    nearest = np.where(predictability - levels[below] < levels[above] - predictability, below, above)
    chosen: Bools = rng.random(len(predictability)) < share[nearest]
    return chosen
