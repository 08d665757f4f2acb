"""The commands `run`, `list` and `dvc-yaml`: one step of a workspace, which of its steps are up to date, and what DVC reads of them."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from cartograph.errors import CartographError, InputError
from tasks.audit.publish import mark_left
from tasks.collection.waiting_page import leave_page
from tasks.commands.dvc_yaml import has_file, in_sync, write
from tasks.engine.edits import edits_of
from tasks.engine.failed_cell import failure_of
from tasks.engine.receipt import fresh
from tasks.engine.running import run_step
from tasks.engine.snapshot import PARAMS
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import all_workspaces, held_workspace, open_workspace, steps_of
from tasks.presentation import console

WorkspaceOption = Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")]


def run(
    step: Annotated[str, typer.Argument(help="Name of the step.")],
    workspace: WorkspaceOption = ".",
    force: Annotated[bool, typer.Option("--force", help="Run it even if its outputs are up to date.")] = False,
) -> None:
    """Run one step of an audit, unless its outputs are up to date."""
    with held_workspace(workspace or ".", f"python -m tasks run {shlex.quote(step)}") as space:
        chosen = find_step(step, space)
        require_in_sync([space])
        try:
            outcome = run_step(chosen, space, force=force or chosen.hints.always(space.settings))
        except CartographError as error:
            if leave_page(space, steps_of(space.settings), error):
                write(space)
            raise
        if edits := edits_of(chosen, space):
            # DVC would record the new values for what was made with the old ones.
            raise InputError(
                f"step `{step}` is done, but {space.path / PARAMS} changed while it ran ({', '.join(edits)}); run it again for the new "
                "values."
            )
    console.step_line(step, outcome.receipt.summary, outcome.seconds if outcome.executed else None)


def list_steps(workspace: WorkspaceOption = ".") -> None:
    """List the steps of an audit and which are up to date."""
    space = open_workspace(workspace)
    for step in steps_of(space.settings):
        receipt = fresh(step, space)
        failed = None if receipt or not step.leaves_failure else failure_of(space.resolve(step.outputs_of(space.settings)[0]))
        state = "fresh" if receipt else "failed" if failed else "to do"
        console.say(f"{step.name:<10} {state:<6} {receipt.summary if receipt else failed or ''}".rstrip())
    mark_left(space)


def dvc_yaml(
    workspace: WorkspaceOption = "",
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a dvc.yaml is out of date.")] = False,
) -> None:
    """Write dvc.yaml from the steps, for one workspace, or for the root and all that have one; a workspace's first run writes it too."""
    spaces = [open_workspace(workspace)] if workspace else [space for space in all_workspaces() if space.relative == "." or has_file(space)]
    if check:
        require_in_sync(spaces)
    for space in spaces:
        if not in_sync(space):
            console.say(f"wrote {write(space).relative_to(project_root())}")


def require_in_sync(spaces: list[Workspace]) -> None:
    """Check that each workspace's dvc.yaml is what the steps and its parameters say now.

    Raises:
        InputError: one is not: DVC would track the wrong files.
    """
    for space in spaces:
        if not in_sync(space):
            raise InputError(
                f"{space.path / 'dvc.yaml'} is out of date; write it with `python -m tasks dvc-yaml --workspace {space.typed}` "
                "and commit it."
            )


def find_step(name: str, workspace: Workspace) -> Step:
    """Return the workspace's step of that name.

    Raises:
        InputError: the name is unknown; the message lists those there are.
    """
    steps = {step.name: step for step in steps_of(workspace.settings)}
    if name not in steps:
        raise InputError(f"there is no step `{name}` in {workspace.path}; its steps: {', '.join(steps)}.")
    return steps[name]
