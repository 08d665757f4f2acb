"""What a command ends with: 0 done, 1 what was found fails a check, 2 its input cannot be used, 3 people have to answer first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.project import Project

LIMITED = """\
ingest: {source: files, train: train.csv, text: text, quarantine_limit: 0.1}
train: {model: bow, epochs: 2, device: cpu}
retrain: {subsets: []}
aflite: {enabled: false}
bias: {enabled: false}
publish: {enabled: false}
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project]) -> Project:
    project = make_project()
    lines = [f"text number {number} of many,{'good' if number % 2 else 'bad'}" for number in range(30)]
    (project.path / "train.csv").write_text("\n".join(["text,label", *lines, *[",good"] * 10]) + "\n")
    project.params(LIMITED)
    project.run("tasks", "dvc-yaml")
    return project


def test_0_where_everything_is_done(project: Project) -> None:
    assert "ingest" in project.run("tasks", "list", code=0).stdout


def test_1_where_what_was_found_fails_a_check(project: Project) -> None:
    said = " ".join(project.run("tasks", "run", "ingest", code=1).stderr.split())
    assert "error train: 10 of 40 rows (25 %) cannot be used, more than the 10 % of `ingest.quarantine_limit`" in said
    assert "Traceback" not in said
    assert (project.path / "data/ingest.failed/quarantine.parquet").exists()


def test_1_of_the_flow_and_its_sentence(project: Project) -> None:
    said = " ".join(project.run("flows.audit", code=1).stderr.split())
    assert said.startswith("error train: 10 of 40 rows (25 %) cannot be used")


def test_2_where_the_input_cannot_be_used(project: Project) -> None:
    for command in (("tasks", "run", "nothing"), ("tasks", "list", "--workspace", "workspaces/none"), ("tasks", "no-such-command")):
        assert "Traceback" not in project.run(*command, code=2).stderr
