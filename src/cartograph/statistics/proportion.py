"""Intervals of a proportion: Wilson's, and the lower end of Clopper and Pearson's."""

from __future__ import annotations


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
    from scipy.stats import binomtest

    if rows < 1:
        raise ValueError("there are no rows")
    found = binomtest(number, rows).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


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
