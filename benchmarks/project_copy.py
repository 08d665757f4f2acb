"""A copy of the project in a folder of its own, with its own git and DVC repositories: what benchmarks and tests audit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def copy_code(target: Path, source: Path = ROOT) -> None:
    """Copy the code to an existing folder; of the checkout, nothing that was made with it, of another copy also what Python compiled."""
    made = shutil.ignore_patterns("__pycache__", "*.egg-info") if source == ROOT else None
    for name in ("src", "tasks", "flows"):
        shutil.copytree(source / name, target / name, ignore=made)
    (target / ".dvc").mkdir()
    shutil.copytree(source / ".dvc" / "plots", target / ".dvc" / "plots")
    for name in (".gitignore", ".dvcignore", ".dvc/config", ".dvc/.gitignore", "pyproject.toml", "constraints.txt"):
        shutil.copy(source / name, target / name)


def copy_project(target: Path, params: str, source: Path = ROOT) -> dict[str, str]:
    """Copy the code to ``target``, write its params.yaml, and return the environment its commands run in."""
    copy_code(target, source)
    (target / "params.yaml").write_text(params, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "MLFLOW_"))}
    # As a user's: every process else compiles all of the code again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PYTHONPATH"] = str(target / "src")
    environment["DVC_NO_ANALYTICS"] = "1"
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=target, check=True)
    subprocess.run([sys.executable, "-m", "tasks", "dvc-yaml"], cwd=target, env=environment, check=True, capture_output=True)
    return environment
