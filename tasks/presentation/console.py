"""What a person sees while steps run: a progress bar on long work (off a terminal a line every half minute), and one line per step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Protocol
from unicodedata import category

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from cartograph.errors import CartographError, WaitingError

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


@dataclass(frozen=True)
class Course:
    """How far a running step is.

    Attributes:
        done: of ``total``, which is positive.
        total: what there is to do.
        unit: what is counted: ``examples``, ``files``.
        rate: how many a second since the first was counted; 0: not known yet.
        left: seconds that the step itself expects to take; None: as many as the rate says.

    >>> print(Course(1200, 6000, "examples", 250.0))
    1,200 of 6,000 examples, 250/s, 19 s left
    """

    done: int
    total: int
    unit: str
    rate: float
    left: float | None = None

    def __str__(self) -> str:
        far = f"{self.done:,} of {self.total:,} {self.unit}"
        if self.left is not None:
            return f"{far}, about {roughly(self.left)} left"
        if self.rate <= 0:
            return far
        speed = f"{self.rate:,.0f}/s" if self.rate >= 10 else f"{self.rate:.2g}/s"
        return f"{far}, {speed}, {duration((self.total - self.done) / self.rate)} left"


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
    first: list[tuple[float, int]] = []

    def update(done: int, total: int, left: float | None = None) -> None:
        _bars.update(bar, completed=done, total=total, left=left)
        now = monotonic()
        if not first or done < first[0][1]:
            first[:] = [(now, done)]
        (since, before) = first[0]
        if total > 0:
            _courses[name] = Course(done, total, unit, (done - before) / (now - since) if now > since else 0.0, left)

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


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(8.4), duration(95), duration(7500)
    ('8 s', '1 min 35 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def roughly(seconds: float) -> str:
    """Return a time that is only estimated, without digits that nobody knows.

    >>> roughly(3), roughly(47), roughly(372), roughly(9300)
    ('5 s', '45 s', '6 min', '2.6 h')
    """
    if (fives := max(5 * round(seconds / 5), 5)) < 60:
        return f"{fives} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def visible(text: str) -> str:
    """Return text that a terminal shows and does not obey: control characters, and those that turn the direction, by their codes.

    >>> print(visible("a\x1b[31mb\u202ec"), visible("5\u00a0%"))
    a\\x1b[31mb\\u202ec 5\u00a0%
    """
    return "".join(letter if _is_plain(letter) else letter.encode("unicode_escape").decode() for letter in text)


def _is_plain(letter: str) -> bool:
    # Joiners belong to the writing of some languages.
    return letter.isprintable() or letter in "\n\u200c\u200d" or category(letter) == "Zs"


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
