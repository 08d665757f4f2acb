"""Workspaces for tests, in a project of the test's own: the one place that makes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.config import Section, Settings
from cartograph.schema import dataset_info
from tasks.engine.workspace import Workspace
from tasks.pipelines import open_workspace
from tasks.pipelines import sections as models_of

Given = Section | Mapping[str, Any]
"""A section of params.yaml: its model, or what the file would say."""


def settings_of(**sections: Given) -> Settings:
    """Return the settings that have these sections."""
    models = models_of(sections)
    return Settings({name: given if isinstance(given, Section) else models[name].model_validate(given) for name, given in sections.items()})


def ingest_of(train: pa.Table, *evaluation: pa.Table, **more: Any) -> dict[str, Any]:
    """Return the section ``ingest`` that reads such sets from files."""
    info, others = dataset_info(train.schema), [dataset_info(table.schema) for table in evaluation]
    columns = {"text": info.text, "options": info.options, "label": "label"} | ({"image": info.images} if info.images else {})
    files = {other.name: {"files": [f"{other.name}.csv"], "domain": other.domain} for other in others}
    return {"source": "files", "train": "train.csv", "evaluation": files, **columns, **more}


def make_workspace(path: Path, *sets: pa.Table, **sections: Given) -> Workspace:
    """Return the workspace in a folder.

    Args:
        path: its folder.
        sets: the train set and evaluation sets, written as the step ``ingest`` leaves them, which gets the section that fits them.
        sections: those of its params.yaml.
    """
    for table in sets:
        save(table, path / f"data/ingest/{dataset_info(table.schema).name}.parquet")
    return Workspace(path, settings_of(**({"ingest": ingest_of(*sets)} if sets else {}) | sections))


def with_sections(space: Workspace, **sections: Given) -> Workspace:
    """Return the same workspace with other sections."""
    return make_workspace(space.path, **{**space.settings, **sections})


def open_new(path: Path, **sections: Mapping[str, Any]) -> Workspace:
    """Write a params.yaml with these sections, and open the workspace as commands do: what is left out has its defaults."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "params.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    return open_workspace(path)


def use_project(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the project that workspaces belong to and that relative paths start from; return it."""
    monkeypatch.setattr("tasks.engine.workspace._project", path)
    # Where commands are typed; else workspaces of the checkout that tests run in, of the same name, would be found first.
    monkeypatch.chdir(path)
    return path


def save(table: pa.Table, path: Path) -> None:
    """Write a table to a file, in folders that are made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
