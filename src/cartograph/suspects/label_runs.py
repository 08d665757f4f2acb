"""Runs of one label in a file whose labels are otherwise mixed: what a value that was filled down, or pasted over rows, leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Bools, Integers

FEWEST, TIMES, CHANCE = 10, 3.0, 0.001
"""Fewest suspects of a run; how many times the share of suspects of all other rows its own must be; and the probability that any run of
the file is as long by how often neighbouring rows have one label elsewhere."""


@dataclass(frozen=True)
class Run:
    """Rows that follow one another and have one label.

    Attributes:
        label: its id.
        first, last: place of the first and the last row, in the order of the rows.
        suspects: how many of them are suspects.
    """

    label: int
    first: int
    last: int
    suspects: int


def label_runs(labels: Integers, suspect: Bools) -> list[Run]:
    """Return the runs of one label that no mixed file has and in which suspects stand, the most suspects first.

    Where rows are sorted by class, or come in groups of one class, neighbours have one label everywhere, and no run is too long.

    Args:
        labels: (n_examples,) given label ids, in the order of the rows.
        suspect: (n_examples,) which labels look wrong.

    >>> mixed = np.random.default_rng(1).integers(0, 6, 200)
    >>> pasted = np.concatenate([mixed[:100], np.full(40, 3), mixed[100:]])
    >>> label_runs(pasted, np.isin(np.arange(240), np.arange(105, 135)))
    [Run(label=3, first=100, last=139, suspects=30)]
    """
    number = len(labels)
    if np.count_nonzero(suspect) < FEWEST:
        return []
    starts = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    lengths, suspects = np.diff(np.append(starts, number)), np.add.reduceat(suspect.astype(np.int64), starts)
    found = []
    for one in np.flatnonzero(suspects >= FEWEST).tolist():
        first, length, own = int(starts[one]), int(lengths[one]), int(suspects[one])
        outside = np.delete(labels, np.s_[first : first + length])
        elsewhere = (int(suspect.sum()) - own) / max(len(outside), 1)
        if own > TIMES * elsewhere * length and _log_chance(outside, int(labels[first]), length) < np.log(CHANCE / number):
            found.append(Run(int(labels[first]), first, first + length - 1, own))
    return sorted(found, key=lambda run: -run.suspects)


def _log_chance(outside: Integers, label: int, length: int) -> float:
    """Return the log probability that so many rows from a row of the label on have it, by how often neighbours elsewhere have one label."""
    if len(outside) < 2:
        return 0.0
    same, of_label = outside[1:] == outside[:-1], outside[:-1] == label
    # One more of either: a label that stands nowhere else is no proof of a run.
    shares = [(np.count_nonzero(same & rows) + 1) / (np.count_nonzero(rows) + 2) for rows in (np.ones(len(same), bool), of_label)]
    return float((length - 1) * np.log(max(shares)))
