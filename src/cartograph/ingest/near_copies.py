"""Texts that are near copies of others, such as a question in five wordings: models that are tested on one have learnt from the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from cartograph.data.arrays import Integers
from cartograph.ingest.leakage import near_pairs
from cartograph.wording import cut

SIMILAR, MANY = 0.6, 0.3
"""Jaccard similarity of the character 5-grams of near copies, and least share of the texts that they are for a warning: of questions,
reviews and captions at most 17 % are so similar to another."""

LARGEST_READ = 20_000
"""Rows whose texts are read."""

_FEWEST, _CHARACTERS = 50, 2000
_EXPLAINED, _BY_CHANCE = 0.8, 0.2


class NearCopies(NamedTuple):
    """Near copies among the texts of a set, where they are many.

    Attributes:
        number: different texts that are near copies of another.
        texts: different texts.
        pairs: places of rows whose texts are near copies, ``(n_pairs, 2)``; of each text its first row.
    """

    number: int
    texts: int
    pairs: Integers


def near_copies_among(texts: Sequence[str]) -> NearCopies | None:
    """Return the near copies among texts; None where they are few (``MANY``).

    Texts that are the same but for case and blanks count once. Cost: linear in the length of the texts, of which the first 20,000 are read,
    2,000 characters of each.

    Args:
        texts: of each row.
    """
    read = [" ".join(text.casefold().split())[:_CHARACTERS] for text in texts[:LARGEST_READ]]
    places = np.sort(np.unique(np.array(read, dtype=object).astype(str), return_index=True)[1])
    if len(places) < _FEWEST:
        return None
    pairs = near_pairs([read[place] for place in places.tolist()], SIMILAR)
    number = len(np.unique(pairs))
    return None if number < MANY * len(places) else NearCopies(number, len(places), places[pairs])


def near_copies_sentence(found: NearCopies | None, others: Mapping[str, Sequence[object]], option: str = "--linked ") -> str:
    """Return how many texts are near copies of others, and which column says which; empty where they are few.

    Args:
        found: the near copies.
        others: the values, ``(n_examples,)`` each, of the columns that are not read, by name.
        option: how the linking column is named where the audit is asked for.
    """
    if found is None:
        return ""
    many = f"{found.number:,} of {found.texts:,} different texts are near copies of another, so that a label may be judged by its copies'"
    column = _explaining(found.pairs, others)
    if not column:
        return f"{many}; if a column says which belong together, name it with {option.strip()}."
    return f"{many}; most of these have the same `{cut(column, 60)}`: {option}{column} holds them out together."


def _explaining(pairs: Integers, others: Mapping[str, Sequence[object]]) -> str:
    """Return the column in which most rows have the same value as a near copy, and few as any other row; empty where none is.

    Not all pairs: what is in many texts, such as a signature, makes near copies of texts that do not belong together.
    """
    best, share = "", _EXPLAINED
    both = np.concatenate([pairs, pairs[:, ::-1]])
    number = np.unique(both[:, 0], return_inverse=True)[1]
    by_chance = np.stack([both[:, 0], np.roll(both[:, 1], len(both) // 3)], axis=1)
    for name, values in others.items():
        # Lists, too; a missing value is like no other.
        known = pd.Series(list(values), dtype=object)
        ids = pd.factorize(known.map(str).where(known.notna()))[0]
        alike, chance = (
            np.bincount(number, (ids[some[:, 0]] == ids[some[:, 1]]) & (ids[some[:, 0]] >= 0)) > 0 for some in (both, by_chance)
        )
        if alike.mean() >= share and chance.mean() <= _BY_CHANCE:
            best, share = name, float(alike.mean())
    return best
