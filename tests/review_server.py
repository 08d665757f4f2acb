"""The review page's server as people start it: the command in a process of its own, and requests as the page sends them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tasks.engine.workspace import CODE

_START = """
import sys, pathlib
import tasks.engine.workspace
tasks.engine.workspace._project = pathlib.Path(sys.argv[1])
from tasks.__main__ import main
sys.exit(main(["review", "--open", *sys.argv[2:]]))
"""


@dataclass
class Served:
    """A running server."""

    process: subprocess.Popen[str]
    address: str

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return "/".join(self.address.split("/")[:3])

    def get(self, path: str) -> Any:
        """Return what the server says, as JSON."""
        with urlopen(self.address + path) as reply:
            return json.load(reply)

    def send(self, place: int, answer: str, before: str = "", **more: Any) -> tuple[int, Any]:
        """Send an answer as the page does; return the status and what came back."""
        body = json.dumps({"place": place, "answer": answer, "before": before, **more}).encode()
        request = Request(self.address + "answer", body, {"Content-Type": "application/json", "Origin": self.origin})
        try:
            with urlopen(request) as reply:
                return reply.status, json.load(reply)
        except HTTPError as error:
            return error.code, json.load(error)


@contextmanager
def served(project: Path, space: Path, *arguments: str) -> Iterator[Served]:
    """Start the command in a project, and end it with the block."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (CODE / "src", CODE))), "BROWSER": "true"}
    command = [sys.executable, "-c", _START, str(project), "--workspace", str(space), *arguments]
    process = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    said = ""
    try:
        for line in process.stdout:
            said += line
            if "http://" in line:
                yield Served(process, line.split(": ", 1)[1].strip())
                return
        raise AssertionError(f"the review page did not start: {said}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
