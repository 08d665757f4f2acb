"""Which audits of a workspace read which versions of its tables and queries: the one that is there, and those of earlier commits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cartograph.data.json_files import read_json
from cartograph.read.databases import PREFIX
from tasks.audit.sources import FETCHED
from tasks.engine.workspace import project_root

NOW = ""
"""The audit that is in the workspace, as no commit has it."""

_RECORD = "files.json"
_DIGITS, _FEWEST = 12, 6
"""Digits of a SHA-256 that name the rows of a query, and the fewest that may be typed."""


def is_revision(name: str) -> bool:
    """Return whether git knows a commit by this name."""
    return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").returncode == 0


def audits_by_version(folder: Path) -> dict[str, str]:
    """Return which audit of a workspace read each version of its inputs: a commit, the newest that has it, or ``NOW``; newest first.

    The version of a Delta or Iceberg table is its own. That of a query is how the SHA-256 of the rows that were kept of it begins.

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


def version_named(versions: Iterable[str], name: str) -> str | None:
    """Return the version that a name means: itself, or of a query's rows the only one whose SHA-256 begins so; None without one.

    >>> version_named(["3", "f2a9c14be07d"], "f2a9c1")
    'f2a9c14be07d'
    """
    known = list(versions)
    if name in known:
        return name
    found = [one for one in known if len(one) == _DIGITS and len(name) >= _FEWEST and (one.startswith(name) or name.startswith(one))]
    return found[0] if len(found) == 1 else None


def _versions(record: Mapping[str, Any]) -> Iterator[str]:
    for path, one in record.items():
        if isinstance(one, dict) and "version" in one:
            yield str(one["version"])
        elif isinstance(one, dict) and path.startswith(PREFIX) and "sha256" in one:
            yield str(one["sha256"])[:_DIGITS]


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
