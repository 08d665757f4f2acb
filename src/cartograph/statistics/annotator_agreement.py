"""How far two annotators agree beyond chance, and how sure a share of so few rows is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

NORMAL_95 = 1.959963984540054


def raw_agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of rows that both annotators answered alike, in [0, 1].

    Raises:
        ValueError: no rows, or as many answers of the one as not of the other.

    >>> raw_agreement(["a", "b", "a", "c"], ["a", "b", "b", "c"])
    0.75
    """
    _require_rows(one, other)
    return sum(left == right for left, right in zip(one, other, strict=True)) / len(one)


def cohen_kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Cohen's kappa: (agreement − agreement by chance) / (1 − agreement by chance), in [−1, 1]; 0 = chance, 1 = always alike.

    Two annotators who both give every row the same one answer agree by chance alone, which the formula leaves undefined; they
    are given 1, for they never differ.

    Source: Cohen, *A coefficient of agreement for nominal scales* (1960).

    Raises:
        ValueError: no rows, or as many answers of the one as not of the other.

    >>> round(cohen_kappa(["a", "b", "a", "c"], ["a", "b", "b", "c"]), 4)
    0.6364
    """
    observed = raw_agreement(one, other)
    left, right = Counter(one), Counter(other)
    by_chance = sum(left[answer] * right[answer] for answer in left) / len(one) ** 2
    return 1.0 if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def wilson_interval(successes: int, rows: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share, both ends in [0, 1].

    Source: Wilson, *Probable inference, the law of succession, and statistical inference* (1927).

    Raises:
        ValueError: no rows.

    >>> [round(end, 3) for end in wilson_interval(35, 50)]
    [0.562, 0.809]
    """
    if rows < 1:
        raise ValueError("there are no rows")
    share, square = successes / rows, NORMAL_95**2
    middle = (share + square / (2 * rows)) / (1 + square / rows)
    half = NORMAL_95 * sqrt(share * (1 - share) / rows + square / (4 * rows**2)) / (1 + square / rows)
    return (middle - half if successes else 0.0), (middle + half if successes < rows else 1.0)


def _require_rows(one: Sequence[str], other: Sequence[str]) -> None:
    if len(one) != len(other):
        raise ValueError(f"both annotators must have one answer per row, but have {len(one)} and {len(other)}")
    if not one:
        raise ValueError("there are no rows to compare")
