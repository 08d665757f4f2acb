"""A process that trains for this one: followed as it comes on, and ended with the one that started it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cartograph.errors import CartographError, InputError

_PROGRESS = "progress"
_BETWEEN = 0.1


def run_child(
    command: Sequence[str],
    log: Path,
    what: str,
    progress: Callable[[int, int], None] | None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a process whose training writes below the folder of its log, and wait for it.

    Args:
        command: starts it; what it prints through ``ProgressLines`` is its progress.
        log: takes what it prints beside that; ``answer`` leaves what it raised in the same folder.
        what: it does, for messages.
        progress: called with (rows trained on, rows to train on).
        environment: its variables; None: this process's.

    Raises:
        InputError: as the process raised it.
        CartographError: it ended otherwise; the message has its last words.
    """
    failure = log.with_name("error.json")
    failure.unlink(missing_ok=True)
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as running,
    ):
        try:
            _follow(running, progress)
        finally:
            running.terminate()
    if running.returncode:
        if failure.exists():
            raise InputError(json.loads(failure.read_text(encoding="utf-8"))["message"])
        last = " / ".join(line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:])
        raise CartographError(f"{what} ended with code {running.returncode}: {last} (all of it in {log}).")


def _follow(running: subprocess.Popen[str], progress: Callable[[int, int], None] | None) -> None:
    for line in running.stdout or ():
        words = line.split()
        if progress is not None and len(words) == 3 and words[0] == _PROGRESS:
            progress(int(words[1]), int(words[2]))
    running.wait()


def answer(job: Path, work: Callable[[dict[str, Any]], object]) -> int:
    """Do a job in the process that ``run_child`` started; return the exit code.

    Args:
        job: a JSON object with ``starter``, the id of the process that this one ends with, and ``folder``, that of the log.
        work: what to do with the object.
    """
    content = json.loads(job.read_text(encoding="utf-8"))
    _end_with(content["starter"])
    try:
        work(content)
    except CartographError as error:
        failure = Path(content["folder"]) / f"error.{os.environ.get('RANK', '0')}.tmp"
        failure.write_text(json.dumps({"message": str(error)}), encoding="utf-8")
        failure.replace(failure.with_name("error.json"))
        return error.exit_code
    return 0


class ProgressLines:
    """Progress as lines of standard output, which ``run_child`` reads; at most one every tenth of a second."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Print how many rows are done, of how many."""
        now = time.monotonic()
        if now - self._last >= _BETWEEN or done == total:
            self._last = now
            sys.stdout.write(f"{_PROGRESS} {done} {total}\n")
            sys.stdout.flush()


def _end_with(starter: int) -> None:
    """End this process soon after the one that started the training, however that one ended."""

    def watch() -> None:
        while True:
            try:
                os.kill(starter, 0)
            except ProcessLookupError:
                os._exit(1)
            time.sleep(_BETWEEN)

    threading.Thread(target=watch, daemon=True).start()
