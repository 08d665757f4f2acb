"""The step `ablate`: the experiments that params.yaml names, one cell each, with tables and a figure."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.ablate import Ablate
from tasks.audit.parameters.ingest import Sources
from tasks.audit.parameters.measure import Measure
from tasks.audit.parameters.train import Train
from tasks.audit.plan import experiment_folders
from tasks.audit.pretrained_folder import local_folder
from tasks.engine.step import Hints, Inputs, Matrix, Out, Step
from tasks.engine.workspace import Workspace, user_file
from tasks.presentation.console import progress

if TYPE_CHECKING:
    from cartograph.experiments.experiment import Finding, Material

_ROWS, _MEASURES, _DYNAMICS = "data/ingest/train.parquet", "data/measure/measures.parquet", "data/train"


def run(params: Ablate, inputs: Inputs, out: Out) -> str:
    """Run the cell's experiment; write its tables, numbers and figure; return what it found."""
    from cartograph.experiments.registry import EXPERIMENTS

    name = out.cell["experiment"]
    if name not in EXPERIMENTS:
        raise InputError(f"`ablate.experiments` names `{name}`; there are {', '.join(EXPERIMENTS)}.")
    [folder] = out.staged.values()
    return _answer(name, params, out.workspace, inputs, out.checkpoints, folder)


def run_beside(name: str, space: Workspace, folder: Path) -> str:
    """Run an experiment on what an audit has left in a workspace, whether params.yaml names it or not; return what it found.

    Raises:
        InputError: the workspace is a collection, its rows have several labels, the audit has not come so far, or it or another
            experiment holds the workspace.
    """
    params = space.settings.find(Ablate)
    if params is None:
        several = space.settings.find(Sources) is not None
        about, other = ("rows with one label", "has several") if several else ("an audit", "is a collection of pairs")
        raise InputError(f"experiment `{name}` is about {about}, and {space.path} {other}; name an audit with --workspace.")
    # As in a cell, braces of the user's own come out as they are.
    inputs = Inputs(space, tuple(path.format() for path in _inputs(space.settings)))
    with space.lock(f"python -m flows.ablate {name}"):
        missing = next((path for path in inputs.values() if not path.exists()), None)
        if missing is not None:
            raise InputError(f"experiment `{name}` needs {missing}, which an audit makes; run `python -m flows.audit` first.")
        return _answer(name, params, space, inputs, space.state / "checkpoints" / f"experiment-{name}", folder)


def _answer(name: str, params: Ablate, space: Workspace, inputs: Inputs, scratch: Path, folder: Path) -> str:
    from cartograph.data.parquet import write_parquet
    from cartograph.experiments.finding_markdown import finding_markdown
    from cartograph.experiments.registry import EXPERIMENTS
    from cartograph.figures.saving import save_figure

    scratch.mkdir(parents=True, exist_ok=True)
    with progress(f"ablate {name}") as report:
        found: Finding = EXPERIMENTS[name].run(replace(_material(params, inputs, space, scratch), progress=report))
    shutil.rmtree(scratch)
    for title, table in found.tables.items():
        write_parquet(table, folder / f"{title}.parquet")
    save_figure(found.figure, folder / f"{name}.svg")
    save_figure(found.figure, folder / f"{name}.png")
    # What is no number, such as the correlation with something constant, is left out: JSON has no word for it.
    known = {title: number for title, number in found.numbers.items() if math.isfinite(number)}
    write_json(folder / "numbers.json", known)
    experiment = EXPERIMENTS[name]
    said = {"name": name, "question": experiment.meaning, "source": experiment.source, "answer": found.answer, "tables": list(found.tables)}
    write_json(folder / "finding.json", said)
    (folder / "finding.md").write_text(finding_markdown(experiment, found), encoding="utf-8")
    return found.answer


def _material(params: Ablate, inputs: Inputs, space: Workspace, scratch: Path) -> Material:
    import pyarrow.parquet as pq

    from cartograph.experiments.experiment import Material

    settings = space.settings
    trained = settings.of(Train)
    named = [name for name in inputs if name.startswith("data/ingest/") and name != _ROWS]
    dynamics = inputs[_DYNAMICS] / "dynamics"
    options = settings.of(Measure).model_dump() | params.model_dump()
    folder = local_folder(params.other_pretrained)
    return Material(
        examples=pq.read_table(inputs[_ROWS]).sort_by("uid"),
        evaluation={Path(name).stem: pq.read_table(inputs[name]) for name in named},
        measures=pq.read_table(inputs[_MEASURES]).sort_by("uid"),
        dynamics=dynamics if dynamics.is_dir() else None,
        recipe=recipes.recipe_of(trained, space, inputs[_DYNAMICS] / "training.json"),
        options=options | ({"other_pretrained": str(folder)} if folder else {}),
        folder=scratch,
        epochs_open=trained.epochs == "auto",
    )


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings.of(Ablate)
    other = params.other_pretrained if "models" in params.experiments else None
    others = (user_file(other),) if other is not None and local_folder(other) else ()
    own = (*recipes.pretrained_files(settings.of(Train)), *others)
    # The names are filled in with the cell's values: a brace of the user's own must come out as it is.
    return (*ingested_sets(settings), _MEASURES, _DYNAMICS, *(name.replace("{", "{{").replace("}", "}}") for name in dict.fromkeys(own)))


STEP = Step(
    name="ablate",
    run=run,
    params=Ablate,
    inputs=_inputs,
    libraries=(*train.STEP.libraries, "matplotlib", "scipy"),
    when=lambda settings: bool(experiment_folders(settings)),
    reads=("train", "measure"),
    matrix=Matrix({"experiment": "experiments"}, leaves_failure=True),
    hints=Hints(resources="gpu"),
)
