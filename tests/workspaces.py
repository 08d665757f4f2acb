"""Workspaces for tests: the one place that makes them, in a project of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cartograph.config import Params
from tasks.engine.workspace import Workspace


def workspace(path: Path, **sections: Params) -> Workspace:
    """Return the workspace in a folder, with these sections of its params.yaml."""
    return Workspace(path, sections)


def use_project(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the project that everything belongs to, until the test ends; return it."""
    monkeypatch.setattr("tasks.engine.workspace._project", path)
    return path
