"""Colours, markers, levels of correctness, and the sample of points, shared by all figures of a data map."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats, Integers
from cartograph.errors import InputError

INK = "#24292f"
MUTED = "#6a737d"
RULE = "#d0d7de"
DENSITY = "#6a6fb0"

# Vermilion (never right) over grey to blue (always right): distinct under every common colour blindness, and each with
# a contrast of 3 : 1 or more both on white and on near-black.
_SCALE = ((0.0, 0xC8372D), (0.25, 0xC97B34), (0.5, 0x8A8A8A), (0.75, 0x3A98BD), (1.0, 0x2C6CBC))

# (matplotlib, plotly); never right is a cross and always right a circle on every map.
_LOWEST, _HIGHEST = ("X", "x"), ("o", "circle")
_BETWEEN = (
    ("v", "triangle-down"),
    ("s", "square"),
    ("D", "diamond"),
    ("P", "cross"),
    ("^", "triangle-up"),
    ("p", "pentagon"),
    ("*", "star"),
    ("<", "triangle-left"),
    (">", "triangle-right"),
)

_MOST_LEVELS, _MOST_EPOCHS = 9, 30
_BIN_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Level(NamedTuple):
    """One value, or one bin, of correctness as figures show it.

    Attributes:
        label: as the legend says it.
        value: the correctness that decides the colour.
        colour: ``#rrggbb``.
        marker: matplotlib's name of the shape.
        symbol: plotly's name of the same shape.
        rows: indices of the rows of this level, ascending.
    """

    label: str
    value: float
    colour: str
    marker: str
    symbol: str
    rows: Integers


def check_map(measures: pa.Table, *more: str) -> None:
    """Check that a table has the columns that a map is drawn from.

    Args:
        measures: the table.
        more: further columns that are needed.

    Raises:
        InputError: one is missing.
    """
    missing = [name for name in ("confidence", "variability", "correctness", "region", *more) if name not in measures.column_names]
    if missing:
        raise InputError(
            f"the table of measures has no column `{missing[0]}`; its columns are {', '.join(measures.column_names)}. Give one as "
            "`cartograph.map_table` makes it."
        )


def correctness_levels(correctness: Floats) -> list[Level]:
    """Part the rows of a map by correctness, lowest first; levels without rows are left out.

    Up to nine different values, as from eight epochs, are a level each; more are binned: never right, four fifths
    between, and always right.
    """
    values, level_of = np.unique(correctness.round(9), return_inverse=True)
    labels = _as_fractions(values)
    if len(values) > _MOST_LEVELS:
        level_of = np.where(correctness <= 0, 0, np.where(correctness >= 1, 6, np.searchsorted(_BIN_EDGES, correctness, side="left")))
        values = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
        labels = ["0", *(f"{low:g}–{high:g}" for low, high in pairwise(_BIN_EDGES)), "1"]
    levels = []
    for index, (value, label) in enumerate(zip(values, labels, strict=True)):
        shape = _LOWEST if value == 0 else _HIGHEST if value == 1 else _BETWEEN[index % len(_BETWEEN)]
        rows = np.flatnonzero(level_of == index)
        if len(rows):
            levels.append(Level(label, float(value), correctness_colour(float(value)), *shape, rows))
    return levels


def _as_fractions(values: Floats) -> list[str]:
    for epochs in range(1, _MOST_EPOCHS + 1):
        counts = values * epochs
        if np.abs(counts - counts.round()).max(initial=0.0) < 1e-3:
            return [f"{count:.0f}/{epochs}" for count in counts]
    return [f"{value:.2f}" for value in values]


def correctness_colour(correctness: float) -> str:
    """Return the colour of a correctness in [0, 1] as ``#rrggbb``."""
    positions = [position for position, _ in _SCALE]
    channels = [np.interp(correctness, positions, [colour >> shift & 255 for _, colour in _SCALE]) for shift in (16, 8, 0)]
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)


def sample_points(n: int, max_points: int, rng: np.random.Generator, always: Iterable[int] = ()) -> Integers:
    """Return which of n rows are drawn: sorted indices, at most ``max_points``, without repetition.

    Rows in ``always`` are among them, as far as they are not themselves more than ``max_points``; the others are a
    uniform sample.
    """
    if n <= max_points:
        return np.arange(n)
    wanted = np.unique(np.fromiter(always, dtype=np.int64))
    if len(wanted) >= max_points:
        return np.sort(rng.choice(wanted, max_points, replace=False))
    others = np.delete(np.arange(n), wanted)
    return np.sort(np.concatenate([wanted, rng.choice(others, max_points - len(wanted), replace=False)]))
