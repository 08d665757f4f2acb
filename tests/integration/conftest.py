"""Real projects in temporary folders: a copy of the code, a git and a DVC repository, one Prefect server for all."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.project_copy import copy_code, copy_project
from tasks.surroundings import SILENT

SMALL = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 2, learning_rate: 0.01}
measure: {burn_in: 0}
retrain: {subsets: [original, cleaned], seeds: [1]}
aflite: {enabled: false}
"""


@dataclass
class Project:
    """A copy of the project in a folder of its own, run through its command lines."""

    path: Path
    environment: dict[str, str]

    def run(self, *command: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False
        )
        if code is not None:
            assert done.returncode == code, (
                f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
            )
        return done

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=self.path, check=True, capture_output=True)

    def executions(self, workspace: str = ".") -> Counter[str]:
        journal = self.path / workspace / ".cartograph" / "journal.jsonl"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return Counter(json.loads(line)["step"] for line in lines)

    def executed_by(self, action: Callable[[], object], workspace: str = ".") -> set[str]:
        before = self.executions(workspace)
        action()
        return set(self.executions(workspace) - before)

    def params(self, text: str, workspace: str = ".") -> None:
        (self.path / workspace / "params.yaml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API address of a real Prefect server on loopback."""
    home = tmp_path_factory.mktemp("prefect-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")} | SILENT | {"PREFECT_HOME": str(home)}
    with (home / "server.log").open("w") as log:
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    api = f"http://127.0.0.1:{port}/api"
    for _ in range(450):
        try:
            with urllib.request.urlopen(f"{api}/health", timeout=2):
                break
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.2)
    else:
        process.kill()
    if process.poll() is not None:
        pytest.fail(f"the Prefect server did not start: {(home / 'server.log').read_text()[-2000:]}")
    yield api
    process.terminate()
    process.wait(30)


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory, prefect_server: str) -> Callable[[], Project]:
    """Return a function that makes a fresh project: code, git and DVC repository, small parameters."""
    home = tmp_path_factory.mktemp("prefect-home")
    code = tmp_path_factory.mktemp("code")
    copy_code(code)

    def make() -> Project:
        path = tmp_path_factory.mktemp("project")
        environment = copy_project(path, SMALL, code) | {"PREFECT_HOME": str(home), "PREFECT_API_URL": prefect_server}
        project = Project(path, environment)
        project.git("add", "-A")
        project.git("commit", "-q", "-m", "The project")
        return project

    return make
