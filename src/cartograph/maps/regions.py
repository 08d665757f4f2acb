"""Regions of the data map: each example gets one region, or none, by its *rank* and by the *corner* that it is nearest to.

Swayamdipta et al. 2020, §2.2: easy-to-learn are the examples of high confidence and low variability, hard-to-learn those of low
confidence and low variability, ambiguous those of high variability. The paper ranks and names no thresholds, so the three lists here are
shares of the rows: the ``hard`` share of lowest confidence, the ``ambiguous`` share of highest variability, the ``easy`` share of highest
confidence. The lists overlap, since a model seldom doubts a label steadily: of the least confident tenth of the published WinoGrande
map, 94 % are among the most variable third. What parts them are rotated coordinates. The corners of the map are

    easy (variability 0, confidence 1)    hard (0, 0)    ambiguous (0.5, 0.5)

and every point is a mixture of them with the weights e = c - v, h = 1 - c - v and a = 2 v, which add up to 1; the corner of the largest
weight is the nearest. So

1. hard-to-learn: in the list of lowest confidence, and h is the largest weight: c < 1/2 and v < (1 - c) / 3;
2. easy-to-learn: in the list of highest confidence, and e is the largest weight: c > 1/2 and v < c / 3;
3. ambiguous: in the list of highest variability, but in neither of the two (never a row of variability 0);
4. unassigned: what is left.

The shares are therefore the most that a region can have. One that has fewer says something of the data: where nothing is doubted
steadily, hard-to-learn is small, and where nothing is learnt firmly, easy-to-learn is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cartograph.data.arrays import Bools, Floats, Integers, Texts
from cartograph.data.given import numbers_of
from cartograph.data.lots import lots, lowest
from cartograph.errors import InputError
from cartograph.maps.measures import Uids
from cartograph.schema import REGIONS

EASY, AMBIGUOUS, HARD, UNASSIGNED = REGIONS


@dataclass(frozen=True)
class Cut:
    """Where a region ends, and the list that it is taken from.

    Attributes:
        value: the least extreme value inside: the largest confidence of hard-to-learn, the smallest variability of
            ambiguous, the smallest confidence of easy-to-learn; None where the region is empty.
        listed: rows in the list.
        elsewhere: of these, the rows in another region: ambiguous ones, or for the list of ambiguous those in the other two.
        tied: rows that have exactly the value at the list's end, some in it and some not, drawn by lot; 0 where it parts no equals.
    """

    value: float | None
    listed: int
    elsewhere: int
    tied: int


@dataclass(frozen=True)
class Regions:
    """The region of each row, ``(n_examples,)``, names of ``schema.REGIONS``, and the cut of each region that has a list."""

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
            raise InputError(f"`{name}` is the largest share of rows in its region and must be above 0, but is {share:g}.")
    total = math.fsum(shares.values())
    if not total <= 1 + 1e-9:
        listed = ", ".join(f"`{name}` {share:g}" for name, share in shares.items())
        raise InputError(f"the shares {listed} add up to {total:g}; lower them to 1 or less, the remainder is unassigned.")


def corner_weights(confidence: Floats, variability: Floats) -> Floats:
    """Return of which corners of the map each row is a mixture: the rotated coordinates that separate the regions.

    Args:
        confidence: ``(n_examples,)``, in [0, 1].
        variability: ``(n_examples,)``, in [0, 0.5].

    Returns:
        ``(n_examples, 3)``: c - v for easy-to-learn, 2 v for ambiguous, 1 - c - v for hard-to-learn; each row adds up to 1. The first and
        last are negative where a row lies beyond the line from the ambiguous corner to the other one.

    >>> corner_weights(np.array([1.0, 0.5, 0.25]), np.array([0.0, 0.5, 0.0])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.25, 0.0, 0.75]]
    """
    return np.column_stack((confidence - variability, 2 * variability, 1 - confidence - variability))


def assign_regions(
    uids: Uids,
    confidence: npt.ArrayLike,
    variability: npt.ArrayLike,
    *,
    easy: float = 0.33,
    ambiguous: float = 0.33,
    hard: float = 0.10,
    rng: np.random.Generator | None = None,
) -> Regions:
    """Give each row one region of the data map, by rank and nearest corner (Swayamdipta et al., EMNLP 2020, §2.2).

    Hard-to-learn rows are among the share of lowest confidence and nearest to the corner of confidence 0 and variability 0; easy-to-learn
    rows are among the share of highest confidence and nearest to the corner of confidence 1 and variability 0; ambiguous rows are the
    remaining ones among the share of highest variability; all other rows are unassigned. The corner (variability 0.5, confidence 0.5) is
    the ambiguous one, and the nearest corner is that of the largest weight (``corner_weights``).

    Each list has round(share · n_examples) rows, half to even. Rows that tie at its end are drawn by lot; the lots are dealt in the order
    of the uids, so the order of the rows does not matter. A selection of the same name (``select``) is the plain list.

    Args:
        uids: unique names, length n_examples.
        confidence: ``(n_examples,)``, in [0, 1].
        variability: ``(n_examples,)``, ≥ 0.
        easy: largest share of rows in easy-to-learn.
        ambiguous: largest share of rows in ambiguous.
        hard: largest share of rows in hard-to-learn.
        rng: deals the lots; None: one with the seed 13, so that the same rows get the same regions.

    Raises:
        InputError: a share is not above 0, or they add up to more than 1; coordinates that are no numbers, not finite, or not one per uid.

    >>> confidence, variability = np.array([0.9, 0.5, 0.1, 0.8]), np.array([0.0, 0.4, 0.1, 0.1])
    >>> assign_regions(["a", "b", "c", "d"], confidence, variability, easy=0.25, ambiguous=0.25, hard=0.25).names.tolist()
    ['easy-to-learn', 'ambiguous', 'hard-to-learn', 'unassigned']
    """
    rng = np.random.default_rng(13) if rng is None else rng
    check_shares(easy, ambiguous, hard)
    confidence, variability = (_coordinate(uids, *given) for given in (("confidence", confidence), ("variability", variability)))
    n_examples = len(confidence)
    dealt = lots(np.asarray(uids, dtype=object), rng)
    weights = corner_weights(confidence, variability)
    toward_easy, toward_ambiguous, toward_hard = (weights[:, place] for place in range(3))
    least, hard_ties = _listed(confidence, round(hard * n_examples), dealt)
    most, easy_ties = _listed(-confidence, round(easy * n_examples), -dealt)
    varied, ambiguous_ties = _listed(-variability, round(ambiguous * n_examples), dealt)
    regions = {HARD: least & (toward_hard > np.maximum(toward_easy, toward_ambiguous))}
    regions[EASY] = most & (toward_easy > np.maximum(toward_hard, toward_ambiguous))
    regions[AMBIGUOUS] = varied & (variability > 0) & ~regions[HARD] & ~regions[EASY]
    names = np.full(n_examples, UNASSIGNED, dtype=f"<U{max(map(len, REGIONS))}")
    for region, inside in regions.items():
        names[inside] = region
    listed = {HARD: (least, hard_ties), EASY: (most, easy_ties), AMBIGUOUS: (varied, ambiguous_ties)}
    edges, cuts = _edges(names, confidence, variability), {}
    for region, (members, tied) in listed.items():
        elsewhere = int(np.count_nonzero((names[members] != region) & (names[members] != UNASSIGNED)))
        cuts[region] = Cut(edges.get(region), int(members.sum()), elsewhere, tied)
    return Regions(names, cuts)


def _coordinate(uids: Uids, name: str, values: npt.ArrayLike) -> Floats:
    found: Floats = numbers_of(values, name).astype(np.float64, copy=False)
    if found.shape != (len(uids),):
        raise InputError(f"`{name}` must be one number per uid ({len(uids):,}), but has the shape {found.shape}.")
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise InputError(f"uid {uids[row]!r} has {name} {found[row]}, where a finite number is needed; leave such rows out.")
    return found


def region_edges(measures: pa.Table) -> dict[str, float]:
    """Return the value at each region's cut from a table of ``schema.MEASURES``; a region without rows is left out."""
    names = measures.column("region").to_numpy(zero_copy_only=False)
    return _edges(names, measures.column("confidence").to_numpy(), measures.column("variability").to_numpy())


