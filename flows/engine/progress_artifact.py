"""How far a long step is, as a progress artifact of its task run in Prefect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact

from cartograph.data.progress import Course
from cartograph.wording import duration
from tasks.presentation.console import course_noted

EVERY_SECONDS = 5.0
"""How long a step runs before it has an artifact, and how often that is written."""
_PATIENCE_SECONDS = 10.0


@contextmanager
def progress_shown(name: str, note: Path, every: float = EVERY_SECONDS) -> Iterator[None]:
    """While the block runs, keep a progress artifact of the current task run: its share in per cent, what is counted, rate and time left.

    A step that says nothing of how far it is has none. What Prefect's server does not take changes nothing about the step.

    Args:
        name: of the step.
        note: where the step notes how far it is, whatever process it runs in.
        every: seconds until the artifact is made, and between two writings.
    """
    over, started, shown = Event(), monotonic(), _Shown(name)

    def watch() -> None:
        while not over.wait(every):
            if (course := course_noted(note)) is not None:
                with suppress(Exception):
                    shown.write(100 * course.done / course.total, course)

    # A thread does not know the task run by itself.
    watcher = Thread(target=copy_context().run, args=(watch,), name=f"{name} in Prefect", daemon=True)
    watcher.start()
    try:
        yield
        over.set()
        watcher.join(_PATIENCE_SECONDS)
        if shown.artifact is not None:
            with suppress(Exception):
                shown.write(100.0, f"done in {duration(monotonic() - started)}")
    finally:
        over.set()


class _Shown:
    def __init__(self, name: str) -> None:
        self._name = name
        self.artifact: UUID | None = None

    def write(self, per_cent: float, what: Course | str) -> None:
        line = f"{self._name}: {what}"
        if self.artifact is None:
            self.artifact = cast(UUID, create_progress_artifact(min(per_cent, 100.0), description=line))
        else:
            update_progress_artifact(self.artifact, min(per_cent, 100.0), description=line)
