"""Checkpoints of a training, complete or absent: written aside, sealed with the digest of every file, renamed into place.

Weights and the optimiser's state take three times the model, twice over. A finished training needs them no more: a mark of about a
kilobyte, which has the digests of what it computed from and of what it wrote, keeps it from being repeated.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cartograph.data.whole_files import sync, sync_tree, write_whole
from cartograph.dynamics.epoch_files import EPOCH_FILE

_NAME = re.compile(r"epoch=(\d+)")
_SEAL = "seal.json"
_FINISHED = "finished.json"
_KEPT = 2


class Checkpoints:
    """The checkpoints of one training, one folder per finished epoch.

    Args:
        folder: of the checkpoints.
        dynamics: the folder of the dynamics recorded so far; a checkpoint without those of its epochs is ignored.
        identity: what the training computes (recipe and data); a checkpoint of anything else is ignored.
    """

    def __init__(self, folder: Path, dynamics: Path, identity: str) -> None:
        self.folder = folder
        self.dynamics = dynamics
        self.identity = identity

    @contextmanager
    def write(self, epoch: int, best: int | None = None) -> Iterator[Path]:
        """Yield a fresh folder for the state after an epoch (from 0); it is sealed when the block ends without an error.

        The checkpoints of the last two epochs and of the ``best`` one are kept.
        """
        temporary = self.folder / f"epoch={epoch}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        yield temporary
        seal = {"identity": self.identity, "files": _contents(temporary), "dynamics": self._dynamics(epoch)}
        (temporary / _SEAL).write_text(json.dumps(seal, indent=1, sort_keys=True), encoding="utf-8")
        sync_tree(temporary)
        target = self.of(epoch)
        shutil.rmtree(target, ignore_errors=True)
        temporary.rename(target)
        sync(self.folder)
        for old in sorted(self._epochs())[:-_KEPT]:
            if old != best:
                shutil.rmtree(self.of(old), ignore_errors=True)

    def newest(self) -> tuple[int, Path] | None:
        """Return the last epoch whose checkpoint is complete, and its folder; None without one."""
        for epoch in sorted(self._epochs(), reverse=True):
            if self.has(epoch):
                return epoch, self.of(epoch)
        return None

    def of(self, epoch: int) -> Path:
        """Return the folder of an epoch's checkpoint."""
        return self.folder / f"epoch={epoch}"

    def has(self, epoch: int) -> bool:
        """Return whether an epoch's checkpoint is complete."""
        folder = self.of(epoch)
        try:
            seal: dict[str, Any] = json.loads((folder / _SEAL).read_text(encoding="utf-8"))
            wanted = {"identity": self.identity, "files": _contents(folder), "dynamics": self._dynamics(epoch)}
        except (OSError, ValueError):
            return False
        return seal == wanted

    def finish(self, written: Iterable[Path]) -> None:
        """Mark the training as finished by what it has written, files or folders beside the checkpoints, then delete the checkpoints."""
        found = [path for top in written for path in ([top] if top.is_file() else top.rglob("*")) if path.is_file()]
        for path in found:
            sync(path)
        root = self.folder.parent
        mark = {"identity": self.identity, "files": {path.relative_to(root).as_posix(): _digest(path) for path in found}}
        write_whole(self.folder / _FINISHED, json.dumps(mark, indent=1, sort_keys=True))
        self._delete()

    def finished(self) -> bool:
        """Return whether the training has finished and all that it wrote is whole; checkpoints that are left then go."""
        try:
            mark: dict[str, Any] = json.loads((self.folder / _FINISHED).read_text(encoding="utf-8"))
            whole: bool = mark["identity"] == self.identity
            whole = whole and all(_digest(self.folder.parent / name) == digest for name, digest in mark["files"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False
        if whole:
            self._delete()
        return whole

    def _delete(self) -> None:
        for path in self.folder.glob("epoch=*"):
            shutil.rmtree(path, ignore_errors=True)

    def _epochs(self) -> list[int]:
        names = [_NAME.fullmatch(path.name) for path in self.folder.iterdir()] if self.folder.is_dir() else []
        return [int(name[1]) for name in names if name]

    def _dynamics(self, epoch: int) -> dict[str, str]:
        files = [(path, name) for path in self.dynamics.iterdir() if (name := EPOCH_FILE.fullmatch(path.name))]
        return {path.name: _digest(path) for path, name in files if int(name[1]) <= epoch}


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder by its relative name."""
    return {path.relative_to(folder).as_posix(): _digest(path) for path in folder.rglob("*") if path.is_file()}


def _contents(folder: Path) -> dict[str, str]:
    return {name: digest for name, digest in file_digests(folder).items() if name != _SEAL}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
