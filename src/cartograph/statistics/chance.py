"""Whether predictions are right more often than by chance."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Ids


def chance_agreement(predicted: Ids, gold: Ids) -> float:
    """Return how often the same predictions are right in random order, in [0, 1]: the chance agreement of Cohen's kappa.

    For a model that always names one class it is that class's share.

    Args:
        predicted: label ids, ``(n_examples,)``.
        gold: label ids, ``(n_examples,)``.

    >>> chance_agreement(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    0.5
    """
    width = int(max(predicted.max(), gold.max())) + 1
    shares = [np.bincount(labels, minlength=width) / len(labels) for labels in (predicted, gold)]
    return float(shares[0] @ shares[1])


def beats_chance(predicted: Ids, gold: Ids, level: float = 0.01) -> bool:
    """Return whether predictions are right more often than in random order, by a one-sided binomial test.

    Predictions that have nothing to do with the labels pass with a probability below ``level``, ones that always name one class never.

    Args:
        predicted: label ids, ``(n_examples,)``, at least one.
        gold: label ids, ``(n_examples,)``.
        level: of the test, in (0, 1).

    >>> gold = np.array([0, 1] * 10)
    >>> beats_chance(gold, gold), beats_chance(np.zeros(20, int), gold), beats_chance(gold[:2], gold[:2])
    (True, False, False)
    """
    from scipy.stats import binomtest

    right = int(np.count_nonzero(predicted == gold))
    expected = min(chance_agreement(predicted, gold), 1.0)
    return bool(binomtest(right, len(gold), expected, alternative="greater").pvalue < level)
