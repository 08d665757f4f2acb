"""The command `prune`: lists files of earlier and killed audits that no next audit uses, and removes them on request."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from cartograph.errors import InputError
from tasks.audit.publish import mark_left
from tasks.commands.leftovers import Leftover, of_project, of_workspace, unused_cache
from tasks.engine.workspace import project_root
from tasks.pipelines import all_workspaces, open_workspace
from tasks.presentation.console import say

_UNITS = ("B", "kB", "MB", "GB", "TB")


def prune(
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of one audit; without it, all audits and DVC's cache.")] = "",
    remove: Annotated[bool, typer.Option("--remove", help="Remove what is listed; without it, nothing is deleted.")] = False,
) -> None:
    """List files that no later audit would use, with their sizes; with --remove, delete them."""
    freed = 0
    for space in [open_workspace(workspace)] if workspace else all_workspaces():
        mark_left(space)
        try:
            with space.lock("python -m tasks prune"):
                freed += _list(space.relative, of_workspace(space), remove=remove)
        except InputError as error:
            if workspace:
                raise
            say(f"{space.relative}: skipped: {error}")
    if not workspace:
        freed += _list("project", of_project(), remove=remove)
        freed += _cache(remove=remove)
    if remove:
        say(f"{size_text(freed)} freed.")
    else:
        again = f"python -m tasks prune{f' --workspace {shlex.quote(workspace)}' if workspace else ''} --remove"
        say(f"{size_text(freed)} could be freed, nothing was removed; `{again}` removes it." if freed else "There is nothing to remove.")


def _list(where: str, given: Iterable[Leftover], *, remove: bool) -> int:
    """Print the leftovers of a place, the largest first, and remove them if asked; return their bytes."""
    leftovers = sorted(given, key=lambda one: (-one.size, one.what))
    if leftovers:
        say(where)
    for one in leftovers:
        say(f"  {size_text(one.size):>8}  {one.what}: {one.why}")
        if remove:
            for path in one.paths:
                _remove(path)
    return sum(one.size for one in leftovers)


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except PermissionError as error:
        raise InputError(f"{path} cannot be removed ({error.strerror}); change its permissions and run this again.") from error


def _cache(*, remove: bool) -> int:
    """Print what DVC's cache holds that nothing refers to, and have DVC remove it if asked; return its bytes."""
    if not (project_root() / ".dvc").is_dir():
        return 0
    unused = unused_cache(remove=remove)
    if unused is None:
        say("DVC's cache: skipped, since it is outside the project, and other projects may use it; `dvc gc --projects` considers them.")
        return 0
    size, count = unused
    if count:
        what = "files that no folder here, commit, experiment or run in MLflow uses"
        say(f"  {size_text(size):>8}  DVC's cache: {count:,} {what}")
    return size


def size_text(size: int) -> str:
    """Return a number of bytes as people read it: ``640 B``, ``12 kB``, ``1.3 GB``."""
    value, unit = float(size), _UNITS[0]
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.1f} {unit}" if unit != _UNITS[0] and value < 9.95 else f"{value:.0f} {unit}"
