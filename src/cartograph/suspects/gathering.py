"""Where suspects gather: the value of a column, the file or the stretch of rows in which far more labels look wrong than in the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.stats import poisson

from cartograph.data.arrays import Bools, Ids, Integers
from cartograph.schema import UID

FEWEST, TIMES, CHANCE = 10, 2.0, 0.001
"""Fewest suspects of a part that gather there; how many times the others' share of suspects its own must be, classes being equal; and the
probability, all parts that were looked at together, that one looks so by chance."""

_SAME = 0.8


@dataclass(frozen=True)
class Gathering:
    """A part of a stratum in which suspects gather.

    Attributes:
        stratum: as ``ingest.strata`` names it.
        part: the name of the part.
        suspects: in the part.
        rows: of the part.
        expected: suspects that the part would have, were they spread over it as over all rows of each class.
    """

    stratum: str
    part: str
    suspects: int
    rows: int
    expected: float


def gatherings(strata: pa.Table, labels: Ids, suspect: Bools) -> list[Gathering]:
    """Return where suspects gather, the most beyond what is expected first; of parts that are nearly the same rows, the first alone.

    A part's suspects are compared with what its classes would have it: classes differ in how many of their labels look wrong, and parts in
    their classes. The tail is Poisson's, which is above that of drawing without replacement. Cost: O(n_rows · n_strata).

    Args:
        strata: of ``strata_of``.
        labels: (n_examples,) class ids of its rows.
        suspect: (n_examples,) whether a row's label is suspect.
    """
    if np.count_nonzero(suspect) < FEWEST:
        return []
    sizes = np.maximum(np.bincount(labels), 1)
    rate = (np.bincount(labels, weights=suspect) / sizes)[labels]
    tested, found = 0, []
    for name in strata.column_names:
        if name == UID:
            continue
        column = strata[name].combine_chunks()
        there = column.is_valid().to_numpy(zero_copy_only=False)
        part, names = column.indices.fill_null(0).to_numpy()[there], column.dictionary.to_pylist()
        rows, suspects, expected = (
            np.bincount(part, weights=values[there], minlength=len(names)) for values in (np.ones(len(rate)), suspect, rate)
        )
        tested += int(np.count_nonzero(rows >= FEWEST))
        elsewhere = (suspects.sum() - suspects) / np.maximum(expected.sum() - expected, 1e-9)
        enough = (suspects >= FEWEST) & (suspects > TIMES * elsewhere * expected)
        for number in np.flatnonzero(enough).tolist():
            chance = float(poisson.sf(suspects[number] - 1, expected[number]))
            mine = np.flatnonzero(there)[part == number]
            found.append((chance, mine, Gathering(name, names[number], int(suspects[number]), int(rows[number]), float(expected[number]))))
    sure = [(mine, one) for chance, mine, one in found if chance * tested < CHANCE]
    return _apart(sorted(sure, key=lambda pair: pair[1].expected - pair[1].suspects))


def _apart(found: Sequence[tuple[Integers, Gathering]]) -> list[Gathering]:
    """Return the parts, without those whose rows are nearly those of an earlier one."""
    kept: list[tuple[Integers, Gathering]] = []
    for mine, one in found:
        if all(len(np.intersect1d(mine, other)) < _SAME * len(np.union1d(mine, other)) for other, _ in kept):
            kept.append((mine, one))
    return [one for _, one in kept]
