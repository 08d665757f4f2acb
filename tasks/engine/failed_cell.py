"""What a cell leaves that failed: why, in place of its output, so that what reads all cells goes on without it.

There is no receipt beside it: a failed cell is never fresh, and the next run takes it up again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from cartograph.data.json_files import json_text, read_json
from cartograph.data.whole_files import write_whole
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace

_FILE = "failure.json"
_LONGEST = 300


def failure_of(folder: Path) -> str | None:
    """Return why the cell failed whose output this folder would be; None where it did not."""
    path = folder / _FILE
    if not path.exists():
        return None
    try:
        return str(read_json(path)["reason"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return f"the file that says why, {path}, cannot be read"


def leave_failure(step: Step, workspace: Workspace, reason: str) -> None:
    """Put why a cell failed where its output would be; what an earlier run left there goes, since it is of other inputs or doubtful."""
    line = " ".join(reason.split())
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    with workspace.writing():
        workspace.resolve(step.receipt_name).unlink(missing_ok=True)
        for name in step.outputs_of(workspace.settings):
            folder = workspace.resolve(name)
            shutil.rmtree(folder, ignore_errors=True)
            write_whole(folder / _FILE, json_text({"step": step.name, "reason": line}))
