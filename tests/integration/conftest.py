"""Real projects in temporary folders: a copy of the code, a git and a DVC repository, one Prefect server for all."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.project_copy import copy_code, copy_project
from tasks.engine.surroundings import SILENT
from tasks.publishing.store import make_database
from tests.integration.project import SMALL, MakeProject, Project


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
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database of MLflow's, made once as the step makes it."""
    database = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    make_database(database)
    return database


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory, prefect_server: str, migrated: Path) -> MakeProject:
    """Return a function that makes a fresh project: code, git and DVC repository, small parameters; and, if wanted, MLflow's database."""
    home = tmp_path_factory.mktemp("prefect-home")
    code = tmp_path_factory.mktemp("code")
    copy_code(code)
    # Compiled once, and with the imports of every step read, not in every project again.
    subprocess.run([sys.executable, "-m", "compileall", "-q", "src", "tasks", "flows"], cwd=code, check=True)
    compiled = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": str(code / "src")}
    read = "from tasks.pipelines import STEPS\nfor step in STEPS:\n    step.code"
    subprocess.run([sys.executable, "-c", read], cwd=code, env=compiled, check=True)

    def make(database: bool = True) -> Project:
        path = tmp_path_factory.mktemp("project")
        environment = copy_project(path, SMALL, code) | {"PREFECT_HOME": str(home), "PREFECT_API_URL": prefect_server}
        project = Project(path, environment)
        if database:
            shutil.copy(migrated, path / "mlflow.db")
        project.git("add", "-A")
        project.git("commit", "-q", "-m", "The project")
        return project

    return make
