"""One process at a time in the project's DVC repository: DVC itself lets one in, and has the others give up after seconds."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def dvc_turn(project: Path) -> Iterator[None]:
    """Wait for the audits, and for the housekeeping, that have DVC at work in a project."""
    folder = project / ".dvc" / "tmp"
    folder.mkdir(exist_ok=True)
    with (folder / "cartograph.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
