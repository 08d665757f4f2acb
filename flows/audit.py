"""The audit of a workspace as a Prefect flow: every step a cached task, independent steps at the same time."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from prefect import Flow, flow
from prefect.futures import PrefectFuture, as_completed

from cartograph.errors import CartographError, CellError, GateError, InputError, WaitingError
from flows.engine.announce import announce
from flows.engine.command_line import run_flow
from flows.engine.dvc_record import commit
from flows.engine.runners import restart, task_runner, trainings_at_once
from flows.engine.step_task import as_task, ended_with, error_of, resource_tag
from tasks.audit.gates import came_to_gates, check_gates, findings
from tasks.collection.report import WAITING as WAITING_PAGE
from tasks.collection.waiting_page import leave_page
from tasks.commands.dvc_yaml import write
from tasks.engine.dag import upstream
from tasks.engine.failed_cell import failure_of, leave_failure
from tasks.engine.receipt import fingerprint, fresh, read_receipt
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import open_workspace, steps_of
from tasks.presentation import console
from tasks.publishing.tracking_uri import tracking_uri, viewer

_MOST_LOSSES = 3
_MOST_TOLD = 3
_LONGEST = 300


@dataclass
class _Progress:
    """Where an audit stands: the steps that wait, run, are done, failed, and were lost with the process that ran them."""

    steps: tuple[Step, ...]
    waiting: list[Step]
    at_once: int = 1
    running: dict[PrefectFuture[Any], Step] = field(default_factory=dict)
    done: list[Step] = field(default_factory=list)
    errors: dict[str, Exception] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    broken: bool = False
    alone: set[str] = field(default_factory=set)

    def ready(self, workspace: Workspace) -> list[Step]:
        """Return the waiting steps whose inputs are made; of those that may use an accelerator, so many run at once."""
        if self.running and (self.broken or any(step.name in self.alone for step in self.running.values())):
            return []
        finished = {step.name for step in self.done} | {
            step.name for step in self.steps if step.leaves_failure and step.name in self.errors
        }
        free = self.at_once - sum(step.hints.resources == "gpu" for step in self.running.values())
        found = []
        for step in self.waiting:
            if not upstream(step, self.steps, workspace.settings) <= finished or (step.hints.resources == "gpu" and free < 1):
                continue
            if step.name in self.alone:
                # It ran when a pool of processes broke: by itself, it takes no other step with it if it breaks the next one.
                if not self.running and not found:
                    return [step]
                continue
            free -= step.hints.resources == "gpu"
            found.append(step)
        return found


@flow(name="audit", flow_run_name="audit {workspace}")
def audit(workspace: str = ".", force: list[str] | None = None, at_once: int = 1) -> Any:
    """Audit a workspace: run what is not fresh, record it in DVC, check the gates.

    Args:
        workspace: its folder, from the project's root.
        force: names of steps to run even where they are fresh.
        at_once: how many steps that may use an accelerator run at the same time; more than one only where each has a process of its own.
    """
    space, error = None, None
    try:
        space = open_workspace(workspace)
        with space.lock(f"python -m flows.audit --workspace {space.typed}"):
            _run(space, force or [], at_once)
    except CartographError as problem:
        error = problem
    except Exception as problem:
        # Nobody foresaw it; whoever is to be told of audits that failed is told of this one too.
        announce(workspace if space is None else space.name, space, CartographError(f"{type(problem).__name__}: {problem}"))
        raise
    announce(workspace if space is None else space.name, space, error)
    return None if error is None else ended_with(error)


def _run(space: Workspace, force: list[str], at_once: int) -> None:
    steps = steps_of(space.settings)
    unknown = set(force) - {name for step in steps for name in (step.name, step.section)}
    if unknown:
        raise InputError(
            f"--force {sorted(unknown)[0]}: no such step; this audit's steps: {', '.join(dict.fromkeys(step.section for step in steps))}."
        )
    write(space)
    state = _Progress(steps=steps, waiting=list(steps), at_once=at_once)
    while state.waiting or state.running:
        if state.broken and not state.running:
            restart()
            state.broken = False
        for step in state.ready(space):
            _submit(step, space, bool({step.name, step.section} & set(force)) or step.hints.always(space.settings), state)
        if not state.running:
            break
        finished = next(iter(as_completed(list(state.running))))
        _collect(finished, space, state)
    error = _error(state) if state.errors else None
    try:
        commit(state.done, space)
    except CartographError as problem:
        if error is None:
            raise
        console.complain(str(problem))
    if error is not None:
        # The people's sheet is an input of the next round once it is there.
        if isinstance(error, CartographError) and leave_page(space, steps, error):
            write(space)
        raise error
    check_gates(space)


def _error(state: _Progress) -> Exception:
    """Return what an audit ends with that did not end well: the first error that kept other steps from running, else the cells'."""
    alone = {step.name for step in state.steps if step.leaves_failure}
    others = [error for name, error in state.errors.items() if name not in alone]
    if others:
        # What failed counts before what waits.
        return min(others, key=lambda error: isinstance(error, WaitingError))
    told = "; ".join(f"`{name}`: {str(error).rstrip('.')}" for name, error in list(state.errors.items())[:_MOST_TOLD])
    more = f"; and {len(state.errors) - _MOST_TOLD} more" if len(state.errors) > _MOST_TOLD else ""
    cells = f"{len(state.errors)} cell{'s' * (len(state.errors) > 1)}"
    return CellError(
        f"{cells} failed and everything else was done without: {told}{more}. The next run takes up what failed, and that alone."
    )


