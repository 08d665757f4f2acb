"""Every figure of a data map and the palette they share: still ones by matplotlib, interactive ones by Plotly."""

from __future__ import annotations

from cartograph.interactive import interactive_map
from cartograph.palette import Level, correctness_colour, correctness_levels, sample_points
from cartograph.still import data_map, save_figure, save_small_png

__all__ = [
    "Level",
    "correctness_colour",
    "correctness_levels",
    "data_map",
    "interactive_map",
    "sample_points",
    "save_figure",
    "save_small_png",
]
