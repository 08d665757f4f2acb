"""Texts that are near copies of others, such as a question in five wordings: models that are tested on one have learnt from the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cartograph.data.arrays import Integers
from cartograph.ingest.canonical import IngestedSet
from cartograph.ingest.leakage import near_pairs
from cartograph.wording import cut

SIMILAR, MANY = 0.6, 0.3
"""Jaccard similarity of the character 5-grams of near copies, and least share of the texts that they are for a warning: of questions,
reviews and captions at most 17 % are so similar to another."""

_ROWS, _FEWEST, _CHARACTERS = 20_000, 50, 2000
_EXPLAINED, _BY_CHANCE = 0.8, 0.2


def near_copies_sentence(item: IngestedSet, others: Mapping[str, Sequence[object]], option: str = "--linked ") -> str:
    """Return how many texts are near copies of others, and which column says which; empty where few are, or a column links rows already.

    Texts that are the same but for case and blanks count once. Cost: linear in the length of the texts, of which the first 20,000 are read,
    2,000 characters of each.

    Args:
        item: the train set; of pairs, images and tables of features nothing is said.
        others: the values, ``(n_examples,)`` each, of the columns that are not read, by name.
        option: how the linking column is named where the audit is asked for.
    """
    if item.info.task != "single" or item.info.images or item.info.features or item.linkage is not None:
        return ""
    texts = [" ".join(text.casefold().split())[:_CHARACTERS] for text in item.examples[item.info.fields[0]].slice(0, _ROWS).to_pylist()]
    places = np.sort(np.unique(np.array(texts, dtype=object).astype(str), return_index=True)[1])
    if len(places) < _FEWEST:
        return ""
    pairs = near_pairs([texts[place] for place in places.tolist()], SIMILAR)
    number = len(np.unique(pairs))
    if number < MANY * len(places):
        return ""
    found = f"{number:,} of {len(places):,} different texts are near copies of another, so that a label may be judged by its copies'"
    column = _explaining(places[pairs], others)
    if not column:
        return f"{found}; if a column says which belong together, name it with {option.strip()}."
    return f"{found}; most of these have the same `{cut(column, 60)}`: {option}{column} holds them out together."


def _explaining(pairs: Integers, others: Mapping[str, Sequence[object]]) -> str:
    """Return the column in which most pairs have the same value, and hardly any two other rows; empty where none is."""
    best, share = "", _EXPLAINED
    apart = np.roll(pairs[:, 1], len(pairs) // 2)
    for name, values in others.items():
        same = np.mean([values[one] == values[other] for one, other in pairs.tolist()])
        chance = np.mean([values[one] == values[other] for one, other in zip(pairs[:, 0].tolist(), apart.tolist(), strict=True)])
        if same >= share and chance <= _BY_CHANCE:
            best, share = name, float(same)
    return best
