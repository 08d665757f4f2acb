"""Intervals of a proportion: Wilson's, and the lower end of Clopper and Pearson's; and of F1, which is made of one."""

from __future__ import annotations

import math

_Z = 1.959963984540054
"""Of 95 % of a normal distribution."""


def wilson_interval(number: int, rows: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share, both ends in [0, 1].

    Source: Wilson, *Probable inference, the law of succession, and statistical inference* (1927).

    Args:
        number: of rows of a kind.
        rows: of all.

    Raises:
        ValueError: no rows.

    >>> [round(end, 3) for end in wilson_interval(35, 50)]
    [0.562, 0.809]
    """
    if rows < 1:
        raise ValueError("there are no rows")
    return _wilson(number / rows, rows)


def f1_interval(f1: float, positives: int) -> tuple[float, float]:
    """Return a 95 % interval of F1, both ends in [0, 1]: Wilson's of TP / (TP + FP + FN), of which F1 is a rising function.

    Source: Lam, *Confidence intervals for the F1 score: a comparison of four methods* (2023), Wilson's indirect one. For TP + FP + FN the
    number of positives is taken, which it is at least: with many false positives the interval is somewhat too wide.

    Args:
        f1: in [0, 1].
        positives: how many there are to find, at least one.

    >>> [round(end, 2) for end in f1_interval(0.95, 60)]
    [0.89, 0.98]
    """
    if positives < 1:
        raise ValueError("there are no positives")
    low, high = (2 * end / (1 + end) for end in _wilson(f1 / (2.0 - f1), positives))
    return low, high


def _wilson(share: float, rows: int) -> tuple[float, float]:
    # As scipy.stats.binomtest, to the last bit; importing that takes longer than most sections of a page.
    denominator = 2 * (rows + _Z**2)
    centre = (2 * rows * share + _Z**2) / denominator
    half = _Z / denominator * math.sqrt(4 * rows * share * (1 - share) + _Z**2)
    return 0.0 if share == 0 else max(centre - half, 0.0), 1.0 if share == 1 else min(centre + half, 1.0)


def least_share(number: int, rows: int, confidence: float = 0.95) -> float:
    """Return what a share is at the least: the lower end of its one-sided Clopper-Pearson interval; few rows prove little.

    Args:
        number: of rows of a kind.
        rows: of all, at least one.
        confidence: level of the interval.

    >>> round(least_share(33, 239), 3), round(least_share(2, 20), 3), least_share(0, 20)
    (0.103, 0.018, 0.0)
    """
    from scipy.stats import binomtest

    return float(binomtest(number, rows, alternative="greater").proportion_ci(confidence).low)
