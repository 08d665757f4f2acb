"""An audit of rows with several labels: short texts, a share of the labels wrong, and one row whose labels cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cartograph.data.arrays import Integers
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tasks.pipelines import steps_of
from tests.label_sets import WORDS, film_frame
from tests.workspaces import open_new, use_project

ROWS = 700


@dataclass(frozen=True)
class LabelAudit:
    """A workspace whose audit has run, and the right labels of its rows, in the file's order."""

    space: Workspace
    truth: Integers


def audited(project: Path, name: str, **sections: Any) -> Workspace:
    """Run every step but the last, which publishes, in a new workspace; return it."""
    given = {"train": {"epochs": 6}, "publish": {"enabled": False}} | sections
    space = open_new(project / "workspaces" / name, **given)
    for step in steps_of(space.settings):
        run_step(step, space)
    return space


@pytest.fixture(scope="session")
def audited_films(tmp_path_factory: pytest.TempPathFactory) -> LabelAudit:
    """The audit of 700 texts with four labels each as columns of 0 and 1, of which one cell is empty."""
    project = tmp_path_factory.mktemp("labels")
    frame, truth = film_frame(ROWS, wrong=0.06)
    given = frame["tags"].str.get_dummies("|")[list(WORDS)].astype(str)
    given.iloc[7, 2] = ""
    frame.drop(columns="tags").join(given).to_csv(project / "films.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        use_project(project, patch)
        return LabelAudit(audited(project, "films", ingest={"train": "films.csv", "text": "text", "label_columns": list(WORDS)}), truth)


@pytest.fixture
def films(audited_films: LabelAudit, monkeypatch: pytest.MonkeyPatch) -> LabelAudit:
    """That audit, in its own project."""
    use_project(audited_films.space.path.parent.parent, monkeypatch)
    return audited_films
