"""Faults of a running audit: its server dies, it is interrupted, it is killed, its parameters are edited."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from tests.integration.project import Project

SLOW = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 2000, learning_rate: 0.01, device: cpu}
measure: {burn_in: 0}
retrain: {subsets: []}
aflite: {enabled: false}
bias: {enabled: false}
"""
"""An audit whose training takes minutes."""


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project], tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose audits start a Prefect server of their own."""
    project = make_project()
    del project.environment["PREFECT_API_URL"]
    project.environment["PREFECT_HOME"] = str(tmp_path_factory.mktemp("prefect-own"))
    return project


def training(project: Project, *options: str) -> subprocess.Popen[str]:
    """Start an audit, and return once it trains."""
    project.params(SLOW)
    shutil.rmtree(project.path / ".cartograph/checkpoints", ignore_errors=True)
    # MLflow has the run of an audit once a step of it has run to its end.
    shutil.rmtree(project.path / "data", ignore_errors=True)
    running = project.start("flows.audit", *options)
    for _ in range(1800):
        assert running.poll() is None, running.communicate()[0]
        if list((project.path / ".cartograph/checkpoints/train").glob("*/*/*")):
            return running
        time.sleep(0.1)
    raise AssertionError("it did not train")


def server_of(running: subprocess.Popen[str]) -> psutil.Process:
    return next(child for child in psutil.Process(running.pid).children() if "flows.engine.temporary_server" in child.cmdline())


def ended(running: subprocess.Popen[str], seconds: float) -> str:
    """What it said, once it has ended, which takes no longer than this."""
    said = running.communicate(timeout=seconds)[0]
    assert "Traceback" not in said
    return " ".join(said.split())


@pytest.mark.slow
def test_an_audit_whose_server_dies_ends_within_a_minute_and_says_so(project: Project) -> None:
    running = training(project)
    server_of(running).kill()
    said = ended(running, 60)
    assert running.returncode == 2
    assert said.endswith(
        "error the Prefect server that the flow started for itself has ended; every step that finished is complete and recorded in its "
        "receipt. Run it again: it continues from there."
    )
    assert (project.path / "data/ingest.receipt.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_audit_ends_at_once_and_takes_its_server_along(project: Project, number: int, code: int) -> None:
    running = training(project)
    server = server_of(running)
    wait_for_run(project)
    # As a terminal does it: to all processes of the group.
    os.killpg(running.pid, number)
    said = ended(running, 30)
    assert running.returncode == code
    assert said.endswith("error stopped; finished steps are kept, and the next run continues from there.")
    assert gone(server)
    assert statuses(project) == ["KILLED"]


def wait_for_run(project: Project) -> None:
    """Wait until MLflow has the run of the audit, which it is sent while the audit goes on."""
    for _ in range(300):
        if statuses(project) == ["RUNNING"]:
            return
        time.sleep(0.1)
    raise AssertionError(f"the audit's run is not in MLflow, but {statuses(project)}")


def statuses(project: Project) -> list[str]:
    """How the audits stand in MLflow."""
    with closing(sqlite3.connect(project.path / "mlflow.db")) as store:
        return [status for (status,) in store.execute("select status from runs where lifecycle_stage = 'active'")]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["in one process", "with workers"])
def test_what_an_audit_started_ends_with_it_and_installs_nothing_after(project: Project, options: tuple[str, ...]) -> None:
    running = training(project, *options)
    started = psutil.Process(running.pid).children(recursive=True)
    assert started
    receipts = written(project)
    wait_for_run(project)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    assert all(map(gone, started))
    assert written(project) == receipts
    project.run("tasks", "list")
    assert statuses(project) == ["KILLED"]


def written(project: Project) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (project.path / "data").glob("*.receipt.json")}


def gone(process: psutil.Process) -> bool:
    try:
        process.wait(15)
    except psutil.TimeoutExpired:
        return False
    return True


@pytest.mark.slow
def test_an_edit_while_an_audit_runs_is_no_part_of_it_and_is_said_at_the_end(project: Project) -> None:
    short = SLOW.replace("2000", "60")
    project.params(short)
    running = project.start("flows.audit")
    while not (project.path / ".cartograph/audited.yaml").exists() or (project.path / ".cartograph/audited.yaml").read_text() != short:
        assert running.poll() is None
        time.sleep(0.05)
    project.params(short.replace("60", "3"))
    said = ended(running, 600)
    assert running.returncode == 0, said
    assert "params.yaml (`train.epochs`) changed while this audit ran, whose results are of the version at its start" in said
    assert recorded_epochs(project.path) != 3
    assert "train" in project.executed_by(lambda: project.run("flows.audit"))
    assert recorded_epochs(project.path) == 3


def recorded_epochs(path: Path) -> int | None:
    import yaml

    stages = yaml.safe_load((path / "dvc.lock").read_text())["stages"]
    return stages["train"]["params"]["params.yaml"]["train"]["epochs"] if "train" in stages else None
