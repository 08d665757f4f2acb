"""The check that no test changes the checkout, on a repository of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.checkout import changes, uncommitted


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".gitignore").write_text("/data/\n__pycache__/\n/.coverage*\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code.py").write_text("1")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "made.txt").write_text("1")
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "One"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("name", ["src/code.py", "data/made.txt", "data/new/file é.txt", "workspaces/reviews/params.yaml"])
def test_a_file_that_is_written_is_a_change_whether_git_ignores_it_or_not(repository: Path, name: str) -> None:
    before = uncommitted(repository)
    assert changes(before, uncommitted(repository)) == []
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / name).write_text("2")
    assert changes(before, uncommitted(repository)) == [name]


@pytest.mark.parametrize("name", ["src/code.py", "data/made.txt"])
def test_a_file_that_is_deleted_is_a_change(repository: Path, name: str) -> None:
    before = uncommitted(repository)
    (repository / name).unlink()
    assert changes(before, uncommitted(repository)) == [name]


def test_caches_are_no_change(repository: Path) -> None:
    before = uncommitted(repository)
    for name in ("src/deep/__pycache__/code.pyc", ".pytest_cache/v/last", ".hypothesis/examples/1", ".coverage", ".coverage.host.1"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("")
    assert changes(before, uncommitted(repository)) == []


def test_a_folder_outside_of_git_has_no_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "file").write_text("")
    assert uncommitted(tmp_path) == {}
