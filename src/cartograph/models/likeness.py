"""How alike the two texts of a pair are, as features of a bag: which part of either is in the other, in twentieths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Floats, Hashes, Integers
from cartograph.models.base import Side
from cartograph.models.characters import Characters
from cartograph.models.ngrams import Words, mix

_ALIKE = np.uint64(8)
_STEPS = 20
_SIZES, _PER_WORD = (3,), 6
_BLOCK = 2_000


def likeness_features(sides: Sequence[Side], max_length: int) -> tuple[Hashes, Integers]:
    """Return the hashes of how alike the texts of each pair are, and the row of each.

    Of the distinct words, and of their distinct trigrams, a share of the first text is in the second, and one of the second in the first;
    a row has a feature for every twentieth that the share reaches, so that neighbouring shares have nearly the same features. A bag of
    single words cannot say it: of 4,000 pairs of QNLI it is right about .58 of others without, and .71 with it.

    Args:
        sides: pairs of texts.
        max_length: of each text so many words are read, and six times as many characters.
    """
    blocks = [(start, _of_block(sides[start : start + _BLOCK], max_length)) for start in range(0, len(sides), _BLOCK)]
    hashes = [found for _, (found, _) in blocks]
    rows = [place + start for start, (_, place) in blocks]
    return np.concatenate([np.empty(0, np.uint64), *hashes]), np.concatenate([np.empty(0, np.int64), *rows])


def _of_block(sides: Sequence[Side], max_length: int) -> tuple[Hashes, Integers]:
    first, second = [side.first for side in sides], [side.second or "" for side in sides]
    read: list[tuple[Words, Words]] = [
        (Words(first, max_length), Words(second, max_length)),
        (Characters(first, _PER_WORD * max_length, _SIZES), Characters(second, _PER_WORD * max_length, _SIZES)),
    ]
    hashes, rows = [], []
    for kind, (own, other) in enumerate(read):
        for side, share in enumerate(_shares(own, other, len(sides))):
            steps = np.floor(share * _STEPS + 1e-9).astype(np.int64)
            row = np.repeat(np.arange(len(sides)), steps)
            step = np.arange(len(row)) - np.repeat(np.cumsum(steps) - steps, steps)
            hashes.append(mix(mix(step.astype(np.uint64), np.uint64(2 * kind + side)), _ALIKE))
            rows.append(row)
    return np.concatenate(hashes), np.concatenate(rows)


def _shares(first: Words, second: Words, n_rows: int) -> tuple[Floats, Floats]:
    """Return which part of each first text's features is in the second's, and the reverse; 0 of a text without any."""
    (words, rows), (others, other_rows) = first.distinct(), second.distinct()
    key, other_key = mix(words, rows.astype(np.uint64)), mix(others, other_rows.astype(np.uint64))
    both = np.bincount(rows[np.isin(key, other_key, assume_unique=True)], minlength=n_rows)
    numbers = (np.bincount(of, minlength=n_rows) for of in (rows, other_rows))
    one, other = (both / np.maximum(number, 1) for number in numbers)
    return one, other
