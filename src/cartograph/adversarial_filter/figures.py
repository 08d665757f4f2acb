"""The figures of a filter: representation bias and size, round by round; and circles before and after (Le Bras et al. 2020, Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cartograph.adversarial_filter.result import Round
from cartograph.adversarial_filter.synthetic import Circles, Experiment
from cartograph.data.arrays import Array
from cartograph.figures.level_lines import draw_level_lines
from cartograph.figures.palette import INK, MUTED, RULE, correctness_colour
from cartograph.figures.saving import figure_style
from cartograph.wording import percent


def history_figure(history: Sequence[Round]) -> Figure:
    """Draw the representation bias before each round beside the number of rows in play.

    Args:
        history: of a ``Result``; one round at least.
    """
    with figure_style():
        figure = Figure(figsize=(9.6, 3.6), dpi=100, facecolor="white")
        grid = figure.add_gridspec(1, 2, left=0.066, right=0.985, top=0.76, bottom=0.14, wspace=0.16)
        rounds = [step.number for step in history]
        bias, size = (figure.add_subplot(grid[0, place]) for place in range(2))
        bias.plot(rounds, [step.bias for step in history], color=correctness_colour(1.0), marker="o", markersize=3.5, linewidth=1.4)
        bias.set_ylim(0, 1)
        bias.yaxis.set_major_formatter(lambda share, _: percent(share))
        _finish(bias, "out-of-sample predictions that are right (R)")
        size.plot(rounds, [step.size for step in history], color=correctness_colour(0.0), marker="s", markersize=3.5, linewidth=1.4)
        size.set_ylim(bottom=0)
        size.yaxis.set_major_formatter(lambda rows, _: f"{rows:,.0f}")
        _finish(size, "rows in play")
        figure.text(0.066, 0.935, "What the features give away, round by round", fontsize=13, weight="bold", va="center")
        subtitle = f"{history[0].size:,} rows, {history[-1].size - history[-1].removed:,} kept"
        figure.text(0.985, 0.935, subtitle, color=MUTED, ha="right", va="center")
    return figure


def _finish(axes: Axes, title: str) -> None:
    axes.set_xlabel("round", color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    draw_level_lines(axes, title)


def synthetic_figure(found: Experiment) -> Figure:
    """Draw the four sets in their plane, before the filter above and after it below; classes differ in colour and marker."""
    rows = {(row["separation"], row["when"]): row for row in found.outcomes.to_pylist()}
    with figure_style():
        figure = Figure(figsize=(9.6, 5.6), dpi=100, facecolor="white")
        grid = figure.add_gridspec(2, len(found.sets), left=0.035, right=0.985, top=0.83, bottom=0.07, wspace=0.08, hspace=0.28)
        for place, (circles, kept) in enumerate(zip(found.sets, found.kept, strict=True)):
            for line, (when, used) in enumerate((("before", np.ones(len(kept), bool)), ("after", kept))):
                axes = figure.add_subplot(grid[line, place])
                _circles(axes, circles, used)
                row = rows[circles.separation, when]
                flipped = f", {row['flipped']:,} flipped" if circles.flipped.any() else ""
                axes.set_title(f"linear {percent(row['linear'])}, RBF {percent(row['rbf'])}", fontsize=9, pad=3)
                axes.set_xlabel(
                    f"{row['rows']:,} rows, {row['artefacts']:,} with artefacts{flipped}", fontsize=7.5, color=MUTED, labelpad=3
                )
        figure.text(0.035, 0.955, "Circles with artefacts, before the filter and after it", fontsize=13, weight="bold", va="center")
        subtitle = "per cent right, cross-validated; the artefacts' own dimensions are not drawn; crosses: flipped labels"
        figure.text(0.035, 0.905, subtitle, color=MUTED, va="center")
    return figure


def _circles(axes: Axes, circles: Circles, used: Array) -> None:
    for label, marker in ((0, "o"), (1, "^")):
        own = used & (circles.labels == label)
        for flipped, shape in ((False, marker), (True, "X")):
            drawn = circles.plane[own & (circles.flipped == flipped)]
            size = 14 if flipped else 5
            axes.scatter(
                drawn[:, 0], drawn[:, 1], s=size, c=correctness_colour(float(label)), marker=shape, alpha=0.7, linewidths=0, rasterized=True
            )
    edge = 1.15 * (1 + circles.separation) + 0.3
    axes.set_xlim(-edge, edge)
    axes.set_ylim(-edge, edge)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(RULE)