def _submit(step: Step, space: Workspace, force: bool, state: _Progress) -> None:
    state.waiting.remove(step)
    if step.hints.needs_versions:
        commit(state.done, space)
    identity = fingerprint(step, space)
    stale = force or fresh(step, space, identity) is None
    # What is fresh uses no accelerator, and need not wait for one where they are limited over all audits.
    run = as_task(step).with_options(refresh_cache=stale, tags=[resource_tag(step if stale else None)])
    state.running[run.submit(workspace=space.relative, identity=identity, force=force)] = step


def _collect(future: PrefectFuture[Any], space: Workspace, state: _Progress) -> None:
    step = state.running.pop(future)
    error = _ending(future)
    # One process killed ends its pool, and so every step that was running.
    if isinstance(error, BrokenProcessPool):
        state.broken = True
        state.alone.add(step.name)
    ended = future.state
    lost = ended.is_crashed() or not ended.is_final()
    why = ended.name if error is None else _line(error)
    if lost and state.lost[step.name] < _MOST_LOSSES:
        state.lost[step.name] += 1
        console.say(f"{step.name}: the process that ran it is gone ({why}); running it again from its last checkpoint")
        state.waiting.insert(0, step)
        return
    receipt = read_receipt(step, space)
    if not ended.is_completed() or receipt is None:
        how = f"was lost {state.lost[step.name] + 1} times with the process that ran it, the last time by {why}" if lost else ""
        state.errors[step.name] = error_of(ended) or CartographError(
            f"step `{step.name}` {how or f'ended as {ended.name}: {ended.message}'}"
        )
        if step.leaves_failure:
            console.say(f"{step.name}: FAILED: {state.errors[step.name]}")
            if not ended.is_failed() or failure_of(space.resolve(step.outputs_of(space.settings)[0])) is None:
                leave_failure(step, space, str(state.errors[step.name]))
        return
    result = future.result()
    executed = ended.name != "Cached" and result["executed"]
    console.step_line(step.name, receipt.summary, result["seconds"] if executed else None)
    state.done.append(step)


def _ending(future: PrefectFuture[Any]) -> BaseException | None:
    """Wait for a task; return what its runner has to say where no process brought it to an end, each runner in its own words."""
    try:
        future.wait()
        said: BaseException | None = future.wrapped_future.exception()  # type: ignore[attr-defined]
    except Exception as error:
        return error
    return said


def _line(error: BaseException) -> str:
    line = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")] = ".",
    force: Annotated[list[str] | None, typer.Option("--force", help="Run this step even where it is fresh; may be repeated.")] = None,
    runner: Annotated[str, typer.Option("--runner", help="Where steps run: local, or dask.")] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="Scheduler of a running Dask cluster; without it a local one is made.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Trainings at once: processes here, or workers of a local cluster.")] = 1,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show Prefect's own log lines.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Audit a labelled dataset: the whole DAG under Prefect."""
    try:
        where, at_once = task_runner(runner, workers, address), trainings_at_once(runner, workers, address)
    except CartographError as error:
        console.complain(str(error))
        raise typer.Exit(error.exit_code) from error
    conduct(audit.with_options(task_runner=where), workspace, force, at_once, verbose=verbose, debug=debug)


def conduct(run: Flow[..., Any], workspace: str, force: list[str] | None, at_once: int = 1, *, verbose: bool, debug: bool) -> None:
    """Run a flow over a workspace's steps from a command line: its lines, where its report is, and its exit code."""
    level = "INFO" if verbose else "ERROR" if debug else "CRITICAL"
    _, error = run_flow(run, workspace, force, at_once, level=level, debug=debug)
    space = open_workspace(workspace) if error is None or isinstance(error, GateError | WaitingError | CellError) else None
    if space is not None and (isinstance(error, WaitingError) or came_to_gates(space, error)):
        report = space.resolve(WAITING_PAGE if isinstance(error, WaitingError) else "reports/report.html")
        console.say("")
        for finding in () if isinstance(error, WaitingError) else findings(space):
            if finding["outcome"] == "warned":
                console.say(f"Warning    {finding['sentence']}")
        if report.exists():
            console.say(f"Report     {report.relative_to(project_root())}")
        if not isinstance(error, WaitingError) and getattr(space.settings.get("publish"), "enabled", False):
            console.say(f"Compare    {viewer(tracking_uri())}")
    if error is not None:
        console.conclude(error)
        raise typer.Exit(error.exit_code)


if __name__ == "__main__":
    sys.exit(app())
