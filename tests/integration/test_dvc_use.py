"""DVC's own commands on audits, as the page on them gives them: what differs from the last commit, plots, and experiments beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.project import SMALL, Project
from tests.integration.test_docs import IDENTITY, bash, blocks, make_smaller
from tests.integration.test_readme import write_reviews

pytestmark = pytest.mark.slow

# So few rows that `min_flips` would decide how many are flipped.
COMPARED = SMALL.replace("retrain:", "noise: {flip_share: 0.01, min_flips: 4}\nretrain:").replace("burn_in: 0", "burn_in: 0, hard: 0.1")
COMMANDS = [line for block in blocks("tutorials/dvc.md") if block.language == "sh" for line in block.text.splitlines() if line]
ONE_PARAMETER, A_WORKSPACE = (next(place for place, line in enumerate(COMMANDS) if said in line) for said in ("-S noise", "tasks init"))
PLOTS = next(place for place, line in enumerate(COMMANDS) if "plots diff" in line)


def shown(project: Project, *command: str) -> Any:
    return json.loads(project.run("dvc", *command, "--json").stdout)


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project]) -> Project:
    """A project whose default audit is committed, as the page begins."""
    project = make_project()
    project.params(COMPARED)
    project.environment |= IDENTITY
    write_reviews(project.path / "reviews.csv", 200)
    bash(project, "python -m tasks dvc-yaml")
    for command in COMMANDS[:ONE_PARAMETER]:
        bash(project, command)
    return project


def test_an_experiment_changes_one_parameter_and_tells_what_it_did(project: Project) -> None:
    before = project.executions()
    for command in COMMANDS[ONE_PARAMETER:A_WORKSPACE]:
        bash(project, command)
    executed = set(project.executions() - before)
    assert {"noise", "report"} <= executed
    assert not executed & {"ingest", "train", "measure"}
    assert shown(project, "params", "diff")["params.yaml"] == {"noise.flip_share": {"old": 0.01, "new": 0.02, "diff": 0.01}}
    changed = shown(project, "metrics", "diff")["reports/noise.metrics.json"]
    assert changed
    assert all({"old", "new"} <= set(numbers) for numbers in changed.values())
    assert not any(name.startswith("workspaces/") for name in shown(project, "metrics", "diff"))
    assert len(project.run("dvc", "exp", "list", "--name-only").stdout.split()) == 1
    assert "Data and pipelines are up to date." in project.run("dvc", "status").stdout


def test_plots_compare_the_experiment_with_the_commit(project: Project) -> None:
    bash(project, COMMANDS[PLOTS])
    page = (project.path / "dvc_plots" / "index.html").read_text()
    assert "://" not in page.replace("https://vega.github.io/schema/", "").replace("http://www.w3.org/2000/svg", "")
    for printed in ("Where the rows lie on the map", "What each version is worth", "data_map.png", '"rev": "HEAD"', '"rev": "workspace"'):
        assert printed in page, printed


def test_a_workspace_takes_an_experiment_too(project: Project) -> None:
    *made, experiment = COMMANDS[A_WORKSPACE:PLOTS]
    bash(project, made[0])
    make_smaller(project, "workspaces/reviews")
    for command in [*made[1:], experiment]:
        bash(project, command)
    changed = shown(project, "params", "diff")["workspaces/reviews/params.yaml"]["measure.hard"]
    assert changed["old"] != changed["new"] == 0.2
    printed = shown(project, "metrics", "diff", "--targets", "workspaces/reviews/reports/measure.metrics.json")
    assert "region.hard-to-learn.count" in printed["workspaces/reviews/reports/measure.metrics.json"]
