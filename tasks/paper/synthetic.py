"""The experiment `synthetic`: AFLite on circles that no line separates, with artefacts that give their labels away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tasks.presentation.console import say

if TYPE_CHECKING:
    from tasks.engine.workspace import Workspace


def run(space: Workspace, folder: Path) -> str:
    """Write the table and the figure of the four sets; return how many artefacts the filter left."""
    from pyarrow.csv import write_csv

    from cartograph.adversarial_filter.figures import synthetic_figure
    from cartograph.adversarial_filter.synthetic import outcomes_text, run_experiment
    from cartograph.figures.saving import save_figure

    found = run_experiment()
    write_csv(found.outcomes, folder / "outcomes.csv")
    text = outcomes_text(found.outcomes)
    (folder / "outcomes.txt").write_text(text, encoding="utf-8")
    figure = synthetic_figure(found)
    for suffix in ("png", "svg"):
        save_figure(figure, folder / f"synthetic.{suffix}")
    say(text.rstrip())
    rows = found.outcomes.to_pylist()
    before, after = (sum(row["artefacts"] for row in rows if row["when"] == when) for when in ("before", "after"))
    return f"{before:,} rows with artefacts, {after:,} after the filter"
