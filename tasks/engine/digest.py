"""Content digests of files, folders and JSON values."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest_path(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, or of a folder's relative names and their files' bytes."""
    if path.is_dir():
        entries = sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*") if file.is_file())
        return digest_json([[name, digest_path(file)] for name, file in entries])
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_json(value: Any) -> str:
    """Return the SHA-256 of a JSON value in its canonical form (sorted keys, no spaces)."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
