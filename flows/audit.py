"""The audit of a workspace as a Prefect flow, and its command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

if __name__ == "__main__":
    from flows.engine.unchanged import ended_at_once

    # Before Prefect is imported, which takes longer than to see that there is nothing to do.
    if ended_at_once(sys.argv[1:], "."):
        sys.exit()

from prefect import flow

from cartograph.errors import CartographError, InputError
from flows.engine.announce import announce
from flows.engine.command_line import conduct
from flows.engine.dvc_record import commit
from flows.engine.runner import Runner
from flows.engine.runners import check_runner, open_runner
from flows.engine.scheduler import run_steps
from flows.engine.states import flow_state
from tasks.audit.gates import check_gates
from tasks.audit.publish import FollowedAudit
from tasks.collection.waiting_page import leave_page
from tasks.commands.dvc_yaml import write
from tasks.commands.given_files import asked_features, listed_names
from tasks.commands.own_file import workspace_for
from tasks.engine.edits import remark_on_edits
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace
from tasks.pipelines import held_workspace, open_workspace, steps_of
from tasks.presentation import console


@flow(name="audit", flow_run_name="audit {workspace}")
def audit(workspace: str = ".", force: list[str] | None = None, runner: str = "local", workers: int = 1, address: str | None = None) -> Any:
    """Audit a workspace: run what is not fresh, record it in DVC, check the gates.

    Args:
        workspace: its folder, from the project's root.
        force: names of steps to run even where they are fresh.
        runner: where steps are computed, ``local`` or ``dask``.
        workers: how many steps that may use an accelerator run at the same time; more than one on ``local`` are processes of their own.
        address: of the scheduler of a running Dask cluster.
    """
    space, error = None, None
    try:
        space = open_workspace(workspace)
        with held_workspace(workspace, "python -m flows.audit --workspace {}") as held:
            space = held
            try:
                _run(held, force or [], open_runner(runner, workers, address))
            finally:
                if (remark := remark_on_edits(held)) is not None:
                    console.say(f"Edited     {remark}")
    except CartographError as problem:
        error = problem
    except Exception as problem:
        # An error that nobody foresaw is announced like any other.
        announce(workspace if space is None else space.name, space, CartographError(f"{type(problem).__name__}: {problem}"))
        raise
    announce(workspace if space is None else space.name, space, error)
    return None if error is None else flow_state(error)


def _run(space: Workspace, force: Sequence[str], runner: Runner) -> None:
    steps = steps_of(space.settings)
    unknown = set(force) - {name for step in steps for name in (step.name, step.section)}
    if unknown:
        raise InputError(
            f"--force {sorted(unknown)[0]}: no such step; this audit's steps: {', '.join(dict.fromkeys(step.section for step in steps))}."
        )
    write(space)

    def forced(step: Step) -> bool:
        return not {step.name, step.section}.isdisjoint(force) or step.hints.always(space.settings)

    with runner, FollowedAudit(space) as followed:

        def record(done: Sequence[Step]) -> None:
            followed.rest()
            commit(done, space)

        followed.begin(steps, [step.name for step in steps if not {step.name, step.section}.isdisjoint(force)])
        ended = run_steps(steps_of, space, runner, forced, record, followed.ended)
        followed.failed = ended.error is not None
    error = ended.error
    try:
        commit(ended.done, space)
    except CartographError as problem:
        if error is None:
            raise
        console.complain(str(problem))
    if error is not None:
        # The people's sheet is an input of the next round once it is there.
        if leave_page(space, steps, error):
            write(space)
        raise error
    check_gates(space)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[
        str,
        typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default, with --data one named after the file."),
    ] = "",
    data: Annotated[str, typer.Option(help="Your own file (CSV, JSONL, Parquet, …); a workspace is made for it, or reused.")] = "",
    text: Annotated[str, typer.Option(help="With --data: the text column.")] = "text",
    text_pair: Annotated[str, typer.Option(help="With --data: the second text column, for pairs.")] = "",
    features: Annotated[
        bool,
        typer.Option(
            "--features", help="With --data: the file is a table of features; all other columns are read (numbers, categories, dates)."
        ),
    ] = False,
    feature: Annotated[
        list[str], typer.Option(help="With --data: columns of a table of features: COL,COL. Repeatable; other columns are ignored.")
    ] = [],  # noqa: B006
    label: Annotated[str, typer.Option(help="With --data: the label column.")] = "label",
    labels: Annotated[
        list[str],
        typer.Option(
            help="With --data: for rows with several labels, the column that lists them, or columns of 0 and 1: COL,COL. Repeatable."
        ),
    ] = [],  # noqa: B006
    linked: Annotated[
        str,
        typer.Option(
            help="With --data: a column whose equal values link rows (a patient, a speaker, a document): they are held out together."
        ),
    ] = "",
    profile: Annotated[
        str,
        typer.Option(
            help="With --data: quick (the map and the suspects), standard (also what cleaning is worth), or full (AFLite, selections)."
        ),
    ] = "",
    force: Annotated[list[str] | None, typer.Option("--force", help="Run this step even if it is up to date. Repeatable.")] = None,
    runner: Annotated[str, typer.Option("--runner", help="Where steps run: local, or dask.")] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="Scheduler of a running Dask cluster; a local one is started by default.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Trainings at once: local processes, or a local cluster's workers.")] = 1,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show Prefect's own log lines.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Audit a labelled dataset: all steps, run by Prefect."""
    try:
        # Before Prefect's server is started, which takes a while.
        check_runner(runner, address)
        if data:
            columns = asked_features(features, feature)
            workspace = workspace_for(
                data,
                text=text,
                text_pair=text_pair,
                features=columns,
                label=label,
                labels=[name for given in labels for name in listed_names(given)],
                linked=linked,
                workspace=workspace,
                profile=profile,
            )
        elif profile or text_pair or features or feature or labels or linked or (text, label) != ("text", "label"):
            raise InputError(
                "--text, --text-pair, --features, --feature, --label, --labels, --linked and --profile describe a file; name it with "
                "--data, or edit params.yaml."
            )
    except CartographError as error:
        console.complain(str(error))
        raise typer.Exit(error.exit_code) from error
    conduct(audit, open_workspace, workspace or ".", force, runner, workers, address, verbose=verbose, debug=debug)


if __name__ == "__main__":
    sys.exit(app())
