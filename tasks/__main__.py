"""Make workspaces for your own data, review suspects, match records, and run single steps; `python -m flows.audit` runs a whole audit."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NamedTuple, NoReturn

import typer

from tasks.engine.surroundings import prepare

prepare()

from cartograph.errors import CartographError  # noqa: E402
from tasks.presentation import console  # noqa: E402


class _Command(NamedTuple):
    module: str
    function: str
    line: str
    """What the list of commands says of it: its docstring's first line, so that the list needs none of the modules."""


COMMANDS = {
    "init": _Command("init", "init", "Make a workspace for your own data, and print how it was understood."),
    "first-pairs": _Command(
        "first_pairs",
        "first_pairs",
        "Write a sheet of the first pairs to label, chosen without any label: alike ones, of as many records as there can be.",
    ),
    "init-pairs": _Command(
        "init_pairs", "init_pairs", "Make a workspace that collects labels for your own pairs, and print how they were understood."
    ),
    "review": _Command("review", "review", "Review suspects or pairs on a local page, or write a review sheet, or import a filled one."),
    "expand": _Command(
        "expand", "expand", "Write a sheet of what to label next: the rows of a file that are most like the map's ambiguous ones."
    ),
    "match": _Command("match", "match", "Write which records match, with a probability and how alike each field is."),
    "prune": _Command("prune", "prune", "List files that no later audit would use, with their sizes; with --remove, delete them."),
    "run": _Command("single_steps", "run", "Run one step of an audit, unless its outputs are up to date."),
    "list": _Command("single_steps", "list_steps", "List the steps of an audit and which are up to date."),
    "dvc-yaml": _Command(
        "single_steps",
        "dvc_yaml",
        "Write dvc.yaml from the steps, for one workspace, or for the root and all that have one; a workspace's first run writes it too.",
    ),
}


def app_for(arguments: list[str]) -> typer.Typer:
    """Return the command line, with those commands whole that the arguments name; the others are a name and a line, and import nothing."""
    app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
    for name, command in COMMANDS.items():
        if name in arguments:
            app.command(name)(getattr(import_module(f"tasks.commands.{command.module}"), command.function))
        else:
            app.command(name, help=command.line)(_not_named)
    return app


def _not_named() -> NoReturn:
    """Stands for a command that the arguments do not name."""
    raise AssertionError("only a command that is named runs")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 a gate failed, 2 bad usage or input, 3 people have to answer first."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    try:
        app_for(arguments)([argument for argument in arguments if argument != "--debug"], prog_name="python -m tasks", standalone_mode=True)
    except CartographError as error:
        if debug:
            raise
        console.conclude(error)
        return error.exit_code
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
