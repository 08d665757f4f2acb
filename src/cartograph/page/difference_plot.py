"""Differences between trained models as dots, each with its interval, about a line at 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cartograph.compare.markdown import difference_cells, in_points
from cartograph.page.chart_blocks import Dot, DotPlot


def difference_dot(name: str, row: Mapping[str, Any], group: str) -> Dot:
    """Return a row of ``versions.DIFFERENCES`` in points."""
    return Dot(name, *in_points(row), difference_cells(row)[0], group=group)


def difference_plot(title: str, meaning: str, dots: Sequence[Dot]) -> DotPlot:
    """Return the dots over an x that is a little wider than their intervals and 0."""
    low, high = min(0.0, *(dot.low for dot in dots)), max(0.0, *(dot.high for dot in dots))
    edge = max(0.08 * (high - low), 0.1)
    return DotPlot(title, meaning, "points", dots, (low - edge, high + edge), zero=True)
