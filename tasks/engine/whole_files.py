"""Files that somebody may read at any time: as they were before, or whole as they are now."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside itself, as ``NAME.tmp``, and rename it; its folder is made if it is missing.

    Whatever interrupts this, even a power cut, leaves the old content or the new.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_tree(path: Path) -> None:
    """Have a file, or a folder with all that it holds, on the disk itself: what is renamed after this is whole after a power cut."""
    if path.is_dir():
        for inner in sorted(path.rglob("*"), reverse=True):
            if not inner.is_symlink():
                sync_folder(inner) if inner.is_dir() else _sync_file(inner)
        sync_folder(path)
    else:
        _sync_file(path)


def sync_folder(path: Path) -> None:
    """Have the names in a folder on the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
