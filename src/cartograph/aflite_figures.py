"""The figure of a filter: representation bias and size, round by round."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cartograph.aflite import Round
from cartograph.palette import INK, MUTED, RULE, correctness_colour, percent
from cartograph.still import figure_style


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
        told = f"{history[0].size:,} rows, {history[-1].size - history[-1].removed:,} kept"
        figure.text(0.985, 0.935, told, color=MUTED, ha="right", va="center")
    return figure


def _finish(axes: Axes, title: str) -> None:
    axes.set_xlabel("round", color=INK)
    axes.set_title(title, fontsize=9, color=MUTED, loc="left")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
