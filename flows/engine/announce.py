"""How an audit ended, announced: an artifact and events in Prefect, and a message to a webhook where one is configured."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from prefect.artifacts import create_markdown_artifact
from prefect.events import emit_event

from cartograph.errors import CartographError, WaitingError
from flows.engine.webhook import WEBHOOK, send
from tasks.audit.gates import came_to_gates, findings
from tasks.audit.summary import audit_summary
from tasks.engine.workspace import Workspace
from tasks.presentation import console

_BEYOND = ("failed", "warned")


def announce(name: str, workspace: Workspace | None, error: CartographError | None) -> None:
    """Announce how an audit ended: its summary as an artifact of the flow run, an event for it and for each gate that went off, an alert.

    What of this cannot be done is named on the console, and changes nothing about the audit.

    Args:
        name: the workspace's name.
        workspace: the workspace; None where it could not be opened.
        error: what the audit ended with; None where it went well.
    """
    gone_off: list[dict[str, Any]] = []
    if workspace is not None and came_to_gates(workspace, error):
        gone_off = [finding for finding in findings(workspace) if finding["outcome"] in _BEYOND]
    for what, leave in (
        ("its summary", partial(_artifact, workspace, error)),
        ("its events", partial(_events, name, gone_off, error)),
        ("the alert", partial(_alert, name, gone_off, error)),
    ):
        try:
            leave()
        except Exception as problem:
            console.complain(f"the audit is done, but {what} could not be left: {_reason(problem)}")


def _artifact(workspace: Workspace | None, error: CartographError | None) -> None:
    if workspace is None:
        return
    key = re.sub(r"[^a-z0-9]+", "-", f"audit-{workspace.name}".lower()).strip("-")
    create_markdown_artifact(audit_summary(workspace, error), key=key, description="What the audit found")


def _events(name: str, gone_off: Sequence[dict[str, Any]], error: CartographError | None) -> None:
    resource = {"prefect.resource.id": f"cartograph.workspace.{name}", "prefect.resource.name": name}
    for finding in gone_off:
        emit_event(f"cartograph.gate.{finding['outcome']}", resource, payload=finding)
    emit_event(f"cartograph.audit.{_outcome(error)}", resource, payload={"message": str(error) if error else "", "gates": len(gone_off)})


def _outcome(error: CartographError | None) -> str:
    return "completed" if error is None else "waiting" if isinstance(error, WaitingError) else "failed"


def _alert(name: str, gone_off: Sequence[dict[str, Any]], error: CartographError | None) -> None:
    address = os.environ.get(WEBHOOK)
    if not address or not (gone_off or error):
        return
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError(f"{WEBHOOK} is not an http or https address")
    sentences = [str(error)] if error else []
    sentences += [finding["sentence"] for finding in gone_off if finding["sentence"] not in str(error)]
    content = {
        "text": f"Audit of {name}: {' '.join(sentences)}",
        "workspace": name,
        "outcome": _outcome(error) if error else "warned",
        "gates": list(gone_off),
    }
    body = json.dumps(content, ensure_ascii=False).encode()
    send(address, body)


def _reason(problem: Exception) -> str:
    """Return what went wrong, without the webhook's address, whose path is a secret."""
    text = " ".join(str(problem).split()) or type(problem).__name__
    address = os.environ.get(WEBHOOK, "")
    return text.replace(address, "…") if address else text
