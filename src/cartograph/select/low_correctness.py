"""low-correctness: the rows that were right in fewest epochs (Swayamdipta et al. 2020, §3, Table 2)."""

from __future__ import annotations

from cartograph.select.base import Strategy, by_measure

STRATEGY = Strategy(
    "low-correctness",
    "the rows that were right in fewest epochs",
    by_measure("correctness", -1.0, "seldom right"),
    needs=("correctness",),
)
