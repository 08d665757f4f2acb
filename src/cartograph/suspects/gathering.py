"""Where suspects gather: the value of a column, the file or the stretch of rows in which far more labels look wrong than in the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from scipy.stats import poisson

from cartograph.data.arrays import Bools, Floats, Ids, Integers
from cartograph.ingest.strata import ORDER
from cartograph.schema import UID

FEWEST, TIMES, CHANCE = 10, 2.0, 0.001
"""Fewest suspects of a part that gather there; how many times the others' share of suspects its own must be, classes being equal; and the
probability, all parts that were looked at together, that one looks so by chance."""

_SAME, _SURE = 0.8, 0.1

_MOST = 2_000
"""Suspects up to which the stretch of rows is looked for in which they gather: every two of them may be its ends."""


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


def gatherings(strata: pa.Table, spreads: Sequence[Spread], suspect: Bools, record: Integers | None = None) -> list[Gathering]:
    """Return where suspects gather, the most beyond what is expected first; of parts that are nearly the same rows, the first alone.

    A part's suspects are compared with what it would have by each spread, and are more by all. The tail is Poisson's, which is above that
    of drawing without replacement. Cost: O(n_rows · n_strata).

    Args:
        strata: of ``strata_of``.
        spreads: of its rows, one or more.
        suspect: (n_examples,) whether a row's label is suspect.
        record: (n_examples,) the number of each row in the file: a part of the rows in their order then becomes the stretch with rows
            of it in which the suspects gather most. None: the parts stay tenths of the file.
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
    beyond = [(mine, one) for chance, mine, one in found if chance * tested < CHANCE]
    sure = sorted(beyond, key=lambda pair: pair[1].expected - pair[1].suspects)
    if record is not None:
        expected_of = np.max(each, axis=0)
        sure = [_around(mine, one, record, suspect, expected_of) if one.stratum == ORDER else (mine, one) for mine, one in sure]
    return _apart(sure)


def _around(mine: Integers, one: Gathering, record: Integers, suspect: Bools, expected: Floats) -> tuple[Integers, Gathering]:
    """Return the rows of the stretch in which the suspects of a part of the file gather, and the gathering there.

    Of all stretches that have rows of the part, and begin and end with a suspect, the one that is likeliest by its suspects and those
    outside, Poisson with a rate of its own (the scan statistic of Kulldorff, Communications in Statistics 1997).
    """
    order = np.argsort(record, kind="stable")
    places, at = np.flatnonzero(np.isin(order, mine, assume_unique=True)), np.flatnonzero(suspect[order])
    if len(at) > _MOST:
        return mine, one
    before = np.concatenate([[0.0], np.cumsum(expected[order])])
    best, ends = 0.0, (int(places[0]), int(places[-1]))
    for start in range(int(np.searchsorted(at, places[-1], side="right"))):
        fewest = max(start + FEWEST - 1, int(np.searchsorted(at, places[0])))
        last = at[fewest:]
        inside = np.arange(fewest - start + 1, len(at) - start + 1)
        due = np.maximum(before[last + 1] - before[at[start]], 1e-9)
        gain = _likelier(inside, due, len(at) - inside, np.maximum(before[-1] - due, 1e-9))
        if len(gain) and gain.max() > best:
            best, ends = float(gain.max()), (int(at[start]), int(last[gain.argmax()]))
    rows = order[ends[0] : ends[1] + 1]
    part = f"{int(record[rows[0]]):,} to {int(record[rows[-1]]):,}"
    return rows, replace(one, part=part, suspects=int(suspect[rows].sum()), rows=len(rows), expected=float(expected[rows].sum()))


def _likelier(inside: Integers, due: Floats, outside: Integers, due_outside: Floats) -> Floats:
    """Return the log likelihood ratio of two rates, of what is expected inside and outside, against one; 0 where it is less inside."""
    rate, other = inside / due, np.maximum(outside, 1e-9) / due_outside
    common = (inside + outside) / (due + due_outside)
    found: Floats = np.where(rate > other, inside * np.log(rate / common) + outside * np.log(other / common), 0.0)
    return found


def _apart(found: Sequence[tuple[Integers, Gathering]]) -> list[Gathering]:
    """Return the parts, without those whose rows are nearly those of an earlier one."""
    kept: list[tuple[Integers, Gathering]] = []
    for mine, one in found:
        if all(len(np.intersect1d(mine, other)) < _SAME * len(np.union1d(mine, other)) for other, _ in kept):
            kept.append((mine, one))
    return [one for _, one in kept]
