"""A flow run from a command line: how it ended, and what a user is told where Prefect's server is not there."""

from __future__ import annotations

import os
from typing import Any

from prefect import Flow
from prefect.client.schemas.objects import State
from prefect.logging.configuration import setup_logging

from cartograph.errors import CartographError, InputError
from flows.engine.step_task import error_of


def run_flow(
    run: Flow[..., Any], *arguments: Any, level: str = "CRITICAL", debug: bool = False
) -> tuple[State[Any] | None, CartographError | None]:
    """Run a flow; return its last state, and the error for the user that it ended with, if any.

    Args:
        run: the flow.
        arguments: of the flow.
        level: from which on Prefect's own log lines are shown.
        debug: raise what was not meant for the user as it is.
    """
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", level)
    setup_logging(incremental=False)
    try:
        # What goes wrong in the flow becomes its state; what is raised here is that no run of it could be made.
        ended = run(*arguments, return_state=True)
    except Exception as error:
        if debug:
            raise
        return None, _no_run(error)
    found = error_of(ended)
    if found is None and not ended.is_completed():
        if debug:
            ended.result()
        found = CartographError(f"the {run.name} ended as {ended.name}: {ended.message}")
    return ended, found


def no_server(error: Exception) -> str:
    """Return the sentence for a server that is not there."""
    api = os.environ.get("PREFECT_API_URL", "")
    where = api.partition("://")[2].rpartition("@")[2] if api else "(PREFECT_API_URL is not set)"
    return (
        f"there is no Prefect server at {where} ({type(error).__name__}); start one with `prefect server start`, and name its "
        "address in PREFECT_API_URL, such as http://127.0.0.1:4200/api."
    )


def _no_run(error: Exception) -> InputError:
    if os.environ.get("PREFECT_API_URL"):
        return InputError(no_server(error))
    return InputError(
        f"the Prefect server that a flow starts for itself does not answer ({error}); on a busy machine try again, or start one with "
        "`prefect server start` and name its address in PREFECT_API_URL, such as http://127.0.0.1:4200/api."
    )
