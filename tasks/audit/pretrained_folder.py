"""Where a pretrained model that params.yaml names stands."""

from __future__ import annotations

from pathlib import Path

from tasks.engine.workspace import project_root


def local_folder(pretrained: str | None) -> Path | None:
    """Return the folder that is meant, as an absolute path; None for a hub id, or where there is none."""
    if pretrained is None:
        return None
    folder = (project_root() / Path(pretrained).expanduser()).absolute()
    plain = pretrained.startswith((".", "/", "~")) or pretrained.count("/") > 1
    return folder if plain or folder.exists() else None
