"""What the command `cartograph` shows: its lines, and how far a long audit is."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from cartograph.data.progress import Pace, Progress
from cartograph.wording import visible

EVERY_SECONDS = 10.0
"""Off a terminal, how often a training says how far it is."""
LONG_SECONDS = 5.0
"""From then on a part has a line on a terminal."""
_BETWEEN = 0.2
_CLEAR = "\r\x1b[K"


@contextmanager
def watched() -> Iterator[tuple[Progress, Progress, Progress]]:
    """Show how far an audit is while the block runs.

    Yields what its training, the models that judge its labels, and those by which ways of cleaning are compared, call. On a terminal it is
    a line that is written over, once a part takes long; elsewhere a line from time to time.
    """
    folds, judging, comparing = "folds of models", "judging labels", "comparing ways of cleaning"
    with _interruptible() as stopped:
        if not sys.stderr.isatty():
            parts = _lines("examples"), _lines(f"{folds}, {judging}"), _lines(f"{folds}, {comparing}")
            yield _stopping(parts[0], stopped), _stopping(parts[1], stopped), _stopping(parts[2], stopped)
            return
        try:
            drawn = _line("training", "examples"), _line(judging, folds), _line(comparing, folds)
            yield _stopping(drawn[0], stopped), _stopping(drawn[1], stopped), _stopping(drawn[2], stopped)
        finally:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Note an interruption while the block runs: where an object is being let go of, Python loses the exception, and prints it, too."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield stopped
        return

    def stop(number: int, frame: object) -> NoReturn:
        stopped.set()
        raise KeyboardInterrupt

    def lost(unraised: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraised.exc_type, KeyboardInterrupt):
            before(unraised)

    before, sys.unraisablehook = sys.unraisablehook, lost
    signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = before


def _stopping(update: Progress, stopped: threading.Event) -> Progress:
    def checked(done: int, total: int) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        update(done, total)

    return checked


def _line(part: str, unit: str) -> Progress:
    pace, drawn = Pace(unit), 0.0
    began: float | None = None

    def update(done: int, total: int) -> None:
        nonlocal began, drawn
        now = time.monotonic()
        began = now if began is None else began
        course = pace.course(done, total, now)
        if now - began >= LONG_SECONDS and now - drawn >= _BETWEEN:
            drawn = now
            sys.stderr.write(f"{_CLEAR}  {part}: {course}")
            sys.stderr.flush()

    return update


def _lines(of: str) -> Progress:
    started = said = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY_SECONDS:
            said = time.monotonic()
            say(f"  {done:,} of {total:,} {of}, {said - started:.0f} s")

    return update


def say(line: str) -> None:
    """Print a line; of what it quotes, no character can steer a terminal."""
    sys.stdout.write(visible(line).replace("\n", "\\n") + "\n")
    sys.stdout.flush()
