"""The figure of the noise experiment: where flipped rows lie before and after, as in Swayamdipta et al. 2020, Fig. 4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cartograph.figures.level_lines import draw_level_lines
from cartograph.figures.palette import INK, MUTED, correctness_colour
from cartograph.figures.saving import figure_style
from cartograph.schema import schema_of
from cartograph.wording import percent

BINS = 25
RANGES = {"confidence": (0.0, 1.0), "variability": (0.0, 0.5)}
_BEFORE, _AFTER = correctness_colour(1.0), correctness_colour(0.0)

EXPERIMENT = schema_of(
    {
        "uid": "string",
        "flipped": "bool",
        "confidence_before": "double",
        "variability_before": "double",
        "confidence_after": "double",
        "variability_after": "double",
    }
)
"""The noise experiment: every training row on the original map and on that of the training on flipped labels."""


def noise_figure(experiment: pa.Table, *, assumed: bool = False) -> Figure:
    """Draw the distributions of confidence and of variability of the flipped rows, before and after the flip.

    Args:
        experiment: of ``EXPERIMENT``, some row flipped.
        assumed: whether what came after was assumed, not measured.
    """
    flipped = experiment.filter(pc.field("flipped"))
    with figure_style():
        figure = Figure(figsize=(9.6, 3.9), dpi=100, facecolor="white")
        grid = figure.add_gridspec(1, 2, left=0.066, right=0.985, top=0.76, bottom=0.135, wspace=0.16)
        for place, name in enumerate(RANGES):
            _distributions(figure.add_subplot(grid[0, place]), flipped, name)
        figure.text(0.066, 0.935, "Flipped labels, before and after", fontsize=13, weight="bold", va="center")
        how = "assumed, not retrained" if assumed else "after retraining on the flipped labels"
        rows = f"{flipped.num_rows:,} rows of the easy region; {how}"
        figure.text(0.985, 0.935, rows, color=MUTED, ha="right", va="center")
        figure.axes[0].text(-0.0, 1.06, "share of the flipped rows", color=MUTED, fontsize=8, transform=figure.axes[0].transAxes)
    return figure


def shares(values: Any, name: str, bins: int = BINS) -> tuple[Any, Any]:
    """Return the share of the values in each bin of a coordinate's range, ``(bins,)``, and the bins' edges, ``(bins + 1,)``."""
    low, high = RANGES[name]
    counts, edges = np.histogram(np.clip(values, low, high), bins=bins, range=(low, high))
    return counts / max(len(values), 1), edges


def _distributions(axes: Axes, flipped: pa.Table, name: str) -> None:
    for when, colour, label in (("before", _BEFORE, "right label"), ("after", _AFTER, "flipped label")):
        share, edges = shares(flipped[f"{name}_{when}"].to_numpy(), name)
        axes.stairs(share, edges, fill=True, color=colour, alpha=0.28, linewidth=0)
        # The second line is dashed, so that colour alone does not distinguish the two.
        axes.stairs(share, edges, color=colour, linewidth=1.6, linestyle="-" if when == "before" else (0, (4, 1.5)), label=label)
    axes.set_xlim(*RANGES[name])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(name, color=INK)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(lambda share, _: percent(share))
    draw_level_lines(axes)
    axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.3, handlelength=1.6)
