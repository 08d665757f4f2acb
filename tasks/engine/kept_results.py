"""Results that were computed before, kept in the workspace's state by what they follow from: cells often ask for the same one.

They are what checkpoints are: found again they save time, lost or damaged they are computed again, with the same bytes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tasks.engine.digest import digest_path
from tasks.engine.workspace import Workspace

_RESULT, _DIGEST = "result", "digest"
_MOST = 64


def computed_once(workspace: Workspace, section: str, key: str, compute: Callable[[Path], object], *, again: bool = False) -> Path:
    """Return the folder of a result: the one that is kept under this key where it is whole, else what is computed now.

    Args:
        workspace: whose state keeps it.
        section: the kind of result; of each kind the last 64 used are kept.
        key: a digest of everything that the result follows from.
        compute: writes the result into the empty folder that it is given.
        again: compute it even where it is kept.
    """
    parent = workspace.state / "results" / section
    folder = parent / key
    if again or not _whole(folder):
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=".") as name:
            made = Path(name) / "made"
            (made / _RESULT).mkdir(parents=True)
            compute(made / _RESULT)
            (made / _DIGEST).write_text(digest_path(made / _RESULT), encoding="utf-8")
            _remove(folder)
            # Another process may have put the same result there meanwhile.
            with suppress(OSError):
                made.rename(folder)
        _forget(parent)
    folder.touch()
    return folder / _RESULT


def _whole(folder: Path) -> bool:
    try:
        return (folder / _DIGEST).read_text(encoding="utf-8") == digest_path(folder / _RESULT)
    except (OSError, ValueError):
        return False


def _forget(parent: Path) -> None:
    kept = sorted((path for path in parent.iterdir() if not path.name.startswith(".")), key=lambda path: path.stat().st_mtime_ns)
    for path in kept[:-_MOST]:
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
