"""A flow run from a command line: its lines, how it ended, and its exit code."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from typing import Any

import typer
from prefect import Flow
from prefect.client.schemas.objects import State
from prefect.logging.configuration import setup_logging

from cartograph.errors import CartographError, CellError, GateError, InputError, WaitingError
from flows.engine.closing_lines import INTERRUPTED, print_places
from flows.engine.states import error_of
from flows.engine.temporary_server import server_log
from flows.engine.watch import ending_soon
from tasks.engine.workspace import Workspace
from tasks.presentation import console

_EPHEMERAL = "attempting to connect to ephemeral Prefect API server"
"""What Prefect says, as a RuntimeError, where the server that it started does not answer in time."""

_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_LONGEST = 300


def conduct(
    run: Flow[..., Any], open_workspace: Callable[[str], Workspace], workspace: str, *arguments: Any, verbose: bool, debug: bool
) -> None:
    """Run a flow over a workspace's steps: print where its report is, and end with its exit code.

    Args:
        run: the flow; its first argument is the workspace.
        open_workspace: opens the workspace.
        workspace: its folder.
        arguments: the flow's further arguments.
        verbose: show Prefect's own log lines.
        debug: show the traceback of an error.
    """
    level = "INFO" if verbose else "ERROR" if debug else "CRITICAL"
    _, error = run_flow(run, workspace, *arguments, level=level, debug=debug)
    if error is None or isinstance(error, GateError | WaitingError | CellError):
        print_places(open_workspace(workspace), error)
    if error is not None:
        console.conclude(error)
        raise typer.Exit(error.exit_code)


def run_flow(run: Flow[..., Any], *arguments: Any, level: str = "CRITICAL", debug: bool = False) -> tuple[Any, CartographError | None]:
    """Run a flow; return what it returned, or None and the error for the user that it ended with.

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
        with ending_soon():
            ended: State[Any] = run(*arguments, return_state=True)  # type: ignore[assignment]
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except Exception as problem:
        if debug:
            raise
        return None, _no_run(problem)
    error = error_of(ended)
    if error is None and not ended.is_completed() and not debug:
        error = CartographError(f"the {run.name} ended as {ended.name}: {ended.message}")
    # Of a flow that failed, Prefect raises the exception here.
    return (ended.result(), None) if error is None else (None, error)


def unanswered(error: BaseException) -> bool:
    """Return whether an error says that no Prefect server answers: it, or what it was caused by, is an error of the connection."""
    from httpx import TransportError

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, TransportError | ConnectionError | TimeoutError | socket.gaierror) or _EPHEMERAL in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def own_text(error: Exception) -> str:
    """Return what an error says, in one line, without the user and password of a URL in it."""
    text = _CREDENTIALS.sub("//", " ".join(str(error).split()))[:_LONGEST]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def no_server(error: Exception) -> str:
    """Return the sentence for a server that is not there."""
    api = os.environ.get("PREFECT_API_URL", "")
    where = api.partition("://")[2].rpartition("@")[2] if api else "(PREFECT_API_URL is not set)"
    return (
        f"there is no Prefect server at {where} ({type(error).__name__}); start one with `prefect server start`, and name its "
        "address in PREFECT_API_URL, such as http://127.0.0.1:4200/api."
    )


def _no_run(error: Exception) -> CartographError:
    if not unanswered(error):
        return CartographError(f"Prefect could not begin a run ({own_text(error)}); `--debug` shows where that was.")
    if os.environ.get("PREFECT_API_URL"):
        return InputError(no_server(error))
    return InputError(
        f"the Prefect server that a flow starts for itself does not answer ({error}; its own messages: {server_log()}); on a busy machine "
        "try again, or start one with `prefect server start` and name its address in PREFECT_API_URL, such as http://127.0.0.1:4200/api."
    )
