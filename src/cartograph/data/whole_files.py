"""Files that somebody may read at any time: as they were before, or whole as they are now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file as ``whole_file`` does; its folder is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file beside a path, ``NAME.tmp``, that is renamed to it when the block ends without an error.

    Whatever interrupts this, even a power cut, leaves the old content or the new.
    """
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync(path.parent)


def sync_tree(path: Path) -> None:
    """Have a file, or a folder with all that it holds, on the disk itself: what is renamed after this is whole after a power cut."""
    for inner in sorted(path.rglob("*"), reverse=True) if path.is_dir() else ():
        if not inner.is_symlink():
            sync(inner)
    sync(path)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
