"""Which code and which data versions an audit was made with: the identities that git and DVC give it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

try:  # the one in C, where PyYAML was built with it: a lock has thousands of lines, and the other one takes seconds for them
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]

from tasks.engine.workspace import Workspace, project_root

_WIDTH = 4096
_OWN_OUTPUTS = (":(exclude,glob)**/dvc.lock", ":(exclude,glob)**/reports/**")


def git_commit() -> str | None:
    """Return the commit that is checked out, ``-dirty`` behind it where a tracked file differs; None outside git.

    Files that an audit writes itself (dvc.lock, metrics under reports/) make nothing dirty.
    """
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *_OWN_OUTPUTS)
    return commit if changed == "" else f"{commit}-dirty"


def _git(*arguments: str) -> str | None:
    try:
        command = ["git", "--no-optional-locks", *arguments]
        done = subprocess.run(command, cwd=project_root(), capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def dvc_lock(workspace: Workspace, without: Collection[str]) -> str | None:
    """Return the workspace's dvc.lock as text, but for the stages that need not have ended, such as the one that is about to report it.

    None where it is missing, where it cannot be read, or where it is not about the files that are there now, so that
    nobody takes an earlier audit's versions for this one's.
    """
    path = workspace.path / "dvc.lock"
    try:
        content = SafeLoader(path.read_text(encoding="utf-8")).get_single_data()
        stages = {name: stage for name, stage in content["stages"].items() if name not in without}
        recorded = [entry for stage in stages.values() for entry in stage.get("outs", [])]
        if not stages or not all(_is_there(entry) for entry in recorded):
            return None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None
    # A line per file: it is a tenth shorter so.
    text: str = yaml.safe_dump(content | {"stages": stages}, default_flow_style=None, width=_WIDTH, allow_unicode=True)
    return text


def _is_there(entry: dict[str, Any]) -> bool:
    """Return whether a recorded output is on disk as recorded; of folders, whose files a receipt vouches for, only the size."""
    path = project_root() / entry["path"]
    md5 = str(entry["md5"])
    if md5.endswith(".dir"):
        return path.is_dir() and entry.get("size") in (None, _size(path))
    return path.is_file() and hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() == md5


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
