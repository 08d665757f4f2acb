"""The step `ablate`: the experiments that an audit is asked for, a cell each, with a table and a figure."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from cartograph.config import Params as Section
from cartograph.config import Settings
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.plan import ingested
from tasks.audit.pretrained_folder import local_folder
from tasks.engine.step import Hints, Inputs, Matrix, Out, Step
from tasks.engine.workspace import Workspace, user_file
from tasks.presentation.console import progress

if TYPE_CHECKING:
    from cartograph.experiments.experiment import Finding, Material

_ROWS, _MEASURES, _DYNAMICS = "data/ingest/train.parquet", "data/measure/measures.parquet", "data/train"
_MOST_ROWS = 40

Share = Annotated[float, Field(gt=0, lt=1)]


class Params(Section):
    """The section ``ablate`` of params.yaml: which experiments, and how large."""

    experiments: tuple[str, ...] = Field(
        (), description="of burn-out, seeds, steps, dropout, agreement, models, order, fractions; each leaves tables and a figure; []: none"
    )
    seed: int = Field(13, ge=0, description="first seed of the experiments' trainings, samples and intervals")
    seeds: int = Field(3, ge=2, description="seeds, order, fractions: how many seeds, one after the other (the paper: five)")
    passes: int = Field(20, ge=2, description="dropout: passes with dropout on")
    every: int = Field(20, ge=1, description="steps: optimiser steps between readings")
    probe_rows: int = Field(1000, ge=2, description="steps: train rows that are read")
    other_model: str = Field("tiny", description="models: the second model")
    other_pretrained: str | None = Field(None, description="models: its folder or hub id, where it starts from one")

    fractions: tuple[Share, ...] = Field((0.05, 0.1, 0.17, 0.25, 0.33, 0.5), min_length=1, description="fractions: shares of the rows")
    mixed_fraction: Share = Field(0.17, description="fractions: share of the rows at which easy ones are mixed in")
    mixed_shares: tuple[Share, ...] = Field((0.1, 0.2, 0.3, 0.5), description="fractions: shares of easy rows in that")

    @field_validator("experiments", "fractions", "mixed_shares")
    @classmethod
    def _distinct(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        twice = next((value for index, value in enumerate(values) if value in values[:index]), None)
        if twice is not None:
            raise ValueError(f"names {twice} twice; each is run once")
        return values


def run(params: Params, inputs: Inputs, out: Out) -> str:
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
        InputError: the workspace is a collection, the audit has not come so far, or it or another experiment holds the workspace.
    """
    if "ablate" not in space.settings:
        raise InputError(
            f"experiment `{name}` is about an audit, and {space.path} is a collection of pairs; name an audit with --workspace."
        )
    params = space.settings["ablate"]
    # As in a cell, braces of the user's own come out as they are.
    inputs = Inputs(space, tuple(path.format() for path in _inputs(space.settings)))
    with space.lock(f"python -m flows.ablate {name}"):
        missing = next((path for path in inputs.values() if not path.exists()), None)
        if missing is not None or not isinstance(params, Params):
            raise InputError(f"experiment `{name}` needs {missing}, which an audit makes; run `python -m flows.audit` first.")
        return _answer(name, params, space, inputs, space.state / "checkpoints" / f"experiment-{name}", folder)


def _answer(name: str, params: Params, space: Workspace, inputs: Inputs, scratch: Path, folder: Path) -> str:
    from cartograph.data.parquet import write_parquet
    from cartograph.experiments.registry import EXPERIMENTS
    from cartograph.figures.saving import save_figure, save_small_png

    scratch.mkdir(parents=True, exist_ok=True)
    with progress(f"ablate {name}") as report:
        found: Finding = EXPERIMENTS[name].run(replace(_material(params, inputs, space, scratch), progress=report))
    shutil.rmtree(scratch)
    for title, table in found.tables.items():
        write_parquet(table, folder / f"{title}.parquet")
    save_figure(found.figure, folder / f"{name}.svg")
    save_small_png(found.figure, folder / f"{name}.png")
    # What is no number, such as the correlation with something constant, is left out: JSON has no word for it.
    known = {title: number for title, number in found.numbers.items() if math.isfinite(number)}
    numbers = json.dumps(known, indent=1, sort_keys=True)
    (folder / "numbers.json").write_text(numbers + "\n", encoding="utf-8")
    experiment = EXPERIMENTS[name]
    said = {"name": name, "question": experiment.meaning, "source": experiment.source, "answer": found.answer, "tables": list(found.tables)}
    (folder / "finding.json").write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "finding.md").write_text(_page(name, found), encoding="utf-8")
    return found.answer


def _material(params: Params, inputs: Inputs, space: Workspace, scratch: Path) -> Material:
    import pyarrow.parquet as pq

    from cartograph.experiments.experiment import Material

    settings = space.settings
    trained, measured = settings["train"], settings["measure"]
    if not isinstance(trained, recipes.Params):
        raise InputError("section `train` was not read with its own model.")
    named = [name for name in inputs if name.startswith("data/ingest/") and name != _ROWS]
    dynamics = inputs[_DYNAMICS] / "dynamics"
    options = measured.model_dump() | params.model_dump()
    folder = local_folder(params.other_pretrained)
    return Material(
        examples=pq.read_table(inputs[_ROWS]).sort_by("uid"),
        evaluation={Path(name).stem: pq.read_table(inputs[name]) for name in named},
        measures=pq.read_table(inputs[_MEASURES]).sort_by("uid"),
        dynamics=dynamics if dynamics.is_dir() else None,
        recipe=recipes.recipe_of(trained, space),
        options=options | ({"other_pretrained": str(folder)} if folder else {}),
        folder=scratch,
    )


def _page(name: str, found: Finding) -> str:
    from cartograph.experiments.registry import EXPERIMENTS

    experiment = EXPERIMENTS[name]
    lines = [
        f"# {name}: {experiment.meaning}",
        "",
        f"{found.answer[0].upper()}{found.answer[1:]}.",
        "",
        f"Source: {experiment.source}.",
        "",
    ]
    for title, table in found.tables.items():
        lines += [f"## {title}", "", f"| {' | '.join(table.column_names)} |", f"| {' | '.join('---' for _ in table.column_names)} |"]
        lines += [f"| {' | '.join(_cell(value) for value in row.values())} |" for row in table.slice(0, _MOST_ROWS).to_pylist()]
        if table.num_rows > _MOST_ROWS:
            lines += ["", f"The first {_MOST_ROWS} of {table.num_rows:,} rows; all are in {title}.parquet."]
        lines.append("")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    unknown = value is None or (isinstance(value, float) and math.isnan(value))
    text = "" if unknown else f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _inputs(settings: Settings) -> tuple[str, ...]:
    trained: Any = settings["train"]
    params: Any = settings["ablate"]
    other = params.other_pretrained if "models" in params.experiments else None
    own = (*recipes.pretrained_files(trained), *((user_file(other),) if local_folder(other) else ()))
    # The names are filled in with the cell's values: a brace of the user's own must come out as it is.
    return (*ingested(settings), _MEASURES, _DYNAMICS, *(name.replace("{", "{{").replace("}", "}}") for name in dict.fromkeys(own)))


STEP = Step(
    name="ablate",
    run=run,
    params=Params,
    inputs=_inputs,
    libraries=(*train.STEP.libraries, "matplotlib", "scipy"),
    when=lambda settings: bool(settings["ablate"].experiments),  # type: ignore[attr-defined]
    reads=("train", "measure"),
    matrix=Matrix({"experiment": "experiments"}, leaves_failure=True),
    hints=Hints(resources="gpu"),
)
