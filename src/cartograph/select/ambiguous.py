"""ambiguous: the rows of highest variability (Swayamdipta et al. 2020, §3, Table 2)."""

from __future__ import annotations

from cartograph.select.base import Strategy, by_measure

STRATEGY = Strategy(
    "ambiguous",
    "the rows of highest variability",
    by_measure("variability", 1.0, "ambiguous"),
    needs=("variability",),
)
