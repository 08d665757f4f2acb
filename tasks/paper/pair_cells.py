"""Cells, intervals and curves of the tables of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json
from tasks.collection.compare import METRICS
from tasks.engine.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa


Cells = Sequence[Sequence[str]]


def draw_curves(summary: pa.Table, names: Sequence[str], folder: Path) -> None:
    """Write ``curves.png`` and ``curves.svg``: average precision and the share of positives over labels."""
    from cartograph.figures.saving import save_figure
    from cartograph.pairs.figures import curve_figure

    for suffix in ("png", "svg"):
        save_figure(curve_figure(summary, names), folder / f"curves.{suffix}")


def rounds_table(summary: pa.Table, called: str) -> tuple[list[str], Cells]:
    """Return a line per method (or whatever that column holds) and round."""
    rows = {(row["method"], row["round"], row["measure"]): row for row in summary.to_pylist()}
    cells = []
    for method, number in dict.fromkeys((method, number) for method, number, _ in rows):
        first, second = (rows[method, number, measure] for measure in ("average_precision", "precision_at_recall_20"))
        share = f"{100 * first['positive'] / max(first['labels'], 1):.1f}"
        line = (method, str(number), f"{first['labels']:,.0f}", positives_with_ends(first), share)
        cells.append((*line, with_ends(first, "mean"), with_ends(second, "mean")))
    return [called, "Round", "Labels", "Positives (of any seed)", "Share %", "AP %", "P@R20 %"], cells


def positives_with_ends(row: Mapping[str, float]) -> str:
    """Return the mean number of positives over seeds, with the fewest and the most of any seed where there are several."""
    spread = f" ({row['positive_low']:,.0f} to {row['positive_high']:,.0f})" if row["seeds"] > 1 else ""
    return f"{row['positive']:,.0f}{spread}"


def with_ends(numbers: Mapping[str, float], name: str = "") -> str:
    """Return a number and its interval in per cent; ``numbers`` has ``name``, ``low`` and ``high``, or these behind ``name`` and a dot."""
    value = numbers[name]
    low, high = (numbers[end] if end in numbers else numbers[f"{name}.{end}"] for end in ("low", "high"))
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def metrics_of(space: Workspace) -> dict[str, float]:
    """Return the numbers of a finished comparison."""
    numbers: dict[str, float] = read_json(space.resolve(METRICS))
    return numbers
