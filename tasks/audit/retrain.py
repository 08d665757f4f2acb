"""The step `retrain`: the recipe of `train` from scratch on each version of the train set, with each seed, one cell each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from cartograph.config import Params as Section
from cartograph.config import Settings
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.plan import chosen_selections, ingested, retrained
from tasks.engine.step import Hints, Inputs, Matrix, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.train.recipe import Recipe
    from tasks.engine.workspace import Workspace

Subset = Literal["original", "cleaned", "random"]

_ROWS = "data/ingest/train.parquet"
_SUBSET = "data/select/{subset}.parquet"


class Params(Section):
    """The section ``retrain`` of params.yaml: what to train on, how often, and what of the section ``train`` to change."""

    subsets: tuple[Subset, ...] = Field(
        ("original", "cleaned", "random"), description="trained on from scratch; random: as many rows as cleaned has; []: no retraining"
    )
    selections: bool = Field(False, description="also train on every selection of `select`: the grid of strategies, fractions and seeds")
    seeds: tuple[int, ...] = Field((1, 2, 3), description="a model each per subset")
    epochs: int | None = Field(None, ge=1, description="passes over each subset; null: as in train")
    batch_size: int | None = Field(None, ge=1, description="rows per optimiser step; null: as in train")
    learning_rate: float | None = Field(None, gt=0, description="peak learning rate of AdamW; null: as in train")

    @field_validator("subsets", "seeds")
    @classmethod
    def _distinct(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        twice = next((value for index, value in enumerate(values) if value in values[:index]), None)
        if twice is not None:
            raise ValueError(f"names {twice} twice; each is trained once")
        return values

    @field_validator("seeds")
    @classmethod
    def _seeds(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if any(value < 0 for value in values):
            raise ValueError(f"seeds should be 0 or more, but one is {min(values)}")
        return values


def run(params: Params, inputs: Inputs, out: Out) -> str:
    """Train on the cell's subset; write predictions, history, training and metrics; return how well it went."""
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.data.subsets import take_subset
    from cartograph.train.fit import fit_files

    subset, seed = out.cell["subset"], int(out.cell["seed"])
    recipe = _recipe(params, out.workspace, seed)
    name = _SUBSET.format(subset=subset)
    rows = take_subset(pq.read_table(inputs[_ROWS]), pq.read_table(inputs[name]), name)
    evaluation = {Path(name).stem: inputs[name] for name in inputs if name.startswith("data/ingest/") and name != _ROWS}
    described = {"subset": subset, "seed": seed, "rows": rows.num_rows}
    described |= {"batch_size": recipe.batch_size, "learning_rate": recipe.learning_rate}
    [folder] = out.staged.values()
    # The fraction in a selection's name looks like a suffix.
    folder.mkdir(exist_ok=True)
    if len(rows["label"].unique()) < 2:
        if rows.num_rows and subset in chosen_selections(out.workspace.settings):
            return _only_class(rows, recipe, evaluation, described, folder)
        raise InputError(
            f"{name} has {rows.num_rows:,} rows of fewer than two classes, and nothing can be learnt from them; "
            "clean less (section `clean`)."
        )
    out.checkpoints.mkdir(parents=True, exist_ok=True)
    write_parquet(rows, out.checkpoints / "subset.parquet")
    processes = out.workspace.settings["train"].processes  # type: ignore[attr-defined]
    with progress(f"retrain {subset} {seed}") as tell:
        fitted = fit_files(
            recipe,
            out.checkpoints / "subset.parquet",
            evaluation,
            out.checkpoints,
            processes=None if processes == "auto" else processes,
            progress=tell,
        )
    shutil.copytree(fitted.predictions, folder / "predictions")
    shutil.copyfile(fitted.folder / "history.parquet", folder / "history.parquet")
    _write(fitted.training | described, folder / "training.json")
    _write(fitted.metrics | {"rows": rows.num_rows}, folder / "metrics.json")
    return _summary(rows.num_rows, list(evaluation), fitted.metrics)


def _only_class(rows: pa.Table, recipe: Recipe, evaluation: dict[str, Path], described: dict[str, Any], folder: Path) -> str:
    """Leave what can be learnt from one class, which is to name it, as a failed training: a selection's failure is its own."""
    import pyarrow.parquet as pq

    from cartograph.train.one_class import write_constant

    metrics = write_constant(
        rows["label"][0].as_py(), rows.num_rows, {name: pq.read_table(path) for name, path in evaluation.items()}, folder
    )
    training = {"model": recipe.model, "record": None, "epochs": 0, "source": "one class", "parameters": None, "device": None}
    _write(training | described, folder / "training.json")
    return _summary(rows.num_rows, list(evaluation), metrics)


def _recipe(params: Params, workspace: Workspace, seed: int) -> Recipe:
    """Return the recipe of the section ``train`` with this seed; of dynamics nothing is kept, so they are read where it is free."""
    from dataclasses import replace

    trained = workspace.settings["train"]

    if not isinstance(trained, recipes.Params):
        raise InputError("section `train` was not read with its own model.")
    if trained.model == "transformer" and trained.pretrained is None:
        raise InputError(
            "step `retrain` trains as the section `train` says, whose model `transformer` needs `train.pretrained`: a model's folder, "
            "or a hub id. Set it, or choose another model, or leave retraining out with `retrain.subsets: []`."
        )
    own = {name: value for name in ("epochs", "batch_size", "learning_rate") if (value := getattr(params, name)) is not None}
    return replace(recipes.recipe_of(trained, workspace), seed=seed, record="train_pass", evaluate="end", live=False, **own)


def _summary(rows: int, evaluation: list[str], metrics: dict[str, float]) -> str:
    if metrics["train.failed"]:
        finite = "train.loss" in metrics or not metrics["epochs"]
        reason = "no better than always naming one class" if finite else "the loss is not a number; lower the learning rate"
        return f"{rows:,} rows, FAILED: {reason}"
    accuracies = ", ".join(f"{name} {metrics[f'{name}.accuracy']:.3f}".replace(" 0.", " .") for name in sorted(evaluation))
    return f"{rows:,} rows, accuracy {accuracies}"


def _write(content: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _inputs(settings: Settings) -> tuple[str, ...]:
    trained = settings["train"]
    pretrained = recipes.pretrained_files(trained) if isinstance(trained, recipes.Params) else ()
    # The names are filled in with the cell's values: a brace of the user's own must come out as it is.
    return (_SUBSET, *ingested(settings), *(name.replace("{", "{{").replace("}", "}}") for name in pretrained))


STEP = Step(
    name="retrain",
    run=run,
    params=Params,
    inputs=_inputs,
    libraries=train.STEP.libraries,
    when=lambda settings: bool(retrained(settings)),
    reads=("train",),
    matrix=Matrix({"subset": "subsets", "seed": "seeds"}, more={"subset": chosen_selections}, keys=("selections",), leaves_failure=True),
    hints=Hints(resources="gpu"),
)
