"""DVC after a flow: what the flow made is recorded, so that `dvc status` is clean and `dvc repro` has nothing to do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cartograph.config import read_yaml
from cartograph.data.whole_files import write_whole
from cartograph.errors import CartographError
from tasks.engine.digest import digest_json, digest_path
from tasks.engine.dvc_turn import dvc_turn
from tasks.engine.edits import edits_of
from tasks.engine.receipt import fresh
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace, project_root

_MARK = "committed"


def commit(steps: Sequence[Step], workspace: Workspace) -> bool:
    """Record each of these steps whose receipt verifies in dvc.lock and DVC's cache; return whether anything was to do.

    Nothing is done where the project is no DVC repository. A step is passed over where its receipt, its stage and its parameters are
    those of the last time, and dvc.lock has not changed since.

    Args:
        steps: in the DAG's order: dvc.lock keeps the order in which stages come.
        workspace: their workspace.

    Raises:
        CartographError: DVC refused; the message carries its last line.
    """
    if not (project_root() / ".dvc").is_dir():
        return False
    known, states = _read_mark(workspace), _states(steps, workspace)
    changed = [step for step in steps if known.get(step.name) != states[step.name] and _to_record(step, workspace)]
    if not changed:
        return False
    file = f"{workspace.relative}/dvc.yaml" if workspace.path != project_root() else "dvc.yaml"
    targets = [f"{file}:{step.name}" for step in changed]
    command = [sys.executable, "-m", "flows.engine.dvc_commit", *targets]
    lock_file = workspace.path / "dvc.lock"
    with dvc_turn(project_root()):
        before = lock_file.read_bytes() if lock_file.exists() else None
        done = subprocess.run(command, cwd=project_root(), capture_output=True, text=True, check=False)
        if not all(_to_record(step, workspace) for step in changed):
            # Edited meanwhile, and DVC reads the files: what it wrote is as it was, and the next audit records what it makes of the edit.
            _put_back(lock_file, before)
            return False
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise CartographError(
            f"the audit is done, but DVC could not record it ({reason}); run `dvc commit --force {' '.join(targets)}` to see why."
        )
    _write_mark(known | {step.name: states[step.name] for step in changed}, workspace)
    return True


def recorded(steps: Sequence[Step], workspace: Workspace) -> bool:
    """Return whether DVC has nothing to learn about these steps, all of whose receipts verify: ``commit`` would do nothing."""
    if not (project_root() / ".dvc").is_dir():
        return True
    known, states = _read_mark(workspace), _states(steps, workspace)
    return all(known.get(name) == state for name, state in states.items())


def _to_record(step: Step, workspace: Workspace) -> bool:
    """Return whether a step is done, and what it depends on, which DVC reads itself, still is what it was done with."""
    return not edits_of(step, workspace) and fresh(step, workspace) is not None


def _put_back(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        write_whole(path, content)


def _states(steps: Sequence[Step], workspace: Workspace) -> dict[str, str]:
    """Return for each step what its entry in dvc.lock follows from."""
    stages = read_yaml(workspace.path / "dvc.yaml")["stages"]
    sections = read_yaml(workspace.content("params.yaml"))
    return {
        step.name: digest_json(
            {
                "receipt": digest_path(path) if (path := workspace.resolve(step.receipt_name)).exists() else None,
                "stage": stages[step.name.partition("@")[0]],
                "params": {name: sections.get(name) for name in (step.section, *step.reads)},
            }
        )
        for step in steps
    }


def _lock_file(workspace: Workspace) -> str | None:
    path = workspace.path / "dvc.lock"
    return digest_path(path) if path.exists() else None


def _read_mark(workspace: Workspace) -> dict[str, str]:
    """Return what was recorded of which step; nothing where DVC has since changed its file, or the mark cannot be read."""
    try:
        mark = json.loads((workspace.state / _MARK).read_text(encoding="utf-8"))
        return dict(mark["steps"]) if mark["lock"] == _lock_file(workspace) else {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}


def _write_mark(recorded: dict[str, str], workspace: Workspace) -> None:
    mark = {"lock": _lock_file(workspace), "steps": recorded}
    write_whole(workspace.state / _MARK, json.dumps(mark, indent=1, sort_keys=True) + "\n")
