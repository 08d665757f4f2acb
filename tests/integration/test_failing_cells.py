"""A training that raises fails alone: the table says so, the audit ends with an error that names it, the next run takes up it alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from mlflow import MlflowClient

from tests.integration.project import Project

PARAMS = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 8, learning_rate: 0.01}
measure: {burn_in: 0}
aflite: {enabled: false}
select: {strategies: []}
retrain: {subsets: [original, random], seeds: [1, 2]}
"""
CELL, CELLS = "retrain@random-2", {f"retrain@{subset}-{seed}" for subset in ("original", "random") for seed in (1, 2)}
AFTER = {"evaluate", "report", "publish"}


def block(project: Project) -> Path:
    """Put a file where the cell keeps its checkpoints: it cannot make the folder, and raises."""
    path = project.path / f".cartograph/checkpoints/{CELL}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("no folder")
    return path


def broken_runs(project: Project) -> list[str]:
    client = MlflowClient(tracking_uri=f"sqlite:///{project.path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("default")
    assert experiment is not None
    return [run.info.run_name for run in client.search_runs([experiment.experiment_id]) if run.info.status == "FAILED"]


@pytest.mark.slow
@pytest.mark.parametrize("runner", [[], ["--workers", "2"], ["--runner", "dask", "--workers", "2"]], ids=["here", "processes", "dask"])
def test_it_fails_alone_and_is_taken_up_alone(make_project: Callable[[], Project], runner: list[str]) -> None:
    project = make_project()
    project.params(PARAMS)
    blocked = block(project)
    ended = project.run("flows.audit", *runner, code=2)
    assert f"1 cell failed; everything else was done without them: `{CELL}`" in ended.stderr
    assert "Report     reports/report.html" in ended.stdout
    assert set(project.executions()) >= (CELLS - {CELL}) | AFTER
    page = (project.path / "data/evaluate/evaluation.md").read_text()
    assert "(1 of 2 failed)" in next(line for line in page.splitlines() if line.startswith("| random "))
    assert "- `random`, seed 2: " in page
    assert "is a file, where none belongs" in page
    assert json.loads((project.path / f"data/{CELL.replace('@', '/')}/failure.json").read_text())["step"] == CELL
    assert CELL in project.run("dvc", "status").stdout
    assert broken_runs(project) == ["retrain random seed 2"]
    blocked.unlink()
    executed = project.executed_by(lambda: project.run("flows.audit", *runner))
    assert executed & CELLS == {CELL}
    assert executed - CELLS == AFTER
    assert "Broken off" not in (project.path / "data/evaluate/evaluation.md").read_text()
    assert "up to date" in project.run("dvc", "status").stdout


@pytest.mark.slow
def test_under_dvc_it_is_a_stage_that_failed_and_is_not_recorded(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.params(PARAMS)
    project.run("tasks", "dvc-yaml")
    blocked = block(project)
    ended = project.run("dvc", "repro", "--keep-going", code=255)
    assert CELL in ended.stdout + ended.stderr
    assert set(project.executions()) >= CELLS - {CELL}
    assert CELL not in (project.path / "dvc.lock").read_text()
    assert "failed" in next(line for line in project.run("tasks", "list").stdout.splitlines() if line.startswith(CELL))
    project.run("tasks", "run", "evaluate")
    page = (project.path / "data/evaluate/evaluation.md").read_text()
    assert "- `random`, seed 2: " in page
    assert "is a file, where none belongs" in page
    blocked.unlink()
    executed = project.executed_by(lambda: project.run("dvc", "repro"))
    assert executed & CELLS == {CELL}
    assert "evaluate" in executed
    assert "up to date" in project.run("dvc", "status").stdout


@pytest.mark.slow
def test_a_killed_process_is_replaced_and_its_training_goes_on(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.params(PARAMS.replace("retrain: {", "retrain: {epochs: 40, "))
    flow = project.start("flows.audit", "--workers", "2")
    training = project.path / ".cartograph/checkpoints"
    while flow.poll() is None and not list(training.glob("retrain@*")):
        time.sleep(0.02)
    assert flow.poll() is None, flow.communicate()[0]
    # Both of them: either may be the one that trains, and on a busy machine they hardly ever train at once.
    for worker in [child for child in psutil.Process(flow.pid).children() if "spawn_main" in " ".join(child.cmdline())]:
        worker.kill()
    said = flow.communicate()[0]
    assert flow.returncode == 0, said
    assert "the process that ran it has died" in said
    assert set(project.executions()) >= CELLS | AFTER
    survived = {path.name: path.read_bytes() for path in (project.path / "data/evaluate").iterdir()}
    project.run("flows.audit", "--force", "retrain")
    assert {path.name: path.read_bytes() for path in (project.path / "data/evaluate").iterdir()} == survived
