"""The step `train`: a model's training dynamics, recorded or imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.data.progress import Progress
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.train import Train
from tasks.audit.recipes import fit_folds_of, pretrained_files, recipe_of
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import project_root, user_file
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.dynamics.imports import ImportedDynamics
    from cartograph.train.learning import Learning

_ROWS = "data/ingest/train.parquet"
_DATA = "data/train"
_METRICS = "reports/train.metrics.json"


def run(params: Train, inputs: Inputs, out: Out) -> str:
    """Write dynamics (or coordinates), also out of fold where wanted, history, predictions, model, metrics; return how it went."""
    if params.dynamics is not None:
        return _import(params, inputs, out)
    return _train(params, inputs, out)


def _train(params: Train, inputs: Inputs, out: Out) -> str:
    import pyarrow.parquet as pq

    from cartograph.data.memory import release_memory
    from cartograph.train.enough import attempt_of, fit_until_learnt, simple_accuracy
    from cartograph.train.fit import fit_files
    from cartograph.train.learning import learning_of

    rows = pq.read_table(inputs[_ROWS])
    if len(rows["label"].unique()) < 2:
        return _name_one_class(rows, out)
    recipe = replace(recipe_of(params, out.workspace), patience=params.patience)
    simple, number = simple_accuracy(rows, params.seed), rows.num_rows
    # A training reads the file itself.
    del rows
    release_memory(number)
    evaluation = {Path(name).stem: inputs[name] for name in inputs if name.startswith("data/ingest/") and name != _ROWS}
    options: dict[str, Any] = {"processes": params.process_count}
    with _tracking(params, out), progress("train") as update:
        # K-fold training is folds - 1 trainings on all rows, after this one.
        options["progress"] = lambda done, total: update(done, max(params.folds, 1) * total)
        if params.adapts:
            fitted, attempts = fit_until_learnt(recipe, simple, inputs[_ROWS], evaluation, out.checkpoints, **options)
        else:
            fitted = fit_files(recipe, inputs[_ROWS], evaluation, out.checkpoints, **options)
            attempts = [attempt_of(fitted)]
        if params.folds:
            if params.patience is not None and not params.adapts:
                recipe = replace(recipe, schedule_epochs=max(recipe.schedule_epochs, recipe.epochs))
            recipe = replace(recipe, epochs=attempts[-1].epochs)
            before = sum(attempt.epochs for attempt in attempts) * number
            shutil.copytree(
                fit_folds_of(params, recipe, inputs[_ROWS], out, _from(before, params.folds, update)),
                out[_DATA] / "out_of_fold",
            )
    for folder in (fitted.dynamics, fitted.predictions, fitted.model):
        shutil.copytree(folder, out[_DATA] / folder.name)
    shutil.copyfile(fitted.folder / "history.parquet", out[_DATA] / "history.parquet")
    learning = learning_of(fitted, evaluation, attempts, simple, open=params.adapts, folds=params.folds)
    write_json(out[_DATA] / "training.json", fitted.training | {"learning": learning.content()})
    write_json(out[_METRICS], fitted.metrics | learning.metrics())
    return _summary(params, fitted.metrics, learning)


def _name_one_class(rows: pa.Table, out: Out) -> str:
    """Leave the map of the only model that one class allows, which names it always."""
    from cartograph.data.parquet import write_parquet
    from cartograph.schema import HISTORY, dataset_info
    from cartograph.train.one_class import certain_map, nothing_learnt

    write_parquet(certain_map(rows["uid"]), out[_DATA] / "coordinates.parquet")
    write_parquet(HISTORY.empty_table(), out[_DATA] / "history.parquet")
    name = dataset_info(rows.schema).labels[rows["label"][0].as_py()]
    training, metrics = nothing_learnt(name, rows.num_rows, "`ingest.label`")
    write_json(out[_DATA] / "training.json", training)
    write_json(out[_METRICS], metrics)
    return f"one class, {rows.num_rows:,} rows: nothing to learn"


def _from(before: int, folds: int, update: Progress) -> Progress:
    """Return the progress of K-fold training after so many rows; ``fit_folds_of`` leaves room for a training, which came before."""
    return lambda done, total: update(before + done, before + total // folds * (folds - 1))


def _summary(params: Train, metrics: dict[str, float], learning: Learning) -> str:
    epochs = learning.attempts[-1].epochs
    done = f"{params.model}, {epochs} epoch{'s' * (epochs != 1)}"
    reached = f"accuracy {_short(metrics['train.accuracy'])}"
    if learning.state == "diverged":
        return f"{done}, FAILED: the loss is not a number; lower learning_rate"
    if metrics["train.failed"]:
        return f"{done}, FAILED: no better than chance (train {reached})"
    tried = "labels may not follow from rows" if params.adapts and len(learning.attempts) > 1 else "raise train.epochs"
    said = {"not learnt": f", NOT LEARNT: {tried}", "by heart": ", memorised: set train.folds"}
    return f"{done}, {reached}{said.get(learning.state, '')}"


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


@contextmanager
def _tracking(params: Train, out: Out) -> Iterator[None]:
    database = f"sqlite:///{project_root() / 'mlflow.db'}"
    defaults = {"MLFLOW_TRACKING_URI": database, "MLFLOW_EXPERIMENT_NAME": out.workspace.name} if params.live else {}
    added = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _import(params: Train, inputs: Inputs, out: Out) -> str:
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.imports import read_imported
    from cartograph.schema import HISTORY

    found = read_imported(inputs[user_file(params.dynamics or "")], pq.read_table(inputs[_ROWS]), epochs=params.dynamics_epochs)
    metrics = _write_imported(found, params, out[_DATA])
    write_parquet(HISTORY.empty_table(), out[_DATA] / "history.parquet")
    training: dict[str, Any] = {
        "model": None,
        "record": None,
        "epochs": metrics.get("epochs"),
        "source": "imported",
        "parameters": None,
        "device": None,
    }
    if found.classes:
        training["classes"] = list(found.classes)
    write_json(out[_DATA] / "training.json", training)
    write_json(out[_METRICS], metrics)
    rows = f"{int(metrics['rows']):,} rows"
    reordered = ", labels reordered" if found.classes else ""
    return (
        f"coordinates imported, {rows}" if found.dynamics is None else f"dynamics imported, {rows}, {metrics['epochs']} epochs{reordered}"
    )


def _write_imported(found: ImportedDynamics, params: Train, folder: Path) -> dict[str, float]:
    import pyarrow as pa

    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.epoch_files import dynamics_table, epoch_file
    from cartograph.statistics.metrics import accuracy, cross_entropy

    if found.coordinates is not None:
        write_parquet(found.coordinates, folder / "coordinates.parquet")
        known = {} if params.dynamics_epochs is None else {"epochs": params.dynamics_epochs}
        return {"rows": found.coordinates.num_rows, **known}
    assert found.dynamics is not None
    uids, gold, logits = found.dynamics
    (folder / "dynamics").mkdir()
    for epoch in range(logits.shape[1]):
        write_parquet(dynamics_table(pa.array(uids, pa.string()), gold, logits[:, epoch]), epoch_file(folder / "dynamics", epoch))
    last = logits[:, -1]
    return {"rows": len(uids), "epochs": logits.shape[1], "train.accuracy": accuracy(last, gold), "train.loss": cross_entropy(last, gold)}


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings.of(Train)
    if params.dynamics is not None:
        return (_ROWS, user_file(params.dynamics))
    return (*ingested_sets(settings), *pretrained_files(params))


STEP = Step(
    name="train",
    run=run,
    params=Train,
    inputs=_inputs,
    outputs=(_DATA, _METRICS),
    libraries=("torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy", "pyarrow", "scikit-learn", "scipy"),
    hints=Hints(resources="gpu"),
)
