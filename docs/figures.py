"""Make the figures of the documentation, as the project's own code draws them: `python docs/figures.py`.

Audits the built-in corpora in a copy of the project, in a temporary folder, and puts what is drawn into docs/figures/.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copy, which
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.project_copy import copy_project  # noqa: E402
from cartograph.palette import INK, MUTED, RULE, correctness_colour  # noqa: E402
from cartograph.still import figure_style, save_figure  # noqa: E402

FOLDER = ROOT / "docs" / "figures"
STRATEGIES = ("random", "ambiguous", "hard-to-learn", "high-confidence", "mix-0.1", "forgetting")
PARAMS = f"""\
ingest: {{source: planted-nli, rows: 3000}}
measure: {{burn_in: 1}}
select: {{strategies: [{", ".join(STRATEGIES)}], fractions: [0.17]}}
ablate: {{experiments: [burn-out]}}
publish: {{enabled: false}}
"""
COLLECTION = """\
pairs: {source: planted-paraphrases, rows: 4000}
collect: {rounds: 4, first_round: 128, growth: 1.5, seeds: [1]}
publish: {enabled: false}
"""
MADE = {
    "noise.png": "reports/figures/noise.png",
    "aflite.png": "reports/figures/aflite.png",
    "burn-out.png": "data/ablate/burn-out/burn-out.png",
    "synthetic.png": "reports/ablate/synthetic/synthetic.png",
    "collection.png": "workspaces/pairs/reports/figures/collection.png",
}
"""Figure of the documentation -> what a project has of it, once it was audited."""
DRAWN = ("worth.png", "selections.png", "dvc-plots.png")
"""Figures that are drawn here from what an audit left."""


def main() -> None:
    """Audit, collect, and write every figure."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as temporary:
        project = Path(temporary)
        environment = copy_project(project, PARAMS)

        def run(*command: str) -> None:
            subprocess.run([sys.executable, "-m", *command], cwd=project, env=environment, check=True)

        def git(*command: str) -> None:
            identity = ["-c", "user.name=Figures", "-c", "user.email=figures@example.org"]
            subprocess.run(["git", *identity, *command], cwd=project, check=True, capture_output=True)

        run("flows.audit")
        run("flows.ablate", "synthetic")
        (project / "workspaces" / "pairs").mkdir(parents=True)
        (project / "workspaces" / "pairs" / "params.yaml").write_text(COLLECTION)
        run("flows.collect", "--workspace", "workspaces/pairs")
        for name, source in MADE.items():
            copy(project / source, FOLDER / name)
        save_figure(worth(project / "data" / "evaluate" / "evaluation.csv"), FOLDER / "worth.png")
        save_figure(selections(project / "data"), FOLDER / "selections.png")
        git("add", "-A")
        git("commit", "-q", "-m", "An audit")
        run("dvc", "exp", "run", "-S", "measure.hard=.2", "-S", "train.epochs=4")
        run("dvc", "plots", "diff", "HEAD", "workspace")
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
            axes.set_title(name, fontsize=10, loc="left")
    return figure


def selections(data: Path) -> Figure:
    """Draw which rows of a map each selection keeps."""
    table = pq.read_table(data / "measure" / "measures.parquet")
    columns = (table["uid"].to_pylist(), table["variability"].to_numpy(), table["confidence"].to_numpy())
    with figure_style():
        figure = Figure(figsize=(9.6, 6.2), dpi=100, facecolor="white")
        panels = figure.subplots(2, 3, sharex=True, sharey=True, gridspec_kw={"left": 0.066, "right": 0.985, "top": 0.94, "bottom": 0.085})
        for axes, name in zip(panels.flat, STRATEGIES, strict=True):
            kept = set(pq.read_table(data / "select" / f"{name}-0.17.parquet")["uid"].to_pylist())
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
