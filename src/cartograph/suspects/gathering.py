"""Where suspects gather: the value of a column, the file or the stretch of rows in which far more labels look wrong than in the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from scipy.stats import poisson

from cartograph.data.arrays import Bools, Floats, Ids, Integers
from cartograph.schema import UID

FEWEST, TIMES, CHANCE = 10, 2.0, 0.001
"""Fewest suspects of a part that gather there; how many times the others' share of suspects its own must be, classes being equal; and the
probability, all parts that were looked at together, that one looks so by chance."""

_SAME, _SURE = 0.8, 0.1


@dataclass(frozen=True)
class Gathering:
    """A part of a stratum in which suspects gather.

    Attributes:
        stratum: as ``ingest.strata`` names it.
        part: the name of the part.
        suspects: in the part.
        rows: of the part.
        expected: suspects that the part would have, were they spread over it as over all rows: the most by any spread.
    """

    stratum: str
    part: str
    suspects: int
    rows: int
    expected: float


@dataclass(frozen=True)
class Spread:
    """One way in which suspects would be spread without anybody's carelessness: over the rows that count of each group, evenly.

    Attributes:
        group: (n_examples,) ids of groups.
        counts: (n_examples,) which rows can be suspects at all.
    """

    group: Integers
    counts: Bools

    def expected(self, suspect: Bools) -> Floats:
        """Return how many suspects each row would have, ``(n_examples,)``."""
        able = np.maximum(np.bincount(self.group, weights=self.counts), 1.0)
        rate = np.bincount(self.group, weights=suspect & self.counts, minlength=len(able)) / able
        return rate[self.group] * self.counts


def of_labels(labels: Ids) -> Spread:
    """Return the spread by which each label looks wrong equally often, wherever it stands."""
    return Spread(labels.astype(np.int64), np.ones(len(labels), bool))


def of_sure_rows(labels: Ids, suggested: Ids, probability: Floats, suspect: Bools) -> Spread | None:
    """Return the spread by which each row that models are sure about is equally often labelled wrongly; None where they say too little.

    Only where models are sure can a wrong label be seen, and rows of some parts are surer throughout: of customers with a contract of two
    years hardly any leave, so that those of them that are said to have left look wrong, and not among the others.

    Args:
        labels: (n_examples,) class ids.
        suggested: (n_examples,) the most probable other class of each row; -1 where none is known.
        probability: (n_examples,) its probability by models that did not see the row.
        suspect: (n_examples,) whether the label is suspect: models are then sure about the suggested class.
    """
    known = (suggested >= 0) & ~np.isnan(probability)
    if not suspect.any() or not known[suspect].all():
        return None
    least = np.quantile(probability[suspect], _SURE)
    return Spread(np.where(suspect, suggested, labels), suspect | (known & (1.0 - probability >= least)))


def gatherings(strata: pa.Table, spreads: Sequence[Spread], suspect: Bools) -> list[Gathering]:
    """Return where suspects gather, the most beyond what is expected first; of parts that are nearly the same rows, the first alone.

    A part's suspects are compared with what it would have by each spread, and are more by all. The tail is Poisson's, which is above that
    of drawing without replacement. Cost: O(n_rows · n_strata).

    Args:
        strata: of ``strata_of``.
        spreads: of its rows, one or more.
        suspect: (n_examples,) whether a row's label is suspect.
    """
    if np.count_nonzero(suspect) < FEWEST:
        return []
    each = [spread.expected(suspect) for spread in spreads]
    tested, found = 0, []
    for name in strata.column_names:
        if name == UID:
            continue
        column = strata[name].combine_chunks()
        there = column.is_valid().to_numpy(zero_copy_only=False)
        part, names = column.indices.fill_null(0).to_numpy()[there], column.dictionary.to_pylist()
        counted = partial(np.bincount, part, minlength=len(names))
        rows, suspects = counted(), counted(weights=suspect[there])
        expected = np.stack([counted(weights=values[there]) for values in each])
        tested += int(np.count_nonzero(rows >= FEWEST))
        elsewhere = (suspects.sum() - suspects) / np.maximum(expected.sum(axis=1, keepdims=True) - expected, 1e-9)
        enough = (suspects >= FEWEST) & (suspects > TIMES * elsewhere * expected).all(axis=0)
        most = expected.max(axis=0)
        for number in np.flatnonzero(enough).tolist():
            chance = float(poisson.sf(suspects[number] - 1, most[number]))
            mine = np.flatnonzero(there)[part == number]
            found.append((chance, mine, Gathering(name, names[number], int(suspects[number]), int(rows[number]), float(most[number]))))
    sure = [(mine, one) for chance, mine, one in found if chance * tested < CHANCE]
    return _apart(sorted(sure, key=lambda pair: pair[1].expected - pair[1].suspects))


def _apart(found: Sequence[tuple[Integers, Gathering]]) -> list[Gathering]:
    """Return the parts, without those whose rows are nearly those of an earlier one."""
    kept: list[tuple[Integers, Gathering]] = []
    for mine, one in found:
        if all(len(np.intersect1d(mine, other)) < _SAME * len(np.union1d(mine, other)) for other, _ in kept):
            kept.append((mine, one))
    return [one for _, one in kept]
