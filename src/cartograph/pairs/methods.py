"""Which pairs a round asks about: Mussmann, Jia & Liang 2020, sections 4.1, 4.2 and 5.4."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Reals
from cartograph.errors import InputError
from cartograph.pairs.candidates import Candidates
from cartograph.pairs.pair_space import Keys, PairSpace, is_among

ADAPTIVE = ("uncertainty", "adaptive-retrieval")
STRATIFIED = ("stratified-match", "stratified-all-positives")
_SPREAD = 30
METHODS = {
    "uncertainty": "the pairs about which the model is least sure: |p − ½| smallest",
    "adaptive-retrieval": "the pairs that the model holds most likely positive: p largest",
    "static-retrieval": "the pairs most similar under the encoder as it was before any training",
    "random": "pairs drawn uniformly from all",
    "stated": "pairs of the dataset as somebody collected it, drawn uniformly",
    "stratified-match": "as many random positives, and negatives, as uncertainty sampling found (needs to know all labels)",
    "stratified-all-positives": "all positives, filled up with random negatives (needs to know all labels)",
}
"""Method -> what it asks about."""


def round_sizes(first: int, growth: float, rounds: int) -> list[int]:
    """Return how many pairs each round asks about: first · growth^(i − 1), rounded down.

    >>> sum(round_sizes(2048, 1.5, 10)), sum(round_sizes(2048, 1.5, 4))
    (232100, 16640)
    """
    return [int(first * growth**place) for place in range(rounds)]


def most_similar(candidates: Candidates, number: int, asked: Keys) -> Keys:
    """Return the pairs nearest each other, the nearest first; ties by key.

    Args:
        candidates: of the encoder that decides.
        number: how many pairs.
        asked: ascending keys that were asked already.

    Raises:
        InputError: fewer candidates are left.
    """
    return _best(-candidates.similarity, candidates.keys, number, asked)


def spread_out(candidates: Candidates, number: int, asked: Keys, rng: np.random.Generator) -> Keys:
    """Return pairs of all degrees of likeness: half of them the nearest, half drawn from the next ones, thirty times as many.

    Args:
        candidates: of the scores that decide.
        number: how many pairs.
        asked: ascending keys that were asked already.
        rng: of the draw.

    Raises:
        InputError: fewer candidates are left.
    """
    left = int(np.count_nonzero(~is_among(candidates.keys, asked)))
    ranked = most_similar(candidates, max(number, min(left, _SPREAD * number)), asked)
    nearest, rest = ranked[: (number + 1) // 2], ranked[(number + 1) // 2 :]
    return np.concatenate([nearest, rng.permutation(rest)[: number - len(nearest)]])


def least_certain(candidates: Candidates, probability: Reals, number: int, asked: Keys) -> Keys:
    """Return the pairs whose probability is nearest one half, the nearest first; ties by key.

    Args:
        candidates: of the model that decides.
        probability: (n_candidates,) of being positive.
        number: how many pairs.
        asked: ascending keys that were asked already.

    Raises:
        InputError: fewer candidates are left.
    """
    return _best(np.abs(probability - 0.5), candidates.keys, number, asked)


def random_pairs(space: PairSpace, number: int, asked: Keys, rng: np.random.Generator) -> Keys:
    """Return pairs drawn uniformly from those of the space that were not asked."""
    return space.draw(number, asked, rng)


def random_stated_pairs(stated: Keys, number: int, asked: Keys, rng: np.random.Generator) -> Keys:
    """Return stated pairs drawn uniformly from those that were not asked; as many as there are, where that is fewer."""
    return rng.permutation(np.setdiff1d(stated, asked))[:number]


def stratified_pairs(space: PairSpace, positives: Keys, wanted: int, number: int, asked: Keys, rng: np.random.Generator) -> Keys:
    """Return random positives that were not asked, ``wanted`` of them as far as there are, and random negatives up to ``number``.

    Args:
        space: whose pairs.
        positives: ascending keys of all its positives.
        wanted: how many positives.
        number: how many pairs in all.
        asked: ascending keys that were asked already.
        rng: of both draws.
    """
    chosen = rng.permutation(np.setdiff1d(positives, asked))[: min(wanted, number)]
    others = space.draw(number - len(chosen), np.union1d(positives, asked), rng)
    return np.concatenate([chosen, others])


def _best(cost: Reals, keys: Keys, number: int, asked: Keys) -> Keys:
    left = np.flatnonzero(~is_among(keys, asked))
    if len(left) < number:
        raise InputError(
            f"a round wants {number:,} pairs, but only {len(left):,} of the {len(keys):,} candidates were not asked yet; "
            "raise `encode.neighbours` or lower the budget."
        )
    if not number:
        return np.empty(0, np.int64)
    cost = cost[left]
    bound = np.partition(cost, number - 1)[number - 1]
    near = left[cost <= bound]
    order = np.lexsort((keys[near], cost[cost <= bound]))
    chosen: Keys = keys[near[order[:number]]]
    return chosen
