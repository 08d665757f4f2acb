"""Scheduled audits in one process, which serves a deployment per workspace."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cartograph.errors import CartographError, InputError
from flows.audit import audit
from flows.deploy import check_names, check_schedule
from flows.engine.command_line import no_server
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import open_workspace
from tasks.presentation import console

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[
        list[str] | None, typer.Option("--workspace", "-w", help="Workspace to audit; may be repeated. The root by default.")
    ] = None,
    cron: Annotated[
        str | None, typer.Option("--cron", help='When, as a cron expression, e.g. "0 3 * * *"; without it, only on request.')
    ] = None,
) -> None:
    """Serve the audit of one or more workspaces on a schedule, until stopped; one audit of a workspace at a time."""
    from httpx import ConnectError
    from prefect import serve

    try:
        check_schedule(cron)
        spaces = [open_workspace(path) for path in workspace or ["."]]
        check_names(spaces, {})
    except CartographError as error:
        console.complain(str(error))
        raise typer.Exit(error.exit_code) from error
    os.chdir(project_root())
    deployments = [_deployment(space, cron) for space in spaces]
    try:
        serve(*deployments)
    except ConnectError as error:
        console.complain(no_server(error))
        raise typer.Exit(InputError.exit_code) from error


def _deployment(space: Workspace, cron: str | None) -> RunnerDeployment:
    deployment = audit.to_deployment(
        name=space.name,
        cron=cron,
        parameters={"workspace": space.relative},
        tags=["cartograph", f"workspace:{space.name}"],
        concurrency_limit=1,
    )
    # Prefect's types leave open whether this is a coroutine; outside of an event loop it is not.
    return cast("RunnerDeployment", deployment)


if __name__ == "__main__":
    sys.exit(app())
