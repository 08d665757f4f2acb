"""Careless stretches: rows that stand together in the file, whose labels are wrong far more often than those of the others.

People label in batches, and imports go wrong for a while. Of rows in the order of their file the likeliest stretch is sought whose labels
are wrong so many times more often: by the evidence of each label, what it adds to the log likelihood is summed, and the stretch with the
largest sum is kept (a scan, as of Kulldorff, Communications in Statistics 1997). It is believed where order by chance would bring forth as
much in one file of a thousand: over a stretch the expected likelihood ratio is 1, so that anywhere in ``n`` rows a sum above ``t`` has a
probability of at most ``n`` · exp(−t) for each factor (Wald, *Sequential Analysis*, 1947).

Rows may also stand together since they are alike, and hard: texts cut short, sorted by length, by a column, or by class. Hence nothing is
heard of a stretch in which hardly a clear row looks wrong (``LOOK_WRONG``), nor of one whose labels do not change from row to row as
those of the file would in any order (``CHANGES``): one label filled down is looked for elsewhere (``label_runs``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats, Integers
from cartograph.schema import ROW, SOURCE
from cartograph.suspects.labellers import evidence_of_labels

CHANCE = 0.001
"""Probability that a file whose rows are in no order has such a stretch."""

LOOK_WRONG, CHANGES = 0.06, 0.25
"""Least share of the clear rows of a stretch that look wrong: of stretches of 150 to 600 rows of which a quarter to a half was labelled at
random it was .065 to .45, of 600 texts cut to their first two words, all labelled rightly, .024 to .048. And how often the label changes
from row to row, at least, as a share of how often it would by chance."""

_WRONG, _RIGHT = 0.5, 0.05
"""Doubt from which on a row looks wrong, and up to which it looks right: those are clear."""

_FEWEST, _MOST = 20, 20
"""Fewest rows of a stretch, and most stretches."""

_FACTORS = np.exp(np.linspace(np.log(1.5), np.log(50.0), 12))


class Stretch(NamedTuple):
    """A stretch of rows: the places of the first and the last in the order of the file, from 0 on."""

    first: int
    last: int


def file_order(examples: pa.Table) -> Integers:
    """Return where each row of a set stands, file by file, by the names of the files, ``(n_examples,)``."""
    # Sorted as the names are; of pictures each may be a file.
    names = examples[SOURCE].combine_chunks().dictionary_encode()
    rank = np.argsort(np.argsort(np.array(names.dictionary.to_pylist(), dtype=object), kind="stable"), kind="stable")
    order = np.lexsort((examples[ROW].to_numpy(), rank[names.indices.to_numpy()]))
    where = np.empty(len(order), dtype=np.int64)
    where[order] = np.arange(len(order))
    return where


def careless_stretches(doubt: Floats, given: Integers, order: Integers) -> tuple[Stretch, ...]:
    """Return the stretches of the file in which labels are wrong far more often than elsewhere, in its order.

    Cost: O(n_examples · (log n_examples + stretches)), a dozen factors.

    Args:
        doubt: probability that each label is wrong, wherever it stands, ``(n_examples,)``.
        given: label ids, ``(n_examples,)``.
        order: where each row stands, any numbers that rise with it, ``(n_examples,)``.

    >>> rng = np.random.default_rng(1)
    >>> given, wrong = rng.integers(2, size=900), (np.arange(900) // 100 == 4) & (rng.random(900) < 0.5)
    >>> doubt = np.where(wrong, 0.7, 0.02)
    >>> [(first // 10, last // 10) for first, last in careless_stretches(doubt, given, np.arange(900))]
    [(40, 49)]
    >>> careless_stretches(doubt, given, rng.permutation(900))
    ()
    """
    places = np.argsort(order, kind="stable")
    doubted, labels = doubt[places], given[places]
    odds, evidence = evidence_of_labels(doubted, labels)
    enough = np.log(len(places) * len(_FACTORS) / CHANCE)
    found: list[Stretch] = []
    parts = [(0, len(places))]
    while parts and len(found) < _MOST:
        start, end = parts.pop()
        gain, first, last = _likeliest(odds[start:end], evidence[start:end])
        if gain < enough:
            continue
        rows = slice(start + first, start + last + 1)
        if last - first + 1 >= _FEWEST and _look_wrong(doubted[rows]) and _changes(labels[rows], labels):
            found.append(Stretch(rows.start, rows.stop - 1))
        parts += [(start, rows.start), (rows.stop, end)]
    return tuple(sorted(found))


def rows_in(stretches: tuple[Stretch, ...], order: Integers) -> Integers:
    """Return the number of the stretch that each row is in, from 1 on, 0 for all others, ``(n_examples,)``."""
    number = np.zeros(len(order), dtype=np.int64)
    places = np.argsort(order, kind="stable")
    for one, (first, last) in enumerate(stretches, start=1):
        number[places[first : last + 1]] = one
    return number


def _likeliest(odds: Floats, evidence: Floats) -> tuple[float, int, int]:
    """Return the largest log likelihood ratio of a stretch, and its ends; 0 of no rows."""
    best = (0.0, 0, -1)
    if not len(odds):
        return best
    even = np.log1p(odds / (1.0 + odds) * (evidence - 1.0))
    for factor in _FACTORS.tolist():
        prior = factor * odds / (1.0 + factor * odds)
        sums = np.concatenate([[0.0], np.cumsum(np.log1p(prior * (evidence - 1.0)) - even)])
        lowest = np.minimum.accumulate(sums)
        last = int((sums - lowest).argmax())
        if sums[last] - lowest[last] > best[0]:
            best = (float(sums[last] - lowest[last]), int(sums[: last + 1].argmin()), last - 1)
    return best


def _look_wrong(doubted: Floats) -> bool:
    wrong, right = np.count_nonzero(doubted >= _WRONG), np.count_nonzero(doubted <= _RIGHT)
    return bool(wrong > 0 and wrong >= LOOK_WRONG * (wrong + right))


def _changes(labels: Integers, every: Integers) -> bool:
    shares = np.bincount(every) / len(every)
    by_chance = (1.0 - np.square(shares).sum()) * (len(labels) - 1)
    return bool(np.count_nonzero(labels[1:] != labels[:-1]) >= CHANGES * by_chance)
