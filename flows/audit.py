"""The audit of a workspace as a Prefect flow: every step a cached task, independent steps at the same time."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from prefect import Flow, flow
from prefect.futures import PrefectFuture, as_completed
from prefect.logging.configuration import setup_logging
from prefect.states import Failed

from cartograph.errors import CartographError, GateError, InputError
from flows.as_task import as_task, error_of
from flows.versions import commit
from tasks import console
from tasks.dag import steps_of, upstream
from tasks.dvc_yaml import write
from tasks.gates import check_gates
from tasks.receipt import fingerprint, fresh, read_receipt
from tasks.step import Step
from tasks.workspace import ROOT, Workspace, open_workspace


@dataclass
class _Progress:
    """Where an audit stands: the steps that wait, run, are done, and failed."""

    steps: tuple[Step, ...]
    waiting: list[Step]
    running: dict[PrefectFuture[Any], Step] = field(default_factory=dict)
    done: list[Step] = field(default_factory=list)
    errors: dict[str, Exception] = field(default_factory=dict)

    def ready(self, workspace: Workspace) -> list[Step]:
        """Return the waiting steps whose inputs are made; on an accelerator one step runs at a time."""
        finished = {step.name for step in self.done}
        busy = any(step.resources == "gpu" for step in self.running.values())
        found = []
        for step in self.waiting:
            if not upstream(step, self.steps, workspace.settings) <= finished or (step.resources == "gpu" and busy):
                continue
            busy = busy or step.resources == "gpu"
            found.append(step)
        return found


@flow(name="audit", flow_run_name="audit {workspace}")
def audit(workspace: str = ".", force: list[str] | None = None) -> Any:
    """Audit a workspace: run what is not fresh, record it in DVC, check the gates.

    Args:
        workspace: its folder, from the project's root.
        force: names of steps to run even where they are fresh.
    """
    try:
        space = open_workspace(workspace)
        with space.lock(f"python -m flows.audit --workspace {space.relative}"):
            _run(space, force or [])
    except CartographError as error:
        return Failed(message=str(error), data={"message": str(error), "gate": isinstance(error, GateError)})
    return None


def _run(space: Workspace, force: list[str]) -> None:
    steps = steps_of(space.settings)
    unknown = set(force) - {name for step in steps for name in (step.name, step.section)}
    if unknown:
        raise InputError(
            f"--force {sorted(unknown)[0]}: no such step; this audit's steps: {', '.join(dict.fromkeys(step.section for step in steps))}."
        )
    write(space)
    state = _Progress(steps=steps, waiting=list(steps))
    while state.waiting or state.running:
        for step in state.ready(space):
            _submit(step, space, bool({step.name, step.section} & set(force)), state)
        if not state.running:
            break
        finished = next(iter(as_completed(list(state.running))))
        _collect(finished, space, state)
    commit(state.done, space)
    if state.errors:
        raise next(iter(state.errors.values()))
    check_gates(space)


def _submit(step: Step, space: Workspace, force: bool, state: _Progress) -> None:
    state.waiting.remove(step)
    if step.needs_versions:
        commit(state.done, space)
    identity = fingerprint(step, space)
    stale = force or fresh(step, space, identity) is None
    run = as_task(step).with_options(refresh_cache=stale)
    state.running[run.submit(workspace=space.relative, identity=identity, force=force)] = step


def _collect(future: PrefectFuture[Any], space: Workspace, state: _Progress) -> None:
    step = state.running.pop(future)
    future.wait()
    ended = future.state
    receipt = read_receipt(step, space)
    if not ended.is_completed() or receipt is None:
        state.errors[step.name] = error_of(ended) or CartographError(f"step `{step.name}` ended as {ended.name}: {ended.message}")
        return
    result = future.result()
    executed = ended.name != "Cached" and result["executed"]
    console.step_line(step.name, receipt.summary, result["seconds"] if executed else None)
    state.done.append(step)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")] = ".",
    force: Annotated[list[str] | None, typer.Option("--force", help="Run this step even where it is fresh; may be repeated.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show Prefect's own log lines.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Audit a labelled dataset: the whole DAG under Prefect."""
    conduct(audit, workspace, force, verbose=verbose, debug=debug)


def conduct(run: Flow[..., Any], workspace: str, force: list[str] | None, *, verbose: bool, debug: bool) -> None:
    """Run a flow over a workspace's steps from a command line: its lines, where its report is, and its exit code."""
    level = "INFO" if verbose else "ERROR" if debug else "CRITICAL"
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", level)
    setup_logging(incremental=False)
    ended = run(workspace, force, return_state=True)
    error = error_of(ended)
    if error is None and not ended.is_completed():
        if debug:
            ended.result()
        error = CartographError(f"the {run.name} ended as {ended.name}: {ended.message}")
    space = open_workspace(workspace) if error is None or isinstance(error, GateError) else None
    if space is not None:
        report = space.path / "reports" / "report.html"
        console.say("")
        if report.exists():
            console.say(f"Report     {report.relative_to(ROOT)}")
        console.say("Compare    mlflow ui --backend-store-uri sqlite:///mlflow.db")
    if error is not None:
        console.complain(str(error))
        raise typer.Exit(error.exit_code)


if __name__ == "__main__":
    sys.exit(app())
