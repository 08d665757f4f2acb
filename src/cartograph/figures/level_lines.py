"""The look of still figures whose values are read off level lines."""

from __future__ import annotations

from matplotlib.axes import Axes

from cartograph.figures.palette import MUTED, RULE


def draw_level_lines(axes: Axes, title: str | None = None) -> None:
    """Draw thin lines at the ticks of y instead of an axis, behind what is drawn, and a small title above where there is one."""
    if title is not None:
        axes.set_title(title, fontsize=9, color=MUTED, loc="left")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
