"""What a person sees while steps run: a progress bar on long work (off a terminal a line every half minute), and one line per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from unicodedata import category

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from cartograph.errors import CartographError, WaitingError

console = Console(highlight=False)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


_columns = (
    TextColumn("{task.description:<10}"),
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("{task.fields[unit]}"),
    _Rate(),
    TimeRemainingColumn(),
)
_bars = Progress(*_columns, console=console, transient=True, disable=not console.is_terminal)
_users = 0
_guard = Lock()
_counts: dict[str, tuple[int, int, str]] = {}
EVERY_SECONDS = 30.0
"""Off a terminal, how often a step that is still running says so."""


@contextmanager
def progress(step: str, unit: str = "examples") -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; call the yielded function with (done, total).

    Steps that run at the same time share one display. Nothing is drawn where the output is not a terminal.
    """
    global _users
    with _guard:
        _users += 1
        if _users == 1:
            _bars.start()
        bar = _bars.add_task(step, total=None, unit=unit)

    def update(done: int, total: int) -> None:
        _bars.update(bar, completed=done, total=total)
        _counts[step] = (done, total, unit)

    try:
        yield update
    finally:
        with _guard:
            _users -= 1
            _counts.pop(step, None)
            _bars.remove_task(bar)
            if _users == 0:
                _bars.stop()


@contextmanager
def signs_of_life(step: str, every: float = EVERY_SECONDS) -> Iterator[None]:
    """While the block runs and the output is not a terminal, say from time to time how far the step is.

    Args:
        step: its name; what it reports to ``progress`` is shown with it.
        every: seconds between two lines.
    """
    if console.is_terminal:
        yield
        return
    over, started = Event(), monotonic()

    def speak() -> None:
        while not over.wait(every):
            done, total, unit = _counts.get(step.partition("@")[0], (0, 0, ""))
            far = f": {done:,} of {total:,} {unit}" if total else ""
            say(f"{step:<18} running for {monotonic() - started:,.0f} s{far}")

    Thread(target=speak, name=f"{step} is running", daemon=True).start()
    try:
        yield
    finally:
        over.set()


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
    time = "cached" if seconds is None else f"{seconds:.1f} s"
    console.print(f"[bold]{step:<18}[/bold] {escape(visible(summary)):<62} {time:>9}", soft_wrap=True)


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
