"""Where a pretrained model is that params.yaml names."""

from __future__ import annotations

from pathlib import Path

from tasks.engine.workspace import project_root


def local_folder(pretrained: str | None) -> Path | None:
    """Return the folder of a pretrained model, as an absolute path; None for a hub id, or where no model is named."""
    if pretrained is None:
        return None
    folder = (project_root() / Path(pretrained).expanduser()).absolute()
    plain = pretrained.startswith((".", "/", "~")) or pretrained.count("/") > 1
    return folder if plain or folder.exists() else None
