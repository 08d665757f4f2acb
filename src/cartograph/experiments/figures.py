"""Figures of experiments, in the style of all still figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cartograph.data.arrays import Reals
from cartograph.figures.palette import INK, MUTED
from cartograph.figures.saving import figure_style

COLOURS = ("#2c6cbc", "#c8372d", "#00705a", "#8a5a00", "#6a6fb0", "#24292f")
MARKERS = ("o", "X", "s", "^", "D", "v")
_MOST_POINTS = 4000
Line = tuple[Sequence[float], Sequence[float]]


def line_figure(
    title: str,
    x_title: str,
    panels: Mapping[str, Mapping[str, Line]],
    x_titles: Mapping[str, str] | None = None,
    *,
    y_range: tuple[float, float] | None = None,
    whole_x: bool = False,
) -> Figure:
    """Draw lines with markers, one panel per entry, its lines by name; ``x_titles`` has a panel's own where it is not ``x_title``."""
    with figure_style():
        figure = Figure(figsize=(max(4.6 * len(panels), 5.6), 3.9), dpi=100, facecolor="white", layout="constrained")
        for place, (name, lines) in enumerate(panels.items()):
            axes = figure.add_subplot(1, len(panels), place + 1)
            for number, (label, (x, y)) in enumerate(lines.items()):
                look = number % len(COLOURS)
                axes.plot(x, y, color=COLOURS[look], marker=MARKERS[look], markersize=5, linewidth=1.4, label=label)
            axes.set_title(name, fontsize=10, loc="left", parse_math=False)
            axes.set_xlabel((x_titles or {}).get(name, x_title))
            if y_range is not None:
                axes.set_ylim(*y_range)
            if whole_x:
                axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            if len(lines) > 1:
                axes.legend(frameon=False, fontsize=8)
        _title(figure, title)
    return figure


def scatter_figure(title: str, panels: Mapping[str, tuple[str, str, Reals, Reals]], seed: int) -> Figure:
    """Draw points with their least-squares line, one panel per entry: (x title, y title, x, y)."""
    rng = np.random.default_rng(seed)
    with figure_style():
        figure = Figure(figsize=(4.4 * len(panels), 4.2), dpi=100, facecolor="white", layout="constrained")
        for place, (name, (x_title, y_title, x, y)) in enumerate(panels.items()):
            axes = figure.add_subplot(1, len(panels), place + 1)
            shown = np.sort(rng.choice(len(x), min(len(x), _MOST_POINTS), replace=False))
            axes.scatter(x[shown], y[shown], s=7, color=COLOURS[0], alpha=0.35, linewidths=0, rasterized=True)
            if x.std() > 0:
                slope, start = np.polyfit(x, y, 1)
                ends = np.array([x.min(), x.max()])
                axes.plot(ends, start + slope * ends, color=COLOURS[1], linewidth=1.4)
            axes.set_xlabel(x_title)
            axes.set_ylabel(y_title)
            axes.set_title(name, fontsize=10, loc="left", parse_math=False)
        _title(figure, title)
    return figure


def heat_figure(title: str, means: Reals, counts: Reals, x_edges: Reals, y_edges: Reals, label: str) -> Figure:
    """Draw the mean of something over cells of variability (x) and confidence (y); a cell without enough rows (NaN) stays white."""
    with figure_style():
        figure = Figure(figsize=(6.4, 4.6), dpi=100, facecolor="white", layout="constrained")
        axes = figure.add_subplot()
        drawn = axes.pcolormesh(x_edges, y_edges, np.ma.masked_invalid(means), cmap="cividis", rasterized=True)
        for row, column in zip(*np.nonzero(np.isfinite(means)), strict=True):
            x, y = (edges[place : place + 2].mean() for edges, place in ((x_edges, column), (y_edges, row)))
            low, high = np.nanmin(means), np.nanmax(means)
            dark = means[row, column] < (low + high) / 2
            axes.text(x, y, f"{int(counts[row, column])}", ha="center", va="center", fontsize=6, color="white" if dark else INK)
        bar = figure.colorbar(drawn, ax=axes)
        bar.set_label(label)
        axes.set_xlabel("variability")
        axes.set_ylabel("confidence")
        axes.text(1.0, 1.01, "numbers: rows", transform=axes.transAxes, ha="right", va="bottom", fontsize=8, color=MUTED)
        _title(figure, title)
    return figure


def _title(figure: Figure, title: str) -> None:
    figure.suptitle(title, fontsize=12, weight="bold", x=0.01, ha="left", parse_math=False)
