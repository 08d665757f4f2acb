"""The first pairs to ask people about, where no label is there yet: alike ones, each of other records, and some that are less so."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Integers
from cartograph.pairs.matcher.blocked import COMBINED
from cartograph.pairs.matcher.matching import Matches, match_records, one_to_one
from cartograph.pairs.matcher.model import NOT_PROPOSED, Matcher
from cartograph.pairs.matcher.records import Records


def first_questions(records: Records, k: int, number: int) -> Matches:
    """Return pairs to ask about, the most alike first: half are the most alike, the others evenly spread over the rest.

    A record is in one pair at most, as long as there are enough: the answers are then about many records, not about many partners of few.

    Args:
        records: both sides.
        k: candidates of each left record by each kind of similarity, at least 1.
        number: how many pairs; fewer where blocking proposes fewer.
    """
    found = match_records(Matcher(COMBINED), records, k, NOT_PROPOSED / 2)
    alone = one_to_one(found, symmetric=records.symmetric)
    own = _spread(np.flatnonzero(alone), number)
    others = _spread(np.flatnonzero(~alone), number - len(own))
    return found.only(np.sort(np.concatenate([own, others])))


def _spread(places: Integers, number: int) -> Integers:
    """Return so many of the places: half from the front, the others evenly spread over the rest."""
    front = (number + 1) // 2
    if number >= len(places):
        return places
    rest = places[front:]
    return np.concatenate([places[:front], rest[np.linspace(0, len(rest) - 1, number - front).round().astype(np.int64)]])
