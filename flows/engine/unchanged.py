"""A look before Prefect is there: where nothing is stale, a command ends without a flow run.

To import Prefect and start a server takes ten times as long as the look. Flow runs that Prefect itself starts, on a schedule or from its
page, are always recorded there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from cartograph.errors import CartographError
from flows.engine.closing_lines import INTERRUPTED, print_places
from flows.engine.dvc_record import recorded
from flows.engine.webhook import WEBHOOK
from tasks.audit.gates import check_gates, findings
from tasks.audit.publish import mark_left
from tasks.commands.dvc_yaml import in_sync
from tasks.engine.receipt import fresh
from tasks.engine.workspace import Workspace
from tasks.pipelines import open_workspace, steps_of
from tasks.presentation import console

_WORKSPACE = ("--workspace", "-w")


def ended_at_once(arguments: Sequence[str], default: str, section: str = "ingest") -> bool:
    """Print how each step stands, and what comes after an audit, where nothing is to be done; return whether that was so.

    Whatever else there is to do or to say (a stale step, an option, an error, a gate that went off) is left to the flow. No step
    writes anything, so the workspace is not held: where another audit is about to change it, this says how it stood before.

    Args:
        arguments: of the command line.
        default: the workspace without any.
        section: of params.yaml, which the workspaces of this command have.
    """
    workspace = _workspace(arguments, default)
    if workspace is None:
        return False
    try:
        space = open_workspace(workspace)
        summaries = _summaries(space) if section in space.settings else None
        if summaries is None:
            return False
        check_gates(space)
    except CartographError:
        return False
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    for name, summary in summaries:
        console.step_line(name, summary, None)
    print_places(space, None)
    mark_left(space)
    return True


def _workspace(arguments: Sequence[str], default: str) -> str | None:
    if not arguments:
        return default
    if len(arguments) == 2 and arguments[0] in _WORKSPACE:
        return arguments[1]
    return None


def _summaries(space: Workspace) -> list[tuple[str, str]] | None:
    """Return each step with the summary of its receipt; None where a step is not fresh, or something is still to be recorded or sent."""
    steps, summaries = steps_of(space.settings), []
    for step in steps:
        receipt = None if step.hints.always(space.settings) else fresh(step, space)
        if receipt is None:
            return None
        summaries.append((step.name, receipt.summary))
    to_send = os.environ.get(WEBHOOK) and any(finding["outcome"] == "warned" for finding in findings(space))
    return summaries if in_sync(space) and recorded(steps, space) and not to_send else None
