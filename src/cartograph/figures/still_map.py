"""Still figures from tables, ready to print: the data map in the manner of Swayamdipta et al. 2020, Fig. 2.

Figures are made without pyplot and under a lock, since steps run in threads and matplotlib's settings belong to the whole
process. The same table gives the same bytes: no dates, no random ids, the fonts that come with matplotlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from cartograph.figures.level_lines import draw_level_lines
from cartograph.figures.palette import DENSITY, INK, MUTED, Level, check_map, correctness_levels, sample_points
from cartograph.figures.saving import STYLE, figure_style
from cartograph.maps.regions import AMBIGUOUS, EASY, HARD, UNASSIGNED, region_edges, region_lines
from cartograph.wording import percent

_TITLE_WIDTH = 64


def data_map(measures: pa.Table, *, max_points: int = 25_000, seed: int = 13, title: str = "Data map") -> Figure:
    """Draw the data map: variability across, confidence up, correctness as colour and marker, three densities beside it.

    The regions are named at their places, parted by the lines that their cuts are. The densities count every row. The manner is that of
    Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), Fig. 2.

    Args:
        measures: a table of ``schema.MEASURES``, as ``map_table`` returns it.
        max_points: most points drawn; a uniform sample where there are more rows.
        seed: of the sample, and of the order in which points lie on each other.
        title: plain text, taken literally.

    Returns:
        A matplotlib figure made without pyplot; ``figure.savefig("map.png")`` writes it.

    Raises:
        InputError: the table lacks a column.

    >>> from cartograph.maps.measures import Measures
    >>> from cartograph.maps.table import map_table
    >>> measures = Measures(confidence=np.array([0.9, 0.2]), variability=np.array([0.0, 0.3]), correctness=np.array([1.0, 0.5]))
    >>> data_map(map_table(["a", "b"], np.array([0, 1]), measures)).axes[0].get_xlabel()
    'variability'
    """
    check_map(measures)
    rng = np.random.default_rng(seed)
    shown = sample_points(measures.num_rows, max_points, rng)
    levels = correctness_levels(_column(measures, "correctness"))
    with figure_style():
        figure = Figure(figsize=(9.6, 6.0), dpi=100, facecolor="white")
        grid = figure.add_gridspec(3, 2, width_ratios=(3.1, 1), left=0.066, right=0.985, top=0.845, bottom=0.088, wspace=0.13, hspace=0.62)
        plane = figure.add_subplot(grid[:, 0])
        _points(plane, measures, levels, shown, rng)
        _regions(plane, measures)
        _legend(plane, levels)
        for place, name in enumerate(("confidence", "variability")):
            _density(figure.add_subplot(grid[place, 1]), _column(measures, name), name, plane)
        _bars(figure.add_subplot(grid[2, 1]), levels, measures.num_rows)
        _heading(figure, title, measures.num_rows, len(shown))
    return figure


def _column(table: pa.Table, name: str) -> Any:
    return table.column(name).to_numpy()


def _points(axes: Axes, table: pa.Table, levels: list[Level], shown: Any, rng: np.random.Generator) -> None:
    x, y = _column(table, "variability"), _column(table, "confidence")
    size = float(np.clip(5e4 / max(len(shown), 1), 9, 30))
    # The fewest on top: a handful of odd rows must not drown in thousands of even ones.
    for depth, level in enumerate(sorted(levels, key=lambda level: -len(level.rows))):
        rows = rng.permutation(np.intersect1d(level.rows, shown, assume_unique=True))
        axes.scatter(
            x[rows],
            y[rows],
            s=size * (1.5 if level.marker in "XP" else 1.0),
            c=level.colour,
            marker=level.marker,
            alpha=0.6,
            linewidths=0,
            rasterized=True,
            zorder=2 + depth / 100,
        )
    axes.set_xlim(-0.008, max(0.5, float(x.max(initial=0))) + 0.008)
    axes.set_ylim(-0.016, 1.06)
    axes.set_xticks(np.arange(0, axes.get_xlim()[1], 0.1))
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.set_xlabel("variability")
    axes.set_ylabel("confidence")


def _regions(axes: Axes, table: pa.Table) -> None:
    counts = {entry["values"]: entry["counts"] for entry in table.column("region").value_counts().to_pylist()}
    right, floor = axes.get_xlim()[1], region_edges(table).get(HARD, 0.0)
    for line in region_lines(table).values():
        axes.plot(*zip(*line, strict=True), color=INK, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.75, zorder=4)
    # Where no row can lie, since σ² ≤ μ (1 − μ): above the plane, and at its foot.
    places = {EASY: (0.0, 1.03, "left"), AMBIGUOUS: (right - 0.008, 1.03, "right"), HARD: (0.19, 0.03, "left")}
    places[UNASSIGNED] = (0.0, floor + 0.03, "left")
    for name, count in counts.items():
        across, up, side = places[name]
        colour = MUTED if name == UNASSIGNED else INK
        text = axes.text(
            across, up, f"{name}  {percent(count / table.num_rows)}", ha=side, va="center", fontsize=10, color=colour, zorder=5
        )
        text.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _legend(axes: Axes, levels: list[Level]) -> None:
    handles = [
        Line2D([], [], linestyle="", marker=level.marker, markersize=6.5, color=level.colour, markeredgewidth=0, label=level.label)
        for level in levels
    ]
    legend = axes.legend(
        handles=handles,
        title="correctness: share of epochs in which the given label was predicted",
        ncols=len(handles),
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.1,
        borderpad=0,
        borderaxespad=0.5,
        alignment="left",
    )
    legend.get_title().set_color(MUTED)


def _density(axes: Axes, values: Any, name: str, plane: Axes) -> None:
    span = (0.0, 1.0) if name == "confidence" else (0.0, plane.get_xlim()[1] - 0.008)
    counts, edges = np.histogram(values, bins=40, range=span)
    axes.bar(edges[:-1], counts / max(len(values), 1), np.diff(edges), align="edge", color=DENSITY, linewidth=0)
    axes.set_xlim(*span)
    _finish(axes, name)


def _bars(axes: Axes, levels: list[Level], n_rows: int) -> None:
    axes.bar(range(len(levels)), [len(level.rows) / n_rows for level in levels], 0.8, color=[level.colour for level in levels], linewidth=0)
    labels = [level.label for level in levels]
    if len(labels) > 6:  # more would overlap; the colours identify them
        labels[1:-1] = [label if 2 * index == len(labels) - 1 else "" for index, label in enumerate(labels)][1:-1]
    axes.set_xticks(range(len(levels)), labels)
    axes.tick_params(axis="x", length=0)
    _finish(axes, "correctness")


def _finish(axes: Axes, name: str) -> None:
    axes.set_xlabel(name, fontsize=9, labelpad=2)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.set_major_formatter(lambda share, _: percent(share))
    axes.tick_params(labelsize=8, pad=2)
    draw_level_lines(axes)


def _one_line(title: str) -> str:
    line = " ".join(title.split())
    line = line if len(line) <= _TITLE_WIDTH else line[: _TITLE_WIDTH - 1] + "…"
    known = get_font(findfont(FontProperties(family=STYLE["font.family"], weight="bold"))).get_charmap()
    return "".join(character if ord(character) in known else "?" for character in line)


def _heading(figure: Figure, title: str, n_rows: int, n_shown: int) -> None:
    figure.text(0.066, 0.962, _one_line(title), fontsize=13, weight="bold", va="center", parse_math=False)
    drawn = f"{n_rows:,} rows" if n_shown == n_rows else f"{n_rows:,} rows, {n_shown:,} of them drawn"
    figure.text(0.985, 0.962, drawn, color=MUTED, ha="right", va="center")
    figure.text(0.985, 0.868, "share of all rows", color=MUTED, ha="right", va="bottom", fontsize=8)
