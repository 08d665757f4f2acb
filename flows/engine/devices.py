"""Which GPU a worker process has: one each, for as long as it lives."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TextIO

from tasks.engine.surroundings import prepare

VISIBLE = "CUDA_VISIBLE_DEVICES"

_own: str | None = None
_held: list[TextIO] = []


def places() -> str:
    """Return a new folder in which workers take places; it goes with this process."""
    folder = tempfile.mkdtemp(prefix="cartograph-workers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def start_worker(folder: str, gpus: Sequence[str]) -> None:
    """Begin a worker process: set its switches, and give it a GPU of its own where there are any.

    Args:
        folder: from ``places``; "" where there are no GPUs.
        gpus: their names, as CUDA_VISIBLE_DEVICES has them; more workers than GPUs share them in turn.
    """
    global _own
    prepare()
    if gpus:
        _own = gpus[take_place(Path(folder)) % len(gpus)]
        keep_own_gpu()


def take_place(folder: Path) -> int:
    """Take the lowest place that no living process has, until this one ends."""
    for place in count():
        file = (folder / str(place)).open("w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        _held.append(file)
        break
    return place


def keep_own_gpu() -> None:
    """Show this process its own GPU alone, where it was given one: Prefect hands every task the environment of its parent."""
    if _own is not None:
        os.environ[VISIBLE] = _own
