"""A Step as a cached Prefect task."""

from __future__ import annotations

from typing import Any

from prefect import Task, task
from prefect.client.schemas.objects import State, TaskRun
from prefect.results import ResultRecord
from prefect.states import Failed

from cartograph.errors import CartographError, GateError, InputError
from tasks import console
from tasks.running import run_step
from tasks.step import Step
from tasks.workspace import open_workspace

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
        try:
            outcome = run_step(step, open_workspace(workspace), force=force)
        except CartographError as error:
            return Failed(message=str(error), data={"message": str(error), "gate": isinstance(error, GateError)})
        return {"summary": outcome.receipt.summary, "executed": outcome.executed, "seconds": outcome.seconds}

    execute.__name__ = f"run_{step.name}"
    return task(
        execute,
        name=step.name,
        task_run_name=step.name,
        tags=[f"resource:{step.resources}"],
        cache_key_fn=lambda context, arguments: f"{step.name}-{arguments['workspace']}-{arguments['identity']}".replace("/", "-"),
        persist_result=True,
        result_serializer="json",
        retries=RETRIES,
        retry_delay_seconds=RETRY_DELAY_SECONDS,
        retry_condition_fn=_worth_retrying,
    )


def _worth_retrying(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Return whether a failed run may go better next time: an error meant for the user would only come again."""
    again = not isinstance(state.data, dict)
    if again:
        console.say(f"{task.name}: {state.message}; trying again in {RETRY_DELAY_SECONDS:.0f} s")
    return again


def error_of(state: State[Any]) -> CartographError | None:
    """Return the error for the user that a failed task or flow ended with, or None where it failed otherwise."""
    data = state.data.result if isinstance(state.data, ResultRecord) else state.data
    if not state.is_failed() or not isinstance(data, dict) or "gate" not in data:
        return None
    return GateError(data["message"]) if data["gate"] else InputError(data["message"])
