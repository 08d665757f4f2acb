"""high-confidence: the rows of highest confidence: easy to learn (Swayamdipta et al. 2020, §3, Table 2)."""

from __future__ import annotations

from cartograph.select.base import Strategy, by_measure

STRATEGY = Strategy(
    "high-confidence",
    "the rows of highest confidence: easy to learn",
    by_measure("confidence", 1.0, "easy to learn"),
    needs=("confidence",),
)
