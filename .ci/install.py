"""`pip install` that says what it does: how many packages were found and installed so far, and the large downloads with their size.

`python .ci/install.py ARGUMENT…` runs `python -m pip install ARGUMENT…` of the same Python, and ends with its exit code. It imports nothing
but the standard library, as nothing else is there yet.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

EVERY_SECONDS = 10.0
_FOUND = re.compile(r"\s*Collecting ([A-Za-z0-9._-]+)")
_LARGE = re.compile(r"\s*Downloading (\S+?)(?:-\d\S*)? \((\d+(?:\.\d+)?) ([MG]B)\)")
_LEAST_MEGABYTES = 20.0


class Installation:
    """What pip has done so far, read from its own lines.

    Attributes:
        expected: about how many packages there will be.
    """

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self._found: set[str] = set()
        self._installing = 0

    def read(self, line: str) -> str | None:
        """Take in one of pip's lines; return what is worth showing of it at once, or None."""
        if found := _FOUND.match(line):
            self._found.add(found[1].lower())
        elif large := _LARGE.match(line):
            megabytes = float(large[2]) * (1000 if large[3] == "GB" else 1)
            if megabytes >= _LEAST_MEGABYTES:
                return f"downloading {large[1].rpartition('/')[2]} ({megabytes:,.0f} MB)"
        elif line.startswith("Installing collected packages:"):
            self._installing = line.count(",") + 1
        return None

    def state(self, installed: int) -> str:
        """Return how far it is, in a phrase.

        Args:
            installed: packages in the environment's folder.
        """
        if self._installing:
            return f"{installed} of {self._installing} packages installed"
        return f"{len(self._found)} of about {self.expected} packages found"


def install(arguments: list[str]) -> int:
    """Run pip, show what it does, and return its exit code."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", *arguments]
    started, over, done = time.monotonic(), threading.Event(), Installation(_constrained(arguments))
    threading.Thread(target=_report, args=(done, started, over), daemon=True).start()
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert pip.stdout is not None
    for line in pip.stdout:
        if shown := done.read(line):
            _say(started, shown)
    code = pip.wait()
    over.set()
    if code == 0:
        _say(started, "ready")
    return code


def _constrained(arguments: list[str]) -> int:
    """Return how many packages the constraints name."""
    files = [Path(file) for option, file in pairwise(arguments) if option == "-c"]
    return sum("==" in line for file in files for line in file.read_text(encoding="utf-8").splitlines())


def _report(done: Installation, started: float, over: threading.Event) -> None:
    site = Path(next(path for path in sys.path if path.endswith("site-packages")))
    while not over.wait(EVERY_SECONDS):
        _say(started, done.state(len(list(site.glob("*.dist-info")))))


def _say(started: float, line: str) -> None:
    sys.stdout.write(f"  {time.monotonic() - started:4.0f} s  {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
