"""Regions of the data map by *ranked shares*: each example gets one region, or none.

The paper ranks rather than thresholds (Swayamdipta et al. 2020, §2.2 and §3): hard-to-learn is the share of lowest
confidence, ambiguous the share of highest variability, easy-to-learn the share of highest confidence. Ranked one by one
these shares may overlap, so here they are taken in that order, each among the rows that the ones before it left:

1. hard-to-learn: the ``hard`` share of all rows with the lowest confidence;
2. ambiguous: of the rest, the ``ambiguous`` share of all rows with the highest variability (never a row of variability 0);
3. easy-to-learn: of the rest, the ``easy`` share of all rows with the highest confidence;
4. unassigned: what is left.

On the map the regions are therefore rectangles, and the values at the cuts say as much as the counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats, Integers, Texts
from cartograph.errors import InputError
from cartograph.maps.measures import Uids
from cartograph.schema import REGIONS

EASY, AMBIGUOUS, HARD, UNASSIGNED = REGIONS


@dataclass(frozen=True)
class Cut:
    """Where a region ends.

    Attributes:
        value: the least extreme value inside: the largest confidence of hard-to-learn, the smallest variability of
            ambiguous, the smallest confidence of easy-to-learn; None where the region is empty.
        tied: rows that have exactly this value, some inside and some outside, drawn by lot; 0 where the cut parts no equals.
    """

    value: float | None
    tied: int


@dataclass(frozen=True)
class Regions:
    """The region of each row, ``(n_examples,)``, names of ``schema.REGIONS``, and the cut of each region that has one."""

    names: Texts
    cuts: dict[str, Cut]

    def count(self, region: str) -> int:
        """Return how many rows are in a region."""
        return int(np.count_nonzero(self.names == region))


def check_shares(easy: float, ambiguous: float, hard: float) -> None:
    """Check that the three shares can be taken from one table.

    Raises:
        InputError: a share is not above 0, or they add up to more than 1.
    """
    shares = {"easy": easy, "ambiguous": ambiguous, "hard": hard}
    for name, share in shares.items():
        if not share > 0:
            raise InputError(f"`{name}` is the share of rows in its region and must be above 0, but is {share:g}.")
    total = math.fsum(shares.values())
    if not total <= 1 + 1e-9:
        listed = ", ".join(f"`{name}` {share:g}" for name, share in shares.items())
        raise InputError(f"the shares {listed} add up to {total:g}; lower them to 1 or less, the remainder is unassigned.")


def assign_regions(
    uids: Uids,
    confidence: Floats,
    variability: Floats,
    *,
    easy: float = 0.33,
    ambiguous: float = 0.33,
    hard: float = 0.10,
    rng: np.random.Generator | None = None,
) -> Regions:
    """Give each row one region of the data map by ranked shares (Swayamdipta et al., EMNLP 2020, §2.2 and §3).

    Hard-to-learn is the share of lowest confidence; ambiguous, of the rest, the share of highest variability; easy-to-learn, of what is
    left, the share of highest confidence; all other rows are unassigned.

    Each share takes round(share · n_examples) rows, half to even, or what is left where that is less. Rows that tie at a cut
    are drawn by lot; the lots are dealt in the order of the uids, so the order of the rows does not matter.

    Args:
        uids: unique names, length n_examples.
        confidence: ``(n_examples,)``, in [0, 1].
        variability: ``(n_examples,)``, ≥ 0.
        easy: share of rows in easy-to-learn.
        ambiguous: share of rows in ambiguous.
        hard: share of rows in hard-to-learn.
        rng: deals the lots; None: one with the seed 13, so that the same rows get the same regions.

    Raises:
        InputError: a share is not above 0, or they add up to more than 1.

    >>> confidence, variability = np.array([0.9, 0.5, 0.1, 0.8]), np.array([0.0, 0.4, 0.1, 0.1])
    >>> assign_regions(["a", "b", "c", "d"], confidence, variability, easy=0.25, ambiguous=0.25, hard=0.25).names.tolist()
    ['easy-to-learn', 'ambiguous', 'hard-to-learn', 'unassigned']
    """
    rng = np.random.default_rng(13) if rng is None else rng
    check_shares(easy, ambiguous, hard)
    n_examples = len(confidence)
    lots = np.empty(n_examples, dtype=np.int64)
    lots[np.argsort(np.asarray(uids, dtype=object), kind="stable")] = rng.permutation(n_examples)
    names = np.full(n_examples, UNASSIGNED, dtype=f"<U{max(map(len, REGIONS))}")
    cuts = {}
    for region, share, values, sign in (
        (HARD, hard, confidence, 1.0),
        (AMBIGUOUS, ambiguous, variability, -1.0),
        (EASY, easy, confidence, -1.0),
    ):
        free = np.flatnonzero((names == UNASSIGNED) & ((variability > 0) | (region != AMBIGUOUS)))
        chosen, cuts[region] = _take(values[free], sign, round(share * n_examples), lots[free])
        names[free[chosen]] = region
    return Regions(names, cuts)


def region_edges(measures: pa.Table) -> dict[str, float]:
    """Return the value at each region's cut from a table of ``schema.MEASURES``; a region without rows is left out."""
    names = measures.column("region").to_numpy(zero_copy_only=False)
    edges = {}
    for region, column, edge in ((HARD, "confidence", np.max), (AMBIGUOUS, "variability", np.min), (EASY, "confidence", np.min)):
        inside = measures.column(column).to_numpy()[names == region]
        if len(inside):
            edges[region] = float(edge(inside))
    return edges


def _take(values: Floats, sign: float, wanted: int, lots: Integers) -> tuple[Integers, Cut]:
    order = np.lexsort((lots, sign * values))
    chosen = order[:wanted]
    if not len(chosen):
        return chosen, Cut(None, 0)
    value = values[chosen[-1]]
    cut_apart = len(chosen) < len(values) and values[order[len(chosen)]] == value
    return chosen, Cut(float(value), int(np.count_nonzero(values == value)) if cut_apart else 0)
