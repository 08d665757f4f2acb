"""DVC's own commands on audits: what differs from the last commit, in numbers, parameters and plots, and experiments beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.project import SMALL, Project

pytestmark = pytest.mark.slow

# So few rows that `min_flips` would decide how many are flipped.
COMPARED = SMALL.replace("retrain:", "noise: {flip_share: 0.01, min_flips: 4}\nretrain:").replace("burn_in: 0", "burn_in: 0, hard: 0.1")


def shown(project: Project, *command: str) -> Any:
    return json.loads(project.run("dvc", *command, "--json").stdout)


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project]) -> Project:
    """A project with two audits, the default one and one of a workspace, both committed: DVC knows what flows made as if it had."""
    project = make_project()
    project.params(COMPARED)
    (project.path / "workspaces" / "other").mkdir(parents=True)
    project.params(COMPARED.replace("seed: 13", "seed: 14"), "workspaces/other")
    for workspace in (".", "workspaces/other"):
        project.run("flows.audit", "--workspace", workspace)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Two audits")
    return project


def test_an_experiment_changes_one_parameter_and_tells_what_it_did(project: Project) -> None:
    before = project.executions()
    project.run("dvc", "exp", "run", "--name", "more-flips", "-S", "noise.flip_share=.02")
    executed = set(project.executions() - before)
    assert {"noise", "report"} <= executed
    assert not executed & {"ingest", "train", "measure"}
    assert shown(project, "params", "diff")["params.yaml"] == {"noise.flip_share": {"old": 0.01, "new": 0.02, "diff": 0.01}}
    changed = shown(project, "metrics", "diff")["reports/noise.metrics.json"]
    assert changed
    assert all({"old", "new"} <= set(numbers) for numbers in changed.values())
    assert not any(name.startswith("workspaces/") for name in shown(project, "metrics", "diff"))
    assert "more-flips" in project.run("dvc", "exp", "list", "--name-only").stdout.split()
    assert "Data and pipelines are up to date." in project.run("dvc", "status").stdout


def test_plots_compare_the_experiment_with_the_commit(project: Project) -> None:
    drawn = project.run("dvc", "plots", "diff", "HEAD", "workspace").stdout
    page = (project.path / "dvc_plots" / "index.html").read_text()
    assert "dvc_plots/index.html" in drawn
    assert "://" not in page.replace("https://vega.github.io/schema/", "").replace("http://www.w3.org/2000/svg", "")
    for told in ("Where the rows lie on the map", "What each version is worth", "data_map.png", '"rev": "HEAD"', '"rev": "workspace"'):
        assert told in page, told


def test_a_workspace_takes_an_experiment_too(project: Project) -> None:
    project.run("dvc", "exp", "run", "-S", "workspaces/other/params.yaml:measure.hard=.2", "workspaces/other/dvc.yaml")
    changed = shown(project, "params", "diff")["workspaces/other/params.yaml"]
    assert changed == {"measure.hard": {"old": 0.1, "new": 0.2, "diff": 0.1}}
    told = shown(project, "metrics", "diff", "--targets", "workspaces/other/reports/measure.metrics.json")
    assert "region.hard-to-learn.count" in told["workspaces/other/reports/measure.metrics.json"]
