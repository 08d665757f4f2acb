"""A collection of pairs as a Prefect flow: every round of every method a cached task."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

DEFAULT = "workspaces/paraphrases"

if __name__ == "__main__":
    from flows.engine.unchanged import ended_at_once

    # Before Prefect is imported, which takes longer than to see that there is nothing to do.
    if ended_at_once(sys.argv[1:], DEFAULT, "collect"):
        sys.exit()

from cartograph.errors import CartographError, InputError
from flows.audit import audit
from flows.engine.command_line import conduct
from tasks.collection.parameters import SECTION as COLLECTION
from tasks.engine.workspace import Workspace
from tasks.pipelines import open_workspace
from tasks.presentation import console

collect = audit.with_options(name="collect", flow_run_name="collect {workspace}")
"""The flow: it runs whatever steps its workspace has, and a collection's are its rounds."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the collection; the built-in one by default.")] = DEFAULT,
    force: Annotated[list[str] | None, typer.Option("--force", help="Run this step even if it is up to date. Repeatable.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show Prefect's own log lines.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Collect labels for a pairwise task: rounds, methods and seeds under Prefect; continues where it was stopped."""
    try:
        require_collection(open_workspace(workspace))
    except CartographError as error:
        console.complain(str(error))
        raise typer.Exit(error.exit_code) from error
    conduct(collect, open_workspace, workspace, force, verbose=verbose, debug=debug)


def require_collection(space: Workspace) -> None:
    """Check that a workspace is a collection.

    Raises:
        InputError: it is an audit.
    """
    if COLLECTION not in space.settings:
        raise InputError(
            f"{space.path / 'params.yaml'} has no section `{COLLECTION}`, so this is an audit: run `python -m flows.audit`, "
            "or make a collection with `python -m tasks init-pairs`."
        )


if __name__ == "__main__":
    sys.exit(app())
