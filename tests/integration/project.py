"""A copy of the project in a folder of its own, run through its command lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

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


class MakeProject(Protocol):
    """Makes a fresh project; ``database=False``: one where the first audit makes MLflow's database."""

    def __call__(self, database: bool = True) -> Project: ...
