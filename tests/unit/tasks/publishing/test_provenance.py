from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
import yaml

from tasks.engine.workspace import Workspace
from tasks.publishing import provenance
from tests.workspaces import make_workspace


@pytest.fixture
def project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    return project


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_outside_of_git_there_is_no_commit(project: Path) -> None:
    assert provenance.git_commit() is None


def test_a_commit_says_whether_a_tracked_file_differs_from_it(project: Path) -> None:
    (project / "workspaces/w/reports").mkdir(parents=True)
    tracked = {"code.py": "1", "dvc.lock": "a", "workspaces/w/dvc.lock": "a", "workspaces/w/reports/x.metrics.json": "{}"}
    for name, text in tracked.items():
        (project / name).write_text(text)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "one")
    commit = git(project, "rev-parse", "HEAD")
    assert provenance.git_commit() == commit
    (project / "untracked").write_text("")
    for name in set(tracked) - {"code.py"}:
        (project / name).write_text("what an audit writes itself")
    assert provenance.git_commit() == commit
    (project / "code.py").write_text("2")
    assert provenance.git_commit() == f"{commit}-dirty"


def lock(project: Path) -> Workspace:
    (project / "data/made").mkdir(parents=True)
    (project / "data/made/a.txt").write_text("12345")
    (project / "data/made.receipt.json").write_text("{}")
    outs = [
        {"path": "data/made", "hash": "md5", "md5": "0" * 32 + ".dir", "size": 5, "nfiles": 1},
        {"path": "data/made.receipt.json", "hash": "md5", "md5": hashlib.md5(b"{}").hexdigest(), "size": 2},
    ]
    stages = {"make": {"cmd": "x", "outs": outs}, "publish": {"cmd": "y", "outs": [{"path": "data/gone", "md5": "1", "size": 1}]}}
    (project / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    return make_workspace(project)


def test_the_lock_is_reported_without_the_stages_that_need_not_have_ended(project: Path) -> None:
    space = lock(project)
    content = yaml.safe_load((project / "dvc.lock").read_text())
    content["stages"]["first"] = {"cmd": "z", "outs": [{"path": "page.html", "md5": "an earlier audit's", "size": 1}]}
    (project / "dvc.lock").write_text(yaml.safe_dump(content))
    assert provenance.dvc_lock(space, without=("publish",)) is None
    said = provenance.dvc_lock(space, without=("publish", "first"))
    assert said is not None
    content = yaml.safe_load(said)
    assert content["schema"] == "2.0"
    assert list(content["stages"]) == ["make"]


@pytest.mark.parametrize(
    "change", ["a file differs", "a folder's size differs", "a folder is gone", "no lock", "garbled lock", "empty lock"]
)
def test_a_lock_of_other_files_is_not_reported(project: Path, change: str) -> None:
    space = lock(project)
    if change == "a file differs":
        (project / "data/made.receipt.json").write_text("[]")
    elif change == "a folder's size differs":
        (project / "data/made/a.txt").write_text("1234")
    elif change == "a folder is gone":
        (project / "data/made/a.txt").unlink()
        (project / "data/made").rmdir()
    elif change == "no lock":
        (project / "dvc.lock").unlink()
    else:
        (project / "dvc.lock").write_text("stages: [" if change == "garbled lock" else "")
    assert provenance.dvc_lock(space, without=("publish",)) is None
