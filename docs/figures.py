"""Make the figures of the documentation, as the project's own code draws them: `python docs/figures.py [PROJECT]`.

Takes them from a project, by default this one, in which these have run: `make audit`, `make collect`, `python -m flows.ablate synthetic`,
`python -m flows.ablate burn-out`, and, after a commit, `dvc exp run -S measure.burn_in=3` and `dvc plots diff HEAD workspace`.
(The picture of DVC's plots is of a project whose `ingest.rows` is 2000.)
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copy, which

import numpy as np
import pyarrow.parquet as pq
from matplotlib.figure import Figure

from cartograph.figures.palette import INK, MUTED, RULE, correctness_colour
from cartograph.figures.saving import figure_style, save_figure

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "figures"
MADE = {
    "noise.png": "reports/figures/noise.png",
    "aflite.png": "reports/figures/aflite.png",
    "burn-out.png": "reports/ablate/burn-out/burn-out.png",
    "synthetic.png": "reports/ablate/synthetic/synthetic.png",
    "collection.png": "workspaces/paraphrases/reports/figures/collection.png",
}
"""Figure of the documentation -> what a project has of it."""
STRATEGIES = ("random", "ambiguous", "hard-to-learn", "high-confidence")
DRAWN = ("worth.png", "selections.png", "dvc-plots.png")
"""Figures that are drawn here from what a project has."""
NEEDED = ("data/evaluate/evaluation.csv", "data/measure/measures.parquet", "dvc_plots/index.html")


def main() -> None:
    """Copy and draw every figure."""
    project = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    needed = [*MADE.values(), *NEEDED]
    missing = [name for name in needed if not (project / name).exists()]
    if missing:
        sys.exit(f"{project} has no {', '.join(missing)}: run there what makes them (see the head of this file); nothing was changed.")
    FOLDER.mkdir(exist_ok=True)
    for name, source in MADE.items():
        copy(project / source, FOLDER / name)
    save_figure(worth(project / "data" / "evaluate" / "evaluation.csv"), FOLDER / "worth.png")
    save_figure(selections(project / "data"), FOLDER / "selections.png")
    screenshot(project / "dvc_plots" / "index.html", FOLDER / "dvc-plots.png")


def worth(scores: Path) -> Figure:
    """Draw each version's accuracy with every seed, a panel per evaluation set."""
    with scores.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "accuracy"]
    sets, versions = (list(dict.fromkeys(row[key] for row in rows)) for key in ("set", "subset"))
    with figure_style():
        figure = Figure(figsize=(9.6, 2.6), dpi=100, facecolor="white")
        panels = figure.subplots(1, len(sets), gridspec_kw={"left": 0.1, "right": 0.985, "top": 0.8, "bottom": 0.2, "wspace": 0.3})
        for axes, name in zip(np.atleast_1d(panels), sets, strict=True):
            for place, version in enumerate(versions):
                values = [float(row["value"]) for row in rows if (row["set"], row["subset"]) == (name, version)]
                axes.plot([min(values), max(values)], [place, place], color=MUTED, linewidth=1.2)
                axes.plot(values, [place] * len(values), "o", color=correctness_colour(0.75), markersize=4)
                axes.plot(np.mean(values), place, "D", color=INK, markersize=6)
            axes.set_yticks(range(len(versions)), versions)
            axes.set_ylim(len(versions) - 0.5, -0.5)
            axes.set_xlabel("accuracy")
            axes.grid(axis="x", color=RULE, linewidth=0.6)
            axes.locator_params(axis="x", nbins=6)
            axes.set_title(name, fontsize=10, loc="left")
    return figure


def selections(data: Path) -> Figure:
    """Draw which rows of a map each selection keeps."""
    table = pq.read_table(data / "measure" / "measures.parquet")
    columns = (table["uid"].to_pylist(), table["variability"].to_numpy(), table["confidence"].to_numpy())
    with figure_style():
        figure = Figure(figsize=(9.6, 7.0), dpi=100, facecolor="white")
        panels = figure.subplots(2, 2, sharex=True, sharey=True, gridspec_kw={"left": 0.066, "right": 0.985, "top": 0.95, "bottom": 0.075})
        for axes, name in zip(panels.flat, STRATEGIES, strict=True):
            kept = set(pq.read_table(data / "select" / f"{name}-0.33.parquet")["uid"].to_pylist())
            _kept(axes, *columns, kept)
            axes.set_title(name, fontsize=10, loc="left")
        for axes in panels[-1]:
            axes.set_xlabel("variability")
        for axes in panels[:, 0]:
            axes.set_ylabel("confidence")
    return figure


def _kept(axes, uids: Sequence[str], x: np.ndarray, y: np.ndarray, kept: set[str]) -> None:  # type: ignore[no-untyped-def]
    inside = np.array([uid in kept for uid in uids])
    axes.scatter(x[~inside], y[~inside], s=5, color=RULE, linewidths=0, rasterized=True)
    axes.scatter(x[inside], y[inside], s=6, color=correctness_colour(1.0), linewidths=0, alpha=0.7, rasterized=True)


def screenshot(page_file: Path, target: Path) -> None:
    """Photograph a page as Chromium shows it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1180, "height": 900}, device_scale_factor=1.5)
        page.goto(page_file.as_uri())
        page.screenshot(path=target, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
