"""What a person sees while steps run: a progress bar on long work (off a terminal a line every half minute), and one line per step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from cartograph.data.progress import Course, Pace
from cartograph.errors import CartographError, WaitingError
from cartograph.wording import duration, roughly, visible

console = Console(highlight=False)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed and task.fields["left"] is None else "")


class _Left(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        left = task.fields["left"]
        return super().render(task) if left is None else Text(f"about {roughly(left)} left")


_columns = (
    TextColumn("{task.description:<10}"),
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("{task.fields[unit]}"),
    _Rate(),
    _Left(),
)
_bars = Progress(*_columns, console=console, transient=True, disable=not console.is_terminal)
_users = 0
_guard = Lock()
EVERY_SECONDS = 30.0
"""Off a terminal, how often a step that is still running says so."""
LONG_SECONDS = 5.0
"""From then on a step that counts nothing has a bar too."""
_TICK_SECONDS = 1.0


_courses: dict[str, Course] = {}
_step: ContextVar[str | None] = ContextVar("step", default=None)


class Update(Protocol):
    """Called with how far a step is; where it expects to take other than in proportion, also with the seconds left."""

    def __call__(self, done: int, total: int, left: float | None = None) -> None:
        """Show it."""


@contextmanager
def progress(step: str, unit: str = "examples") -> Iterator[Update]:
    """Show a bar while the block runs; call the yielded function with (done, total).

    Steps that run at the same time share one display. Nothing is drawn where the output is not a terminal.
    """
    name, bar = _step.get() or step, _add(step, unit)
    pace = Pace(unit)

    def update(done: int, total: int, left: float | None = None) -> None:
        _bars.update(bar, completed=done, total=total, left=left)
        course = pace.course(done, total, monotonic(), left)
        if total > 0:
            _courses[name] = course

    try:
        yield update
    finally:
        _courses.pop(name, None)
        _remove(bar)


def _add(description: str, unit: str) -> TaskID:
    global _users
    with _guard:
        _users += 1
        if _users == 1:
            _bars.start()
        return _bars.add_task(description, total=None, unit=unit, left=None)


def _remove(bar: TaskID) -> None:
    global _users
    with _guard:
        _users -= 1
        _bars.remove_task(bar)
        if _users == 0:
            _bars.stop()


@contextmanager
def signs_of_life(step: str, every: float = EVERY_SECONDS, note: Path | None = None) -> Iterator[None]:
    """While the block runs, show that it does: on a terminal as a bar, elsewhere in a line from time to time, with how far the step is.

    Args:
        step: its name; what it reports to ``progress`` is shown with it.
        every: seconds between two lines.
        note: file where how far it is stands meanwhile, for ``course_noted``; None: nowhere.
    """
    over, started = Event(), monotonic()

    def watch() -> None:
        spoken, noted = started, None
        bar: TaskID | None = None
        while not over.wait(min(every, _TICK_SECONDS)):
            now, course = monotonic(), _courses.get(step)
            if note is not None and course is not None and course != noted:
                _write(course, note)
                noted = course
            if not console.is_terminal:
                if now - spoken >= every:
                    spoken = now
                    say(f"{step:<18} running for {duration(now - started)}{f': {course}' if course else ''}")
            elif bar is None and course is None and now - started > LONG_SECONDS:
                bar = _add(step, "")
            elif bar is not None and course is not None:
                _remove(bar)
                bar = None
        if bar is not None:
            _remove(bar)
        if note is not None:
            with suppress(OSError):
                note.unlink(missing_ok=True)

    watcher = Thread(target=watch, name=f"{step} is running", daemon=True)
    watcher.start()
    token = _step.set(step)
    try:
        yield
    finally:
        _step.reset(token)
        over.set()
        watcher.join()


def _write(course: Course, note: Path) -> None:
    fresh = note.with_name(f"{note.name}.new")
    # Nobody's audit fails because this could not be written.
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(asdict(course)), encoding="utf-8")
        fresh.replace(note)


def course_noted(note: Path) -> Course | None:
    """Return how far the step is that leaves this in ``note``, in this process or another; None where that is not known."""
    try:
        return Course(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def step_line(step: str, summary: str, seconds: float | None) -> None:
    """Print a finished step: its name, its summary, and its time (``cached`` for None)."""
    console.print(f"[bold]{step:<18}[/bold] {escape(visible(summary)):<62} {time_of(seconds):>9}", soft_wrap=True)


def time_of(seconds: float | None) -> str:
    """Return how long a step took; None: it did not have to run."""
    return "cached" if seconds is None else f"{seconds:.1f} s"


def say(message: str) -> None:
    """Print a line as it is, without markup."""
    console.print(escape(visible(message)), soft_wrap=True)


def conclude(error: CartographError) -> None:
    """Print what a command ended with: an error on standard error; where people have to answer first, that is not an error."""
    if isinstance(error, WaitingError):
        console.print(f"[bold]waiting[/bold] {escape(visible(str(error)))}", soft_wrap=True)
    else:
        complain(str(error))


def complain(message: str) -> None:
    """Print an error's sentence on standard error."""
    Console(stderr=True, highlight=False).print(f"[bold]error[/bold] {escape(visible(message))}", soft_wrap=True)
