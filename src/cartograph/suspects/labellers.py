"""What is known of who labelled a row: labels of somebody who is often wrong are doubted more, those of the others less.

Each label is one person's, so nobody can be compared with another who labelled the same row. Models that have not seen the row stand in
for them (Khetan, Lipton & Anandkumar, ICLR 2018): where somebody's labels contradict them more often than everybody's do, the odds that a
label of theirs is wrong are so many times higher. That factor is the likeliest, given the label: so somebody who was given rows of one
class alone is compared with all labels of that class.

Factors are used where the labels are far likelier with them than with one for all (``CHANCE``): of even errors they would only add noise.
Somebody whose rows are harder than others' looks like somebody who is more often wrong.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from cartograph.data.arrays import Floats, Integers

CHANCE = 0.001
"""Probability of labels so much likelier where nobody is more often wrong than anybody else (likelihood ratio test)."""

_FACTORS = np.exp(np.linspace(np.log(1 / 20), np.log(50), 60))
_HELD, _PSEUDO, _TINY = 1.0, 10.0, 1e-9


def labeller_factors(doubt: Floats, given: Integers, labellers: Integers) -> Floats | None:
    """Return by which factor the odds are higher that a row's label is wrong, for who gave it, ``(n_examples,)``; None where all are alike.

    Cost: O(n_examples), sixty factors.

    Args:
        doubt: probability that each label is wrong, whoever gave it, ``(n_examples,)``.
        given: label ids, ``(n_examples,)``.
        labellers: who gave it, a number, ``(n_examples,)``.

    >>> rng = np.random.default_rng(1)
    >>> who, given = rng.integers(3, size=900), rng.integers(2, size=900)
    >>> doubt = np.where(rng.random(900) < np.array([0.02, 0.02, 0.3])[who], 0.9, 0.02)
    >>> (labeller_factors(doubt, given, who)[np.array([(who == one).argmax() for one in range(3)])] > 1).tolist()
    [False, False, True]
    >>> labeller_factors(doubt, given, rng.permutation(who)) is None
    True
    """
    people, who = np.unique(labellers, return_inverse=True)
    if len(people) < 2:
        return None
    odds, evidence = evidence_of_labels(doubt, given)
    likely = np.empty((len(_FACTORS), len(people)))
    for place, factor in enumerate(_FACTORS.tolist()):
        prior = factor * odds / (1.0 + factor * odds)
        likely[place] = np.bincount(who, weights=np.log1p(prior * (evidence - 1.0)), minlength=len(people))
    prior = odds / (1.0 + odds)
    even = np.bincount(who, weights=np.log1p(prior * (evidence - 1.0)), minlength=len(people))
    best = (likely - 0.5 * _HELD * np.log(_FACTORS)[:, None] ** 2).argmax(axis=0)
    gained = float((likely[best, np.arange(len(people))] - even).sum())
    if chi2.sf(2.0 * gained, len(people) - 1) > CHANCE:
        return None
    factors: Floats = _FACTORS[best][who]
    return factors


def evidence_of_labels(doubt: Floats, given: Integers) -> tuple[Floats, Floats]:
    """Return the odds of each row's label to be wrong by its class alone, and how many times higher they are by what models say of the row.

    Args:
        doubt: probability that each label is wrong, ``(n_examples,)``.
        given: label ids, ``(n_examples,)``.
    """
    wrong = np.clip(doubt, _TINY, 1.0 - _TINY)
    share = (np.bincount(given, weights=wrong) + _PSEUDO * wrong.mean()) / (np.bincount(given) + _PSEUDO)
    odds = (share / (1.0 - share))[given]
    return odds, wrong / (1.0 - wrong) / odds


def by_labellers(true_classes: Floats, given: Integers, factors: Floats | None) -> Floats:
    """Return the probabilities of the true classes, the odds of any but the given one so many times higher, ``(n_examples, n_classes)``."""
    if factors is None:
        return true_classes
    updated: Floats = true_classes * factors[:, None]
    rows = np.arange(len(given))
    updated[rows, given] = true_classes[rows, given]
    updated /= updated.sum(axis=1, keepdims=True)
    return updated
