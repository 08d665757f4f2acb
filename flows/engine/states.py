"""Errors for the user as states of Prefect: how a task or a flow ended, and the error read back from it."""

from __future__ import annotations

from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from cartograph.errors import CartographError, CellError, GateError, InputError, WaitingError

WAITING = "Waiting"
"""Name of the state in which people have to answer before a step, or a flow, goes on."""


def task_state(error: CartographError) -> State[Any]:
    """Return the state of a task that ended with an error for the user.

    A step that waits for people has not completed, so that no cache takes this for its result, and has not failed either.
    """
    if isinstance(error, WaitingError):
        return Cancelled(name=WAITING, message=str(error), data=_as_data(error))
    return Failed(message=str(error), data=_as_data(error))


def flow_state(error: CartographError) -> State[Any]:
    """Return the state of a flow that ended with an error for the user; one that waits for people has done all it can."""
    if isinstance(error, WaitingError):
        return Completed(name=WAITING, message=str(error), data=_as_data(error))
    return Failed(message=str(error), data=_as_data(error))


def _as_data(error: CartographError) -> dict[str, Any]:
    return {"message": str(error), "exit_code": error.exit_code, "kind": type(error).__name__}


def error_of(state: State[Any]) -> CartographError | None:
    """Return the error for the user that a task or flow ended with, or None where it ended otherwise."""
    data = getattr(state.data, "result", state.data)
    if not (state.is_failed() or state.name == WAITING) or not isinstance(data, dict) or "exit_code" not in data:
        return None
    kind = {known.__name__: known for known in (GateError, WaitingError, CellError)}.get(data["kind"], InputError)
    return kind(data["message"])
