"""The audit of a workspace as a Prefect flow; its command line is ``flows.audit_command``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

if __name__ == "__main__":
    # Before Prefect is imported, which takes longer than to see that there is nothing to do, or that a file is not as it was said to be.
    if "--data" not in sys.argv:
        from flows.engine.unchanged import ended_at_once

        if ended_at_once(sys.argv[1:], "."):
            sys.exit()
    from flows.audit_command import app

    sys.exit(app())

from prefect import flow

from cartograph.errors import CartographError, InputError
from flows.engine.announce import announce
from flows.engine.dvc_record import commit
from flows.engine.runner import Runner
from flows.engine.runners import Workers, open_runner
from flows.engine.scheduler import run_steps
from flows.engine.states import flow_state
from tasks.audit.gates import check_gates
from tasks.audit.publish import FollowedAudit
from tasks.collection.waiting_page import leave_page
from tasks.commands.dvc_yaml import write
from tasks.engine.edits import remark_on_edits
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace
from tasks.pipelines import held_workspace, open_workspace, steps_of
from tasks.presentation import console


@flow(name="audit", flow_run_name="audit {workspace}")
def audit(
    workspace: str = ".", force: list[str] | None = None, runner: str = "local", workers: Workers = "auto", address: str | None = None
) -> Any:
    """Audit a workspace: run what is not fresh, record it in DVC, check the gates.

    Args:
        workspace: its folder, from the project's root.
        force: names of steps to run even where they are fresh.
        runner: where steps are computed, ``local`` or ``dask``.
        workers: how many steps that may use an accelerator run at the same time; more than one on ``local`` are processes of their own;
            ``auto``: as many as pay.
        address: of the scheduler of a running Dask cluster.
    """
    space, error = None, None
    try:
        space = open_workspace(workspace)
        with held_workspace(workspace, "python -m flows.audit --workspace {}") as held:
            space = held
            try:
                _run(held, force or [], open_runner(held, runner, workers, address))
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
