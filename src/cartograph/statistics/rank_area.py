"""How well a score ranks positives before negatives."""

from __future__ import annotations

import math

import numpy as np

from cartograph.data.arrays import Bools, Floats


def rank_area(score: Floats, positive: Bools) -> float:
    """Return the area under the ROC curve: the probability that a positive scores more than a negative (Mann & Whitney 1947).

    Args:
        score: ``(n,)``.
        positive: ``(n,)``; some are, and some are not.

    >>> rank_area(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    from scipy.stats import rankdata

    n_positive = int(np.count_nonzero(positive))
    above = rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (len(score) - n_positive)))


def error_by_chance(n_positive: int, n_negative: int) -> float:
    """Return the standard error of the area under the ROC curve of a score that says nothing.

    >>> round(error_by_chance(50, 57), 3)
    0.056
    """
    return math.sqrt((n_positive + n_negative + 1) / (12 * n_positive * n_negative))
