"""What an audit must not find: checked once every step has run, so that the report is there to read."""

from __future__ import annotations

import json

from cartograph.errors import GateError
from tasks.workspace import Workspace


def check_gates(workspace: Workspace) -> None:
    """Check what the audit found against its bounds.

    Raises:
        GateError: a critical validation check failed; the message names the first one, its set, and what was found.
    """
    files = (workspace.path / "data" / step / "validation.json" for step in ("ingest", "clean"))
    failed = [
        (item["set"], check)
        for file in files
        if file.exists()
        for item in json.loads(file.read_text(encoding="utf-8"))["sets"]
        for check in item["checks"]
        if check["severity"] == "critical" and not check["passed"]
    ]
    if failed:
        name, check = failed[0]
        more = f" ({len(failed) - 1} more failed)" if len(failed) > 1 else ""
        raise GateError(
            f"validation failed: {check['check']} in set `{name}`: expected {check['expected']}, found {check['found']}{more}; "
            f"see {workspace.path / 'reports' / 'report.html'}."
        )
