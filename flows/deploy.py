"""Scheduled audits for a team: deployments in prefect.yaml, a work pool for workers, and limits on what runs at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
import yaml

from cartograph.config import read_yaml
from cartograph.data.whole_files import write_whole
from cartograph.errors import CartographError, InputError
from flows.engine.command_line import no_server, own_text, unanswered
from flows.engine.step_task import GPU_TAG
from tasks.engine.workspace import CODE, Workspace, project_root
from tasks.pipelines import open_workspace
from tasks.presentation import console

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.deployments.runner import RunnerDeployment

FILE = "prefect.yaml"
POOL = "cartograph"
UTC = "UTC"
_BANNED = "/%&<>"
HEADER = "# The scheduled audits, a deployment per workspace; `python -m flows.deploy` writes and registers them.\n"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[
        list[str] | None, typer.Option("--workspace", "-w", help="Workspace to write into prefect.yaml; may be repeated.")
    ] = None,
    cron: Annotated[
        str | None, typer.Option("--cron", help='When, as a cron expression, e.g. "0 3 * * *"; without it, only on request.')
    ] = None,
    timezone: Annotated[str, typer.Option("--timezone", help="Time zone of the cron expression.")] = UTC,
    at_once: Annotated[int | None, typer.Option("--at-once", min=1, help="Most audits that the work pool runs at the same time.")] = None,
    gpus: Annotated[
        int | None,
        typer.Option("--gpus", min=1, help="Most steps on an accelerator at the same time, over all audits; no limit by default."),
    ] = None,
    write_only: Annotated[bool, typer.Option("--write-only", help="Write prefect.yaml, and register nothing.")] = False,
) -> None:
    """Write workspaces into prefect.yaml, and register all that is there with the Prefect server of PREFECT_API_URL."""
    try:
        if cron and not workspace:
            raise InputError(f"--cron applies to the workspaces given with --workspace; those in {FILE} already have their own.")
        if timezone != UTC and not cron:
            raise InputError("--timezone is that of --cron; name both.")
        spaces = [open_workspace(path) for path in workspace or []]
        path = write_file(spaces, cron, timezone)
        if not write_only:
            register(path, at_once, gpus)
    except CartographError as error:
        console.complain(str(error))
        raise typer.Exit(error.exit_code) from error


def write_file(spaces: Sequence[Workspace], cron: str | None, timezone: str) -> Path:
    """Write each workspace's deployment into prefect.yaml, in place of an earlier one of it; return the file.

    Raises:
        InputError: the cron expression or the time zone is invalid, two workspaces have one name, or the file is not a list of deployments.
    """
    path = project_root() / FILE
    content = _read(path)
    check_schedule(cron, timezone)
    check_names(spaces, {entry["name"]: (entry.get("parameters") or {}).get("workspace") for entry in content["deployments"]})
    new = {space.name: deployment(space, cron, timezone) for space in spaces}
    kept = [entry for entry in content["deployments"] if entry["name"] not in new]
    content["deployments"] = [*kept, *new.values()]
    write_whole(path, HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))
    return path


def deployment(space: Workspace, cron: str | None, timezone: str) -> dict[str, Any]:
    """Return a workspace's entry: one audit of it at a time, a later one waits."""
    return {
        "name": space.name,
        "entrypoint": "flows/audit.py:audit",
        "description": f"The audit of {space.name}",
        "parameters": {"workspace": space.relative},
        "tags": ["cartograph", f"workspace:{space.name}"],
        "concurrency_limit": {"limit": 1, "collision_strategy": "ENQUEUE"},
        "work_pool": {"name": POOL},
        "schedules": [{"cron": cron, "timezone": timezone}] if cron else [],
    }


def _read(path: Path) -> dict[str, Any]:
    content = read_yaml(path) if path.exists() else {"name": "cartograph", "deployments": []}
    found = content.get("deployments")
    if not isinstance(found, list) or not all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in found):
        raise InputError(
            f"{path} has no list `deployments` in which each has a name; correct it, or remove it and name the workspaces again."
        )
    return content


def check_names(spaces: Sequence[Workspace], known: Mapping[str, str | None]) -> None:
    """Check that Prefect takes the workspaces' names, and that each is of one workspace.

    Args:
        spaces: those to deploy.
        known: name -> workspace of deployments that there are.

    Raises:
        InputError: a name has a character that Prefect allows in no name, or two workspaces would have the same deployment.
    """
    owners = dict(known)
    for space in spaces:
        banned = next((character for character in space.name if character in _BANNED), None)
        if banned is not None:
            raise InputError(f"workspace {space.relative}: Prefect takes no {banned} in a name; rename the folder.")
        other = owners.setdefault(space.name, space.relative)
        if other not in (None, space.relative):
            raise InputError(
                f"the workspaces {other} and {space.relative} would both be called {space.name}; rename one of the folders, or, if one "
                f"is gone, remove its deployment from {FILE}."
            )


