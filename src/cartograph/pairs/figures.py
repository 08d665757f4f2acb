"""Still figures of a collection: the curves of Mussmann, Jia & Liang 2020, Figs 3 and 4, and the calibration of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cartograph.figures.level_lines import draw_level_lines
from cartograph.figures.palette import INK, MUTED
from cartograph.figures.saving import figure_style
from cartograph.wording import percent

COLOURS = ("#0b5cad", "#a84e00", "#00705a", "#7a3e9d", "#7d5a00", "#a1295f", "#4b5563")
FEWEST = 10
"""Fewest pairs of a bin whose share of positives is drawn."""

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)), (0, (1, 3)))


def curve_figure(summary: pa.Table, methods: Sequence[str]) -> Figure:
    """Draw average precision and the share of positives over the number of labels, a line per method, with 95 % intervals.

    Args:
        summary: of ``comparison.SUMMARY``.
        methods: in the order of their colours.
    """
    rows = [row for row in summary.to_pylist() if row["measure"] == "average_precision"]
    with figure_style():
        figure = Figure(figsize=(9.6, 4.2), dpi=100, facecolor="white")
        grid = figure.add_gridspec(1, 2, left=0.07, right=0.985, top=0.72, bottom=0.13, wspace=0.17)
        left, right = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
        for place, method in enumerate(methods):
            own = sorted((row for row in rows if row["method"] == method), key=lambda row: row["round"])
            style = {
                "color": COLOURS[place % 7],
                "marker": _MARKERS[place % 7],
                "linestyle": _DASHES[place % 7],
                "markersize": 4.5,
                "linewidth": 1.5,
            }
            labels = [row["labels"] for row in own]
            left.plot(labels, [row["mean"] for row in own], label=method, **style)
            # Side by side, so that the intervals of several methods do not overlap.
            aside = (place - (len(methods) - 1) / 2) * 0.007 * max(row["labels"] for row in rows)
            low, high = ([row[end] for row in own] for end in ("low", "high"))
            left.vlines([count + aside for count in labels], low, high, color=COLOURS[place % 7], linewidth=1.0, alpha=0.6)
            right.plot(labels, [row["positive"] / max(row["labels"], 1) for row in own], **style)
        _finish(left, "average precision over all pairs")
        _finish(right, "positive among all labels asked for")
        right.yaxis.set_major_formatter(lambda share, _: percent(share))
        figure.text(0.07, 0.955, "What labels buy, by who chooses them", fontsize=13, weight="bold", va="center")
        figure.legend(loc="upper left", bbox_to_anchor=(0.062, 0.92), ncols=4, frameon=False, columnspacing=1.4, handlelength=2.6)
    return figure


def reliability_figure(reliability: Mapping[str, Sequence[Mapping[str, float]]], methods: Sequence[str]) -> Figure:
    """Draw, over all pairs, the share of positives among pairs of similar probability; calibrated ones lie on the diagonal.

    Args:
        reliability: method -> per bin ``mean``, ``share`` and ``pairs``.
        methods: in the order of their colours.
    """
    with figure_style():
        figure = Figure(figsize=(5.6, 5.2), dpi=100, facecolor="white")
        axes = figure.add_axes((0.11, 0.1, 0.85, 0.66))
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
        for place, method in enumerate(methods):
            own = [one for one in reliability.get(method, ()) if one["pairs"] >= FEWEST]
            axes.plot(
                [one["mean"] for one in own],
                [one["share"] for one in own],
                color=COLOURS[place % 7],
                marker=_MARKERS[place % 7],
                linestyle=_DASHES[place % 7],
                markersize=4.5,
                linewidth=1.3,
                label=method,
            )
        axes.set_xlim(-0.02, 1.02)
        _finish(axes, "share of positives, over all pairs")
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("probability given by the model", color=INK)
        figure.legend(loc="upper left", bbox_to_anchor=(0.1, 0.93), ncols=3, frameon=False, fontsize=8, columnspacing=1.2)
        figure.text(0.11, 0.957, "Are the probabilities calibrated?", fontsize=13, weight="bold", va="center")
    return figure


def _finish(axes: Axes, name: str) -> None:
    axes.set_ylim(bottom=0)
    axes.set_xlabel("labels", color=INK)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 10 else f"{value:g}")
    draw_level_lines(axes, name)
