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
