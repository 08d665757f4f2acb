"""Which audits of a workspace read which versions of its tables: the one that is there, and those of earlier commits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cartograph.data.json_files import read_json
from tasks.audit.sources import FETCHED
from tasks.engine.workspace import project_root

NOW = ""
"""The audit that is in the workspace, as no commit has it."""

_RECORD = "files.json"


def is_revision(name: str) -> bool:
    """Return whether git knows a commit by this name."""
    return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").returncode == 0


def audits_by_version(folder: Path) -> dict[str, str]:
    """Return which audit of a workspace read each version of its Delta or Iceberg tables: a commit, the newest that has it, or ``NOW``.

    Args:
        folder: of the workspace, from the project's root; it need no longer be there.
    """
    file = folder / FETCHED / _RECORD
    found = dict.fromkeys(_versions(_now(project_root() / file)), NOW)
    listed = _git("log", "--format=%H", "--", (folder / "dvc.lock").as_posix())
    for commit in listed.stdout.split():
        for version in _versions(_at(file, commit)):
            found.setdefault(version, commit)
    return found


def _versions(record: Mapping[str, Any]) -> Iterator[str]:
    return (str(one["version"]) for one in record.values() if isinstance(one, dict) and "version" in one)


def _now(file: Path) -> dict[str, Any]:
    try:
        found = read_json(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _at(file: Path, commit: str) -> dict[str, Any]:
    """Return the record of a commit; an empty one where it has none, or DVC's cache no longer has it."""
    import dvc.api
    from dvc.exceptions import DvcException

    try:
        found = json.loads(dvc.api.read(file.as_posix(), repo=str(project_root()), rev=commit))
    except (DvcException, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=project_root(), capture_output=True, text=True, check=False)
