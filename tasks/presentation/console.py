"""What a person sees while steps run: a progress bar on long work, and one line per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

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

    try:
        yield update
    finally:
        with _guard:
            _users -= 1
            _bars.remove_task(bar)
            if _users == 0:
                _bars.stop()


def step_line(step: str, summary: str, seconds: float | None) -> None:
    """Print a finished step: its name, its summary, and its time (``cached`` for None)."""
    time = "cached" if seconds is None else f"{seconds:.1f} s"
    console.print(f"[bold]{step:<18}[/bold] {escape(summary):<62} {time:>9}", soft_wrap=True)


def say(message: str) -> None:
    """Print a line as it is, without markup."""
    console.print(escape(message), soft_wrap=True)


def conclude(error: CartographError) -> None:
    """Print what a command ended with: an error on standard error; where people have to answer first, that is none."""
    if isinstance(error, WaitingError):
        console.print(f"[bold]waiting[/bold] {escape(str(error))}", soft_wrap=True)
    else:
        complain(str(error))


def complain(message: str) -> None:
    """Print an error's sentence on standard error."""
    Console(stderr=True, highlight=False).print(f"[bold]error[/bold] {escape(message)}", soft_wrap=True)
