"""Folds of a train set, balanced by class."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from cartograph.data.arrays import Bools, Ids, Integers
from cartograph.data.linked_rows import LARGEST
from cartograph.errors import InputError

_PARTS = 20


def assign_folds(labels: Ids, folds: int, rng: np.random.Generator, groups: Integers | None = None) -> Integers:
    """Return a fold id in [0, folds) for each row; fold sizes, and each class's rows per fold, differ by one at most.

    A class with fewer rows than folds is in some folds only; of one row, no model learns it for that row. Rows of a group are in one fold,
    and sizes are then as even as groups allow; of fewer groups than folds each is a fold.

    Args:
        labels: label ids, ``(n_examples,)``.
        folds: 2 or more.
        rng: shuffles the rows, or the groups.
        groups: group of each row from 0 on, ``(n_examples,)``, as ``linked_rows`` finds them; None, or one alone: each row is on its own.

    Raises:
        InputError: fewer than two folds, or more than there are rows.

    >>> assign_folds(np.array([0, 1, 0, 1]), 2, np.random.default_rng(1)).tolist()
    [0, 0, 1, 1]
    """
    if folds < 2:
        raise InputError(f"`folds` must be 2 or more, so that each row has models that did not see it, but is {folds}.")
    if folds > len(labels):
        raise InputError(f"`folds` is {folds}, but there are only {len(labels):,} rows; use fewer folds.")
    if groups is not None and groups.max() > 0:
        return _whole_groups(labels, min(folds, int(groups.max()) + 1), rng, groups)
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def drawn_groups(labels: Ids, share: float, rng: np.random.Generator, groups: Integers) -> Bools:
    """Return which rows are drawn, ``(n_examples,)``, group by group and evenly of each class: neither none nor all.

    Args:
        labels: label ids, ``(n_examples,)``.
        share: of the rows, rounded to twentieths, or to groups where they are fewer.
        rng: shuffles the groups.
        groups: as in ``assign_folds``; two or more.
    """
    parts = min(_PARTS, int(groups.max()) + 1)
    return assign_folds(labels, parts, rng, groups) < min(max(round(share * parts), 1), parts - 1)


def _whole_groups(labels: Ids, folds: int, rng: np.random.Generator, groups: Integers) -> Integers:
    """Deal out groups: those with the rarest classes first, of these those with most such rows, of these the largest."""
    number = int(groups.max()) + 1
    rarity = np.empty(int(labels.max()) + 1, dtype=np.intp)
    rarity[np.argsort(np.bincount(labels), kind="stable")] = np.arange(len(rarity))
    rarest = np.full(number, len(rarity), dtype=np.intp)
    np.minimum.at(rarest, groups, rarity[labels])
    of_it = np.bincount(groups[rarity[labels] == rarest[groups]], minlength=number)
    order = rng.permutation(number)
    sizes = np.bincount(groups, minlength=number)
    order = order[np.lexsort((-sizes[order], -of_it[order], rarest[order]))]
    if sizes.max() > LARGEST * len(groups):
        return _dealt_by_size(order, sizes, folds)[groups]
    # There and back again, so that no fold always gets the larger of two neighbours.
    turn = np.arange(number) % (2 * folds)
    dealt = np.empty(number, dtype=np.intp)
    dealt[order] = np.minimum(turn, 2 * folds - 1 - turn)
    fold: Integers = dealt[groups]
    return fold


def _dealt_by_size(order: Integers, sizes: Integers, folds: int) -> Integers:
    """Return the fold of each group where turns would not make folds even: the largest first, in the last folds, each in the smallest."""
    large = sizes[order] > LARGEST * sizes.sum()
    order = np.concatenate([order[large][np.argsort(-sizes[order[large]], kind="stable")], order[~large]])
    filled = [(0, -fold) for fold in reversed(range(folds))]
    dealt = np.empty(len(sizes), dtype=np.intp)
    for group in order.tolist():
        rows, fold = heappop(filled)
        dealt[group] = -fold
        heappush(filled, (rows + int(sizes[group]), fold))
    return dealt
