"""Content digests of files, folders and JSON values."""

from __future__ import annotations

import errno
import hashlib
import json
from pathlib import Path
from typing import Any

COMPILED = "__pycache__"
"""Folders that Python leaves beside code."""


def digest_path(path: Path, *, without: str | None = None) -> str:
    """Return the SHA-256 of a file's bytes, or of a folder's relative names and their files' bytes.

    Args:
        path: a file or a folder.
        without: the name of subfolders that do not count.
    """
    if path.is_dir():
        names = sorted((file.relative_to(path), file) for file in path.rglob("*") if file.is_file())
        return digest_json([[name.as_posix(), digest_path(file)] for name, file in names if without not in name.parts])
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "a pipe or a device, not a file", str(path))
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_json(value: Any) -> str:
    """Return the SHA-256 of a JSON value in its canonical form (sorted keys, no spaces)."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