def check_schedule(cron: str | None, timezone: str = UTC) -> None:
    """Check that Prefect understands a cron expression, where there is one, and its time zone.

    Raises:
        InputError: it does not.
    """
    from prefect.client.schemas.schedules import CronSchedule

    try:
        if cron:
            CronSchedule(cron=cron, timezone=timezone)
    except ValueError as error:
        raise InputError(
            f"--cron {cron!r} in {timezone!r} is not a schedule; write five fields (minute, hour, day, month, weekday) such as "
            '"0 3 * * *", and a time zone such as UTC or Europe/Berlin.'
        ) from error


def register(path: Path, at_once: int | None, gpus: int | None) -> None:
    """Make the work pool and the limits where they are missing, and register every deployment of a prefect.yaml.

    Raises:
        InputError: there is no server, or it refused.
    """
    try:
        _prepare(at_once, gpus)
    except Exception as error:
        if unanswered(error):
            raise InputError(no_server(error)) from error
        raise InputError(f"the Prefect server did not take the work pool {POOL} or its limits ({own_text(error)}).") from error
    for entry in _read(path)["deployments"]:
        schedules = _schedules(entry)
        try:
            _deploy(entry, schedules)
        except Exception as error:
            if unanswered(error):
                raise InputError(no_server(error)) from error
            raise InputError(
                f"the deployment {entry['name']} of {FILE} could not be registered ({own_text(error)}); correct it there."
            ) from error
        when = ", ".join(f"{cron} {timezone}" for cron, timezone in schedules) or "on request"
        console.say(f"{entry['name']:<24} {when}")
    console.say(f"Start a worker on the machine that is to audit: prefect worker start --pool {POOL} --type process")


def _schedules(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return an entry's cron expressions, each with its time zone.

    Raises:
        InputError: it has a schedule of another kind.
    """
    schedules = entry.get("schedules") or []
    if not isinstance(schedules, list) or not all(isinstance(one, dict) and one.get("cron") for one in schedules):
        raise InputError(f"the deployment {entry['name']} of {FILE} has a schedule without `cron`; write it as a cron expression.")
    return [(str(one["cron"]), str(one.get("timezone") or UTC)) for one in schedules]


def _deploy(entry: Mapping[str, Any], schedules: Sequence[tuple[str, str]]) -> None:
    """Register an entry, as `prefect deploy` would; the worker finds the code where it is here."""
    from prefect import flow
    from prefect.client.schemas.objects import ConcurrencyLimitConfig
    from prefect.schedules import Cron

    # Prefect's types leave open whether these two are coroutines; outside of an event loop they are not.
    audit = cast("Flow[..., Any]", flow.from_source(source=str(CODE), entrypoint=entry["entrypoint"]))
    limit = entry.get("concurrency_limit")
    # Not `Flow.deploy` or `prefect deploy`: they list the pool's workers first, which a server under some releases of FastAPI refuses.
    deployment = audit.to_deployment(
        name=entry["name"],
        description=entry.get("description"),
        parameters=entry.get("parameters"),
        tags=entry.get("tags"),
        concurrency_limit=ConcurrencyLimitConfig(**limit) if isinstance(limit, dict) else limit,
        work_pool_name=(entry.get("work_pool") or {}).get("name") or POOL,
        schedules=[Cron(cron, timezone=timezone) for cron, timezone in schedules],
    )
    cast("RunnerDeployment", deployment).apply()


def _prepare(at_once: int | None, gpus: int | None) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate, WorkPoolUpdate
    from prefect.exceptions import ObjectNotFound

    if not os.environ.get("PREFECT_API_URL"):
        raise ConnectionError("no address")
    with get_client(sync_client=True) as client:
        try:
            client.read_work_pool(POOL)
            if at_once is not None:
                client.update_work_pool(POOL, WorkPoolUpdate(concurrency_limit=at_once))
        except ObjectNotFound:
            client.create_work_pool(WorkPoolCreate(name=POOL, type="process", concurrency_limit=at_once))
        if gpus is not None:
            client.create_concurrency_limit(tag=GPU_TAG, concurrency_limit=gpus)


if __name__ == "__main__":
    sys.exit(app())
