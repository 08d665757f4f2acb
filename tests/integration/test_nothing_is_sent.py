"""An audit reaches nothing but loopback: with everything else refused, nothing else is even tried."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.project import Project

REFUSE = Path(__file__).parent / "refuse"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["flows.audit", "dvc repro"])
def test_an_audit_tries_no_connection_but_loopback(command: str, make_project: Callable[[], Project], tmp_path: Path) -> None:
    project = make_project()
    noted = tmp_path / "refused.txt"
    noted.touch()
    project.environment.pop("PREFECT_API_URL")
    project.environment["PYTHONPATH"] += f"{os.pathsep}{REFUSE}"
    project.environment["REFUSED"] = str(noted)
    project.run(*command.split())
    assert noted.read_text() == ""


def test_the_guard_itself_notes_and_refuses(tmp_path: Path) -> None:
    noted = tmp_path / "refused.txt"
    noted.touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = (
            f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]})); socket.create_connection(('192.0.2.1', 9))"
        )
        environment = os.environ | {"PYTHONPATH": str(REFUSE), "REFUSED": str(noted)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "PermissionError: refused" in done.stderr
    assert len(noted.read_text().splitlines()) == 1
    assert "192.0.2.1" in noted.read_text()
