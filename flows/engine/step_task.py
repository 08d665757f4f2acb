"""A Step as a Prefect task: its cache key is computed, and its receipt verified, when its turn comes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from prefect import Task, task
from prefect.cache_policies import CachePolicy
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State, TaskRun
from prefect.concurrency.sync import concurrency
from prefect.context import TaskRunContext
from prefect.exceptions import ObjectNotFound

from cartograph.errors import CartographError
from flows.engine.progress_artifact import progress_shown
from flows.engine.runner import LostProcessError
from flows.engine.states import task_state
from tasks.engine.failed_cell import leave_failure
from tasks.engine.receipt import Receipt, fresh
from tasks.engine.running import Outcome, course_note
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace
from tasks.presentation import console

GPU_TAG = "resource:gpu"
"""The tag whose limit on the server, made by `flows.deploy --gpus`, says how many steps use an accelerator over all audits."""

MOST_LOSSES = 3
RETRIES = 2
RETRY_DELAY_SECONDS = 5.0
LEASE_SECONDS = 60.0
"""How long the server keeps an accelerator for a step whose flow was killed; while the flow lives, Prefect renews it."""

_LONGEST = 300


@dataclass
class VerifiedReceipt(CachePolicy):
    """Offers Prefect a cache key only where a step's receipt verifies against the disk: anything else is computed.

    The key is the step's name, the workspace and the step's fingerprint. Prefect asks for it when the upstream tasks have ended, so
    the inputs that it is computed from are there.
    """

    step: Step | None = None
    workspace: Workspace | None = None
    force: bool = False

    def compute_key(self, task_ctx: TaskRunContext, inputs: dict[str, Any], flow_parameters: dict[str, Any], **kwargs: Any) -> str | None:
        """Return the step's key, or None where it must run."""
        if self.force or self.step is None or self.workspace is None:
            return None
        receipt = fresh(self.step, self.workspace)
        return None if receipt is None else cache_key(receipt, self.workspace)


def cache_key(receipt: Receipt, workspace: Workspace) -> str:
    """Return the key under which Prefect caches what this receipt is of."""
    return f"{receipt.step}-{workspace.relative}-{receipt.fingerprint}".replace("/", "-")


def as_task(
    step: Step, workspace: Workspace, compute: Callable[..., Outcome], *, force: bool = False, first: Callable[[], object] | None = None
) -> Task[[], Any]:
    """Return the Prefect task that runs a step once.

    An error that is meant for the user is not retried; anything else is, and training then resumes from its checkpoint. So is a step
    whose process was lost, from then on with no other step beside it.

    Args:
        step: the step.
        workspace: its workspace, whose lock the flow holds.
        compute: runs it where steps are computed; ``alone=True`` without any other step at the same time.
        force: whether it runs even where it is fresh.
        first: what to do before it, where it runs.
    """
    losses: list[str] = []

    def execute() -> Any:
        try:
            if first is not None:
                first()
            with _accelerator(step), progress_shown(step.name, course_note(step, workspace)):
                outcome = compute(alone=bool(losses))
        except CartographError as error:
            return task_state(error)
        except LostProcessError as error:
            losses.append(_line(str(error)))
            if len(losses) <= MOST_LOSSES:
                raise
            return task_state(_given_up(step, workspace, losses))
        result = {"summary": outcome.receipt.summary, "seconds": outcome.seconds if outcome.executed else None}
        context = TaskRunContext.get()
        if outcome.executed and context is not None and context.result_store is not None:
            # This run had no key; the next one looks for the result under the key of what was made.
            context.result_store.write(result | {"seconds": None}, key=cache_key(outcome.receipt, workspace))
        return result

    def worth_retrying(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
        if isinstance(state.data, LostProcessError):
            console.say(f"{step.name}: the process that ran it has died ({losses[-1]}); running it again from its last checkpoint")
            return True
        if isinstance(state.data, dict) or run.run_count - len(losses) > RETRIES:
            return False
        console.say(f"{step.name}: {state.message}; trying again in {RETRY_DELAY_SECONDS:.0f} s")
        return True

    execute.__name__ = f"run_{step.name}"
    return task(
        name=step.name,
        task_run_name=step.name,
        cache_policy=VerifiedReceipt(step=step, workspace=workspace, force=force),
        persist_result=True,
        result_serializer="json",
        retries=MOST_LOSSES + RETRIES,
        retry_delay_seconds=RETRY_DELAY_SECONDS,
        retry_condition_fn=worth_retrying,
    )(execute)


def _accelerator(step: Step) -> AbstractContextManager[object]:
    """Hold one of the accelerators that are counted over all audits, where the step may use one and they are counted."""
    if step.hints.resources != "gpu":
        return nullcontext()
    name = f"tag:{GPU_TAG}"
    with get_client(sync_client=True) as client:
        try:
            client.read_global_concurrency_limit_by_name(name)
        except ObjectNotFound:
            return nullcontext()
    return concurrency(name, occupy=1, lease_duration=LEASE_SECONDS)


def _given_up(step: Step, workspace: Workspace, losses: list[str]) -> CartographError:
    error = CartographError(f"step `{step.name}` was lost {len(losses)} times with the process that ran it, the last time by {losses[-1]}")
    if step.leaves_failure:
        leave_failure(step, workspace, str(error))
    return error


def _line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
