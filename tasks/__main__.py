"""Make workspaces for your own data, review suspects, match records, and run single steps; `python -m flows.audit` runs a whole audit."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from tasks.engine.surroundings import prepare

prepare()

from cartograph.errors import CartographError, InputError  # noqa: E402
from tasks.audit.publish import mark_left  # noqa: E402
from tasks.collection.waiting_page import leave_page  # noqa: E402
from tasks.commands.dvc_yaml import has_file, in_sync, write  # noqa: E402
from tasks.commands.expand import expand  # noqa: E402
from tasks.commands.first_pairs import first_pairs  # noqa: E402
from tasks.commands.init import init  # noqa: E402
from tasks.commands.init_pairs import init_pairs  # noqa: E402
from tasks.commands.match import match  # noqa: E402
from tasks.commands.prune import prune  # noqa: E402
from tasks.commands.review import review  # noqa: E402
from tasks.engine.edits import edits_of  # noqa: E402
from tasks.engine.failed_cell import failure_of  # noqa: E402
from tasks.engine.receipt import fresh  # noqa: E402
from tasks.engine.running import run_step  # noqa: E402
from tasks.engine.snapshot import PARAMS  # noqa: E402
from tasks.engine.step import Step  # noqa: E402
from tasks.engine.workspace import Workspace, project_root  # noqa: E402
from tasks.pipelines import (  # noqa: E402
    all_workspaces,
    held_workspace,
    open_workspace,
    steps_of,
)
from tasks.presentation import console  # noqa: E402

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
app.command()(init)
app.command()(first_pairs)
app.command()(init_pairs)
app.command()(review)
app.command()(expand)
app.command()(match)
app.command()(prune)

WorkspaceOption = Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")]


@app.command()
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


@app.command("list")
def list_steps(workspace: WorkspaceOption = ".") -> None:
    """List the steps of an audit and which are up to date."""
    space = open_workspace(workspace)
    for step in steps_of(space.settings):
        receipt = fresh(step, space)
        failed = None if receipt or not step.leaves_failure else failure_of(space.resolve(step.outputs_of(space.settings)[0]))
        state = "fresh" if receipt else "failed" if failed else "to do"
        console.say(f"{step.name:<10} {state:<6} {receipt.summary if receipt else failed or ''}".rstrip())
    mark_left(space)


@app.command("dvc-yaml")
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 a gate failed, 2 bad usage or input, 3 people have to answer first."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    try:
        app([argument for argument in arguments if argument != "--debug"], prog_name="python -m tasks", standalone_mode=True)
    except CartographError as error:
        if debug:
            raise
        console.conclude(error)
        return error.exit_code
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
