"""How far two annotators agree, as a share and beyond chance."""

from __future__ import annotations

from collections.abc import Sequence


def raw_agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of rows that both annotators answered alike, in [0, 1].

    Raises:
        ValueError: no rows, or the two have different numbers of answers.

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
        ValueError: no rows, or the two have different numbers of answers.

    >>> round(cohen_kappa(["a", "b", "a", "c"], ["a", "b", "b", "c"]), 4)
    0.6364
    """
    from sklearn.metrics import cohen_kappa_score

    _require_rows(one, other)
    return 1.0 if len({*one, *other}) == 1 else float(cohen_kappa_score(one, other))


def _require_rows(one: Sequence[str], other: Sequence[str]) -> None:
    if len(one) != len(other):
        raise ValueError(f"both annotators must have one answer per row, but have {len(one)} and {len(other)}")
    if not one:
        raise ValueError("there are no rows to compare")
