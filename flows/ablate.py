"""The papers' experiments as a flow, each by its name: `python -m flows.ablate NAME`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from prefect import flow

from cartograph.errors import CartographError, InputError
from cartograph.experiments.registry import EXPERIMENTS as DATA_MAPS
from flows.engine.command_line import run_flow
from flows.engine.states import flow_state
from tasks.audit import ablate as experiments
from tasks.engine.workspace import Workspace
from tasks.paper import pair_tables, synthetic
from tasks.pipelines import open_workspace
from tasks.presentation import console


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Attributes:
        what: in a line.
        run: (workspace, an empty folder to write into) -> what was found, in a line.
    """

    what: str
    run: Callable[[Workspace, Path], str]


EXPERIMENTS: dict[str, Experiment] = {
    "synthetic": Experiment("circles with artefacts before and after AFLite (Le Bras et al. 2020, Fig. 2)", synthetic.run),
    **{
        name: Experiment(f"{found.meaning} (Swayamdipta et al. 2020, {found.source})", partial(experiments.run_beside, name))
        for name, found in DATA_MAPS.items()
    },
    **{
        name: Experiment(f"{what} (Mussmann, Jia & Liang 2020, {source})", partial(pair_tables.run, name))
        for name, (what, source) in pair_tables.TABLES.items()
    },
}


@flow(name="ablate", flow_run_name="ablate {experiment} {workspace}")
def ablate(experiment: str, workspace: str = ".") -> Any:
    """Run an experiment and leave what it finds in ``reports/ablate/<experiment>/`` of a workspace."""
    try:
        if experiment not in EXPERIMENTS:
            raise InputError(f"no experiment is called `{experiment}`; known: {', '.join(EXPERIMENTS)}.")
        space = open_workspace(workspace)
        folder = space.path / "reports" / "ablate" / experiment
        folder.mkdir(parents=True, exist_ok=True)
        try:
            finding = EXPERIMENTS[experiment].run(space, folder)
        finally:
            for made in (folder, folder.parent, folder.parent.parent):
                if not any(made.iterdir()):
                    made.rmdir()
    except CartographError as error:
        return flow_state(error)
    console.say(f"{experiment}: {finding}")
    console.say(f"Found      {folder}")
    return None


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=" ".join(f"{name}: {experiment.what}." for name, experiment in EXPERIMENTS.items()))
def main(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}.")],
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")] = ".",
) -> None:
    """Run an experiment."""
    _, error = run_flow(ablate, experiment, workspace)
    if error is not None:
        console.complain(str(error))
        raise typer.Exit(error.exit_code)


if __name__ == "__main__":
    sys.exit(app())