def region_lines(measures: pa.Table) -> dict[str, list[tuple[float, float]]]:
    """Return the lines that part the regions on a drawn map, each a path of points (variability, confidence).

    Those of hard-to-learn and easy-to-learn run level at the cut, then along the line on which the ambiguous corner is as near; that of
    ambiguous runs upright at its cut, from the one to the other. A region without rows has none.

    Args:
        measures: a table of ``schema.MEASURES``.
    """
    edges = region_edges(measures)
    lines: dict[str, list[tuple[float, float]]] = {}
    floor, ceiling = edges.get(HARD), edges.get(EASY)
    if floor is not None:
        lines[HARD] = [(0.0, floor), ((1 - floor) / 3, floor), (1 / 3, 0.0)]
    if ceiling is not None:
        lines[EASY] = [(0.0, ceiling), (ceiling / 3, ceiling), (1 / 3, 1.0)]
    if AMBIGUOUS in edges:
        across = edges[AMBIGUOUS]
        bottom = 0.0 if floor is None else min(floor, max(1 - 3 * across, 0.0))
        top = 1.0 if ceiling is None else max(ceiling, min(3 * across, 1.0))
        lines[AMBIGUOUS] = [(across, bottom), (across, top)]
    return lines


def easiest_rows(measures: pa.Table, least: float) -> Bools:
    """Return which rows are safe to take for well learnt: the easy region, filled up to a share of all rows with those nearest to it.

    A map of a model that learnt little may have no easy region; the rows nearest to the easy corner are still its easiest.

    Args:
        measures: a table of ``schema.MEASURES``.
        least: share of the rows that are returned at least, in [0, 1].

    Returns:
        ``(n_examples,)``, in the order of the table; of rows equally near, those of the first uids.
    """
    chosen: Bools = measures.column("region").to_numpy(zero_copy_only=False) == EASY
    wanted = math.ceil(least * measures.num_rows) - int(chosen.sum())
    if wanted > 0:
        nearness = corner_weights(measures.column("confidence").to_numpy(), measures.column("variability").to_numpy())[:, 0]
        uids = np.asarray(measures.column("uid").to_pylist(), dtype=object)
        order = np.argsort(uids, kind="stable")
        order = order[np.argsort(-nearness[order], kind="stable")]
        chosen[order[~chosen[order]][:wanted]] = True
    return chosen


def _edges(names: Texts, confidence: Floats, variability: Floats) -> dict[str, float]:
    edges = {}
    for region, values, edge in ((HARD, confidence, np.max), (AMBIGUOUS, variability, np.min), (EASY, confidence, np.min)):
        inside = values[names == region]
        if len(inside):
            edges[region] = float(edge(inside))
    return edges


def _listed(values: Floats, wanted: int, dealt: Integers) -> tuple[Bools, int]:
    """Return which rows have the lowest values, so many of them, and how many tie at the end of that list."""
    rows, tied = lowest(values, wanted, dealt)
    inside = np.zeros(len(values), np.bool_)
    inside[rows] = True
    return inside, tied
