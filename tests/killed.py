"""A process that is killed while a training that it started goes on elsewhere."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path


def kill_once_going(code: str, job: Path) -> None:
    """Start Python on code that prints ``going`` as its training comes on, kill it, and wait until no process works on the job.

    Args:
        code: what to run.
        job: file that the training's processes are started with.

    Raises:
        AssertionError: nothing came on, or a process still works on the job after a minute.
    """
    starter = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    assert starter.stdout.readline().strip() == "going"
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    deadline = time.monotonic() + 60
    while working_on(job) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not working_on(job)


def working_on(job: Path) -> list[str]:
    """Return the command lines of the processes that name a job."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(job) in command:
            found.append(command)
    return found
