"""Selections on arrays: the rows of a train set that a strategy keeps, from their measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cartograph.data.arrays import Objects
from cartograph.data.given import flags_of
from cartograph.errors import InputError
from cartograph.maps.measures import Measures
from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import ACQUISITION, RESISTANCE, SUSPECT, Candidates, Picks, Strategy
from cartograph.selection.table import draws_of, wanted_rows


def select(
    strategy: str,
    measures: Measures,
    fraction: float,
    *,
    uids: Sequence[str] | Objects | None = None,
    suspect: npt.ArrayLike | None = None,
    seed: int = 13,
) -> Picks:
    """Keep the best rows of a train set by a strategy (Swayamdipta et al., *Dataset Cartography*, EMNLP 2020, §3).

    Exactly round(fraction · n_examples) rows are kept, half to even, and rows that tie at the cut are drawn by lot. No label is looked
    at: a rare class may lose all of its rows.

    Args:
        strategy: ``random``, ``ambiguous``, ``hard-to-learn``, ``high-confidence``, ``low-variability``, ``high-correctness``,
            ``low-correctness``, ``forgetting``, ``mix`` (ambiguous rows, a tenth of them replaced by easy ones; ``mix-0.2`` a fifth) or
            ``compose`` (as ``mix`` with a quarter, without the suspects).
        measures: of n_examples rows, as ``compute_measures`` returns them.
        fraction: of the rows, in (0, 1].
        uids: (n_examples,) unique names, which make the lots independent of the rows' order; None: the rows' places.
        suspect: (n_examples,) whether a label is doubted; ``compose`` needs it.
        seed: of the lots: the same seed keeps the same rows.

    Returns:
        ``rows``, (n,) places of the rows, the best first; ``scores`` and ``reasons`` of each; ``tied``, how many rows have exactly the
        score at the cut, where it parts them.

    Raises:
        InputError: an unknown strategy, or one that needs what is not there; a fraction out of range or of no row; arrays of different
            lengths, measures that are no numbers, suspects that are neither True nor False, or uids that are not unique.

    >>> from cartograph.maps.measures import Measures
    >>> measures = Measures(
    ...     confidence=np.array([0.9, 0.5, 0.2, 0.6]), variability=np.array([0.1, 0.4, 0.2, 0.3]), correctness=np.array([1, 0.5, 0, 1])
    ... )
    >>> kept = select("ambiguous", measures, 0.5)
    >>> kept.rows.tolist(), kept.reasons[0]
    ([1, 3], 'ambiguous: variability 0.400')
    """
    known = measures.by_name()
    number = len(known["confidence"])
    names = np.array([f"{row:012d}" for row in range(number)] if uids is None else list(uids), dtype=object)
    doubted = None if suspect is None else flags_of(suspect, "`suspect`")
    for what, values in (("uids", names), ("suspect", doubted)):
        if values is not None and (values.ndim != 1 or len(values) != number):
            held = f"{len(values):,}" if values.ndim == 1 else f"the shape {values.shape}"
            raise InputError(f"`{what}` must have one entry per row of the measures ({number:,}), but has {held}.")
    if len(set(names)) < number:
        raise InputError(f"`uids` must be unique, but {number - len(set(names)):,} of {number:,} are repeated.")
    chosen = strategy_named(strategy)
    _require_arrays_suffice(chosen, doubted is not None)
    candidates = Candidates(names, np.zeros(number, np.int64), known, doubted)
    return chosen.pick(candidates, wanted_rows(fraction, number), draws_of(chosen, seed))


def _require_arrays_suffice(strategy: Strategy, suspects_known: bool) -> None:
    if RESISTANCE in strategy.needs:
        raise InputError(f"selection `{strategy.name}` needs features beside measures; call `cartograph.aflite` with features and labels.")
    if ACQUISITION in strategy.needs:
        raise InputError(f"selection `{strategy.name}` needs a model of a random share of the rows; an audit's step `select` trains one.")
    if SUSPECT in strategy.needs and not suspects_known:
        raise InputError(f"selection `{strategy.name}` leaves suspects out; give `suspect`, for example from `cartograph.find_suspects`.")
