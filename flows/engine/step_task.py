"""A Step as a cached Prefect task."""

from __future__ import annotations

from typing import Any

from prefect import Task, task
from prefect.client.schemas.objects import State, TaskRun
from prefect.results import ResultRecord
from prefect.states import Cancelled, Completed, Failed

from cartograph.errors import CartographError, CellError, GateError, InputError, WaitingError
from flows.engine.devices import keep_own_gpu
from tasks.engine.running import run_step
from tasks.engine.step import Step
from tasks.pipelines import open_workspace
from tasks.presentation import console

WAITING = "Waiting"
"""Name of the state in which people have to answer before a step, or a flow, goes on."""

RETRIES = 2
RETRY_DELAY_SECONDS = 5.0


def as_task(step: Step) -> Task[..., Any]:
    """Return the Prefect task that runs a step.

    It is called with ``workspace`` (a path), ``identity`` (the step's fingerprint, computed once its inputs are there) and
    ``force``. Its cache key is the step's name, the workspace and that fingerprint, so that two tasks made here never
    share one; whoever submits it sets ``refresh_cache`` when the receipt does not verify against the disk. An error that
    is meant for the user is not retried; anything else is, and training then resumes from its checkpoint.
    """

    def execute(workspace: str, identity: str, force: bool = False) -> Any:
        keep_own_gpu()
        try:
            outcome = run_step(step, open_workspace(workspace), force=force)
        except CartographError as error:
            # Not completed, so that no cache takes it for the step's result; not failed either.
            return Cancelled(name=WAITING, message=str(error), data=told(error)) if isinstance(error, WaitingError) else ended_with(error)
        return {"summary": outcome.receipt.summary, "executed": outcome.executed, "seconds": outcome.seconds}

    execute.__name__ = f"run_{step.name}"
    return task(
        execute,
        name=step.name,
        task_run_name=step.name,
        tags=[resource_tag(step)],
        cache_key_fn=lambda context, arguments: f"{step.name}-{arguments['workspace']}-{arguments['identity']}".replace("/", "-"),
        persist_result=True,
        result_serializer="json",
        retries=RETRIES,
        retry_delay_seconds=RETRY_DELAY_SECONDS,
        retry_condition_fn=_worth_retrying,
    )


def resource_tag(step: Step | None) -> str:
    """Return the tag by which Prefect limits how many tasks run at once: of what a step uses; of None, which uses nothing much."""
    return f"resource:{step.hints.resources if step else 'cpu'}"


def _worth_retrying(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Return whether a failed run may go better next time: an error meant for the user would only come again."""
    again = not isinstance(state.data, dict)
    if again:
        console.say(f"{task.name}: {state.message}; trying again in {RETRY_DELAY_SECONDS:.0f} s")
    return again


def ended_with(error: CartographError) -> State[Any]:
    """Return the state of a flow that ended with an error for the user; one that waits for people has not failed."""
    if isinstance(error, WaitingError):
        return Completed(name=WAITING, message=str(error), data=told(error))
    return Failed(message=str(error), data=told(error))


def told(error: CartographError) -> dict[str, Any]:
    """Return an error for the user as the data of a state."""
    return {"message": str(error), "exit_code": error.exit_code, "kind": type(error).__name__}


def error_of(state: State[Any]) -> CartographError | None:
    """Return the error for the user that a task or flow ended with, or None where it ended otherwise."""
    data = state.data.result if isinstance(state.data, ResultRecord) else state.data
    if not (state.is_failed() or state.name == WAITING) or not isinstance(data, dict) or "exit_code" not in data:
        return None
    kind = {known.__name__: known for known in (GateError, WaitingError, CellError)}.get(data["kind"], InputError)
    return kind(data["message"])
