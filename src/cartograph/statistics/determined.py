"""Whether the estimated number of wrong labels says more than that some rows are hard."""

from __future__ import annotations

WELL_DETERMINED = 0.25
"""Least share of the estimated number of wrong labels that its interval must begin with for that number to count as well determined."""


def well_determined(expected: float, low: float) -> bool:
    """Return whether the interval of the number of wrong labels begins well above 0.

    Of planted errors it mostly does, of rows that are only hard it hardly ever does: a few of those look surely wrong, and no more.

    Args:
        expected: number of wrong labels, by estimate.
        low: lower end of its interval.

    >>> well_determined(100.0, 40.0), well_determined(100.0, 5.0), well_determined(0.0, 0.0)
    (True, False, False)
    """
    return 0 < expected * WELL_DETERMINED <= low
