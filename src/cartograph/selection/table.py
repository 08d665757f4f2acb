"""A selection as a table: which rows, in which order, by which score and why; exact counts, ties by lot, and a check that no class is lost.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §3. The reference code takes a row too many and sorts unstably; here a
fraction f of N rows is exactly round(f · N) of them, half to even, and equal scores are drawn by lot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Integers
from cartograph.errors import InputError
from cartograph.schema import SELECTION
from cartograph.selection.strategy import SUSPECT, Candidates, Picks, Strategy


@dataclass(frozen=True)
class Selection:
    """The rows that a strategy keeps.

    Attributes:
        table: ``schema.SELECTION``, by rank.
        tied: rows that tie at the cut, some kept and some not, by lot; 0 where the cut parts no equals. Summed over classes where each
            has a cut of its own.
        per_class: (n_classes,) rows kept of each class.
    """

    table: pa.Table
    tied: int
    per_class: tuple[int, ...]


def wanted_rows(fraction: float, rows: int) -> int:
    """Return how many rows a fraction is: round(fraction · rows), half to even.

    Raises:
        InputError: the fraction is 0 or less or above 1, or no row is left.

    >>> wanted_rows(0.33, 40_398)
    13331
    """
    if not 0 < fraction <= 1:
        raise InputError(f"a fraction of the rows must be above 0 and at most 1, but is {fraction:g}.")
    number = round(fraction * rows)
    if number < 1:
        raise InputError(f"a fraction of {fraction:g} of {rows:,} rows is no row at all; use {1 / rows:.2g} or more.")
    return number


def draws_of(strategy: Strategy, seed: int) -> np.random.Generator:
    """Return the generator of a strategy's lots, which depend on the seed and the strategy's name alone."""
    return np.random.default_rng([seed, *strategy.name.encode()])


def make_selection(
    strategy: Strategy,
    candidates: Candidates,
    fraction: float,
    labels: Sequence[str],
    *,
    seed: int,
    balance: bool = False,
    may_lose_class: bool = False,
) -> Selection:
    """Keep the best rows by a strategy.

    Lots depend on the seed and the strategy's name alone: what is kept at a smaller fraction is, where the strategy's definition allows it,
    part of what is kept at a larger one.

    Args:
        strategy: how.
        candidates: from which rows.
        fraction: of the rows, in (0, 1].
        labels: class names.
        seed: of the lots.
        balance: take equally many rows of each class, as far as a class has them (suspects not counted where the strategy leaves
            them out), each class by its own ranking.
        may_lose_class: allow that a class of the candidates has no row in the selection.

    Raises:
        InputError: the fraction, what the strategy needs, or that a class would be lost.
    """
    number = wanted_rows(fraction, len(candidates))
    rng = draws_of(strategy, seed)
    picks = _balanced(strategy, candidates, number, rng) if balance else strategy.pick(candidates, number, rng)
    kept = candidates.labels[picks.rows]
    per_class = np.bincount(kept, minlength=len(labels))
    _require_classes(strategy, candidates, fraction, labels, per_class, may_lose_class or balance)
    columns = [
        pa.array(candidates.uids[picks.rows], pa.string()),
        pa.array(kept.astype(np.int32)),
        pa.array(np.arange(1, number + 1, dtype=np.int32)),
        pa.array(picks.scores),
        pa.array(picks.reasons, pa.string()),
    ]
    return Selection(pa.Table.from_arrays(columns, schema=SELECTION), picks.tied, tuple(per_class.tolist()))


def _balanced(strategy: Strategy, candidates: Candidates, number: int, rng: np.random.Generator) -> Picks:
    """Return the picks of each class in turn, the best of every class first."""
    free = np.ones(len(candidates), bool) if candidates.suspect is None or SUSPECT not in strategy.needs else ~candidates.suspect
    if np.count_nonzero(free) < number:
        # The strategy's own error names what is missing.
        return strategy.pick(candidates, number, rng)
    parts, ranks = [], []
    for label, count in enumerate(shares_of_classes(np.bincount(candidates.labels[free]), number)):
        own = np.flatnonzero(candidates.labels == label)
        if count:
            picks = strategy.pick(candidates.take(own), count, rng)
            parts.append(Picks(own[picks.rows], picks.scores, picks.reasons, picks.tied))
            ranks.append(np.arange(count) / count)
    order = np.argsort(np.concatenate(ranks), kind="stable")
    reasons = [reason for part in parts for reason in part.reasons]
    rows, scores = (np.concatenate([getattr(part, name) for part in parts])[order] for name in ("rows", "scores"))
    return Picks(rows, scores, [reasons[place] for place in order], sum(part.tied for part in parts))


def shares_of_classes(counts: Integers, number: int) -> list[int]:
    """Return how many rows to take of each class: as equal as their counts allow; what is left over goes to the largest classes.

    >>> shares_of_classes(np.array([10, 2, 10]), 9)
    [4, 2, 3]
    """
    taken = np.zeros(len(counts), np.int64)
    while (left := number - int(taken.sum())) > 0:
        open_ = np.flatnonzero(taken < counts)
        each = left // len(open_)
        if each:
            taken[open_] += np.minimum(counts[open_] - taken[open_], each)
        else:
            taken[open_[np.argsort(-counts[open_], kind="stable")[:left]]] += 1
    found: list[int] = taken.tolist()
    return found


def _require_classes(
    strategy: Strategy, candidates: Candidates, fraction: float, labels: Sequence[str], kept: Integers, allowed: bool
) -> None:
    given = np.bincount(candidates.labels, minlength=len(labels))
    lost = np.flatnonzero((given > 0) & (kept == 0))
    if len(lost) and not allowed:
        raise InputError(
            f"selection `{strategy.name}` at {fraction:g} keeps none of the {given[lost[0]]:,} rows of class {labels[lost[0]]!r}, which a "
            "model could then not learn; choose a larger fraction, set `select.class_balance: true`, or allow it with "
            "`select.lost_classes: tell`."
        )
