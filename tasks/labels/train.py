"""The step `train` of rows with several labels: one model with a sigmoid for each, and the dynamics of every label of every row."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from cartograph.config import Section
from cartograph.data.json_files import write_json
from tasks.audit.parameters.values import auto_or_at_least
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.labels.ingest import ROWS
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Integers
    from cartograph.train.enough import Attempt
    from cartograph.train.recipe import Recipe
    from cartograph.train.result import TrainingResult

_DATA, _METRICS = "data/train", "reports/train.metrics.json"


class Train(Section):
    """The section ``train`` of params.yaml where rows have several labels: bow for texts, mlp for a table of features."""

    epochs: int | Literal["auto"] = Field(
        "auto",
        description="passes over the train set; dynamics are recorded in each. auto: 8, twice as many, up to 16 times, where the model has "
        "not learnt; or a number, 2 or more",
    )
    batch_size: int | Literal["auto"] = Field("auto", description="rows per optimiser step; auto: as many as suit the model and the rows")
    learning_rate: float | Literal["auto"] = Field("auto", description="peak learning rate of AdamW; auto: the model's own")
    seed: int = Field(13, ge=0, description="seed of initial weights and order")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu, or cuda")

    _auto_or_a_number = field_validator("epochs", "batch_size", mode="before")(auto_or_at_least(2))

    @field_validator("learning_rate", mode="before")
    @classmethod
    def _auto_or_a_rate(cls, value: Any) -> Any:
        if value == "auto" or (type(value) in (int, float) and value > 0):
            return value
        raise ValueError(f"should be `auto` or a number above 0, but is {value!r}")


def run(params: Train, inputs: Inputs, out: Out) -> str:
    """Write the dynamics of every label of every row, history, model and metrics; return how it went."""
    import pyarrow.parquet as pq

    from cartograph.data.linked_rows import user_groups
    from cartograph.models.base import label_matrix
    from cartograph.schema import LABEL_SET
    from cartograph.suspects.committee import reading_of
    from cartograph.train.label_sets import fit_labels, least_f1, not_learnt

    rows = pq.read_table(inputs[ROWS])
    given = label_matrix(rows)
    least = least_f1(reading_of(rows.drop_columns([LABEL_SET]), characters=False).data, given, params.seed, user_groups(rows))
    with progress("train") as update:
        recipe, auto = _recipe(params, rows), params.epochs == "auto"
        fitted, attempts = fit_labels(recipe, least, inputs[ROWS], out.checkpoints, auto=auto, progress=update)
    (out[_DATA] / "dynamics").mkdir()
    _write_dynamics(fitted, rows, given, out[_DATA] / "dynamics")
    shutil.copytree(fitted.model, out[_DATA] / fitted.model.name)
    shutil.copyfile(fitted.folder / "history.parquet", out[_DATA] / "history.parquet")
    sentence = not_learnt(attempts, least)
    learning = {"state": "not learnt" if sentence else "learnt", "sentence": sentence, "attempts": [_attempt(each) for each in attempts]}
    write_json(out[_DATA] / "training.json", fitted.training | {"learning": learning})
    write_json(out[_METRICS], fitted.metrics | {"train.learnt": int(not sentence), "train.f1": attempts[-1].accuracy})
    said = ", NOT LEARNT: raise train.epochs" if sentence else ""
    return f"{recipe.model}, {attempts[-1].epochs} epochs, F1 {attempts[-1].accuracy:.2f}{said}"


def _recipe(params: Train, rows: pa.Table) -> Recipe:
    from cartograph.train.label_sets import usual_recipe

    recipe = replace(usual_recipe(rows, params.seed), device=params.device)
    asked = {name: getattr(params, name) for name in ("epochs", "batch_size", "learning_rate")}
    return replace(recipe, **{name: value for name, value in asked.items() if value != "auto"})


def _attempt(attempt: Attempt) -> dict[str, float]:
    return {"epochs": attempt.epochs, "accuracy": attempt.accuracy, "surest_third": attempt.surest}


def _write_dynamics(fitted: TrainingResult, rows: pa.Table, given: Integers, folder: Path) -> None:
    """Write the dynamics under names that say which label it is, whichever others there are; sorted by these."""
    import numpy as np
    import pyarrow as pa

    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.decision_rows import decision_names
    from cartograph.dynamics.decisions import decision_places
    from cartograph.dynamics.epoch_files import dynamics_table, epoch_file, read_dynamics
    from cartograph.schema import dataset_info

    dynamics, uids = read_dynamics(fitted.dynamics), rows["uid"].to_numpy(zero_copy_only=False).astype(object)
    names = decision_names(uids, dataset_info(rows.schema).labels).ravel()[decision_places(uids, given.shape[1])]
    order = np.argsort(names, kind="stable")
    logits = np.asarray(dynamics.logits)
    for epoch in range(logits.shape[1]):
        table = dynamics_table(pa.array(names[order], pa.string()), dynamics.gold[order], logits[order, epoch])
        write_parquet(table, epoch_file(folder, epoch))


STEP = Step(
    name="train",
    run=run,
    params=Train,
    inputs=(ROWS,),
    outputs=(_DATA, _METRICS),
    libraries=("torch", "safetensors", "numpy", "pyarrow", "scikit-learn", "scipy"),
    hints=Hints(resources="gpu"),
)
