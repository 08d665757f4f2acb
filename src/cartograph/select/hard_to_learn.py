"""hard-to-learn: the rows of lowest confidence (Swayamdipta et al. 2020, §3, Table 2)."""

from __future__ import annotations

from cartograph.select.base import Strategy, by_measure

STRATEGY = Strategy(
    "hard-to-learn",
    "the rows of lowest confidence",
    by_measure("confidence", -1.0, "hard to learn"),
    needs=("confidence",),
)
