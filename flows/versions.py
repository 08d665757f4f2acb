"""DVC after a flow: what the flow made is recorded, so that `dvc status` is clean and `dvc repro` has nothing to do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from cartograph.errors import CartographError
from tasks.digest import digest_json, digest_path
from tasks.receipt import fresh
from tasks.step import Step
from tasks.workspace import ROOT, Workspace

_MARK = "committed"


def commit(steps: Sequence[Step], workspace: Workspace) -> bool:
    """Record each of these steps whose receipt verifies in dvc.lock and DVC's cache; return whether anything was to do.

    Nothing is done where the project is no DVC repository, or where nothing changed since the last time.

    Raises:
        CartographError: DVC refused; the message carries its last line.
    """
    if not (ROOT / ".dvc").is_dir():
        return False
    finished = [step for step in steps if fresh(step, workspace)]
    if not finished or _mark(finished, workspace) == _read_mark(workspace):
        return False
    file = f"{workspace.relative}/dvc.yaml" if workspace.path != ROOT else "dvc.yaml"
    command = [sys.executable, "-m", "dvc", "commit", "--force", *(f"{file}:{step.name}" for step in finished)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise CartographError(f"the audit is done, but DVC could not record it ({reason}); run `{' '.join(command[2:])}` to see why.")
    (workspace.state / _MARK).write_text(_mark(finished, workspace), encoding="utf-8")
    return True


def _mark(steps: Sequence[Step], workspace: Workspace) -> str:
    names = ["params.yaml", "dvc.yaml", "dvc.lock", *(step.receipt_name for step in steps)]
    paths = [workspace.path / name for name in names]
    return digest_json({name: digest_path(path) if path.exists() else None for name, path in zip(names, paths, strict=True)})


def _read_mark(workspace: Workspace) -> str | None:
    path = workspace.state / _MARK
    return path.read_text(encoding="utf-8") if path.exists() else None
