"""The result of a filter: which rows were kept, in which round each other one was removed, and numbers of every round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cartograph.data.arrays import Bools, Floats, Integers, Integers32

STOPPED_AT_TARGET = "target size reached"
STOPPED_AT_THRESHOLD = "fewer rows at the threshold than a slice"
STOPPED_AT_ONE_CLASS = "one class left"
STOPPED_AT_ONE_GROUP = "one group left"


@dataclass(frozen=True)
class Round:
    """One round of the filter.

    Attributes:
        number: from 1 on.
        size: rows before anything was removed.
        bias: representation bias R: mean predictability of these rows, in [0, 1] (eqs 2-5).
        accuracy: share of all out-of-sample predictions that were right, in [0, 1].
        eligible: rows whose predictability was at least the threshold.
        removed: rows removed; 0 in a last round that only measured what was kept.
        never_held_out: rows without any prediction, which cannot be removed.
    """

    number: int
    size: int
    bias: float
    accuracy: float
    eligible: int
    removed: int
    never_held_out: int


@dataclass(frozen=True)
class FilteredSet:
    """A filtered set. Arrays are in the order of the features given.

    Attributes:
        kept: (n_examples,) which rows stayed.
        removed_in_round: (n_examples,) number of the round, 0 for a row that stayed.
        predictability_first: (n_examples,) in the first round that held the row out, NaN where no round did.
        predictability_last: (n_examples,) in the last round that held the row out, NaN where no round did.
    """

    kept: Bools
    removed_in_round: Integers32
    predictability_first: Floats
    predictability_last: Floats


@dataclass(frozen=True)
class Result(FilteredSet):
    """A filtered pool, and the evaluation sets that were filtered with it.

    Attributes:
        n_predictions: (n_examples,) out-of-sample predictions of the row in the last round that it was part of.
        history: the rounds in their order.
        stop_reason: one of the ``STOPPED_…`` texts.
        evaluation: the evaluation sets that were filtered with the pool, by name.
    """

    n_predictions: Integers32
    history: tuple[Round, ...]
    stop_reason: str
    evaluation: Mapping[str, FilteredSet] = field(default_factory=dict)

    @property
    def rows(self) -> Integers:
        """Places of the rows that stayed, rising."""
        return np.flatnonzero(self.kept)


def hardest_first(removed_in_round: Integers32, predictability_last: Floats, rng: np.random.Generator) -> Integers:
    """Return the order in which rows resist: those that stayed, least predictable first, then those removed last.

    The first rows of any number are what AFLite would keep of that many, as far as one run shows. Ties in random order; a row
    never held out counts as the least predictable of its round.
    """
    last = np.where(removed_in_round == 0, np.iinfo(np.int32).max, removed_in_round)
    return np.lexsort((rng.random(len(last)), np.nan_to_num(predictability_last, nan=-1.0), -last))
