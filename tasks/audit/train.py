"""The step `train`: a model's training dynamics, recorded or imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.train import Train
from tasks.audit.recipes import after_folds, fit_folds_of, pretrained_files, recipe_of
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import project_root, user_file
from tasks.presentation.console import progress

if TYPE_CHECKING:
    from cartograph.dynamics.imports import ImportedDynamics

_ROWS = "data/ingest/train.parquet"
_DATA = "data/train"
_METRICS = "reports/train.metrics.json"


def run(params: Train, inputs: Inputs, out: Out) -> str:
    """Write dynamics (or coordinates), also out of fold where wanted, history, predictions, model, metrics; return how it went."""
    if params.dynamics is not None:
        return _import(params, inputs, out)
    return _train(params, inputs, out)


def _train(params: Train, inputs: Inputs, out: Out) -> str:
    from cartograph.train.fit import fit_files

    recipe = recipe_of(params, out.workspace)
    evaluation = {Path(name).stem: inputs[name] for name in inputs if name.startswith("data/ingest/") and name != _ROWS}
    with _tracking(params, out), progress("train") as update:
        if params.folds:
            shutil.copytree(
                fit_folds_of(params, recipe, inputs[_ROWS], out.checkpoints, params.process_count, update), out[_DATA] / "out_of_fold"
            )
        rest = after_folds(update, params.folds)
        fitted = fit_files(recipe, inputs[_ROWS], evaluation, out.checkpoints, processes=params.process_count, progress=rest)
    for folder in (fitted.dynamics, fitted.predictions, fitted.model):
        shutil.copytree(folder, out[_DATA] / folder.name)
    for name in ("history.parquet", "training.json"):
        shutil.copyfile(fitted.folder / name, out[_DATA] / name)
    shutil.copyfile(fitted.folder / "metrics.json", out[_METRICS])
    return _summary(params, fitted.metrics)


def _summary(params: Train, metrics: dict[str, float]) -> str:
    done = f"{params.model}, {params.epochs} epoch{'s' * (params.epochs != 1)}"
    if not metrics["train.failed"]:
        return f"{done}, accuracy {_short(metrics['train.accuracy'])}"
    if "train.loss" not in metrics:
        return f"{done}, FAILED: the loss is not a number; lower learning_rate"
    return f"{done}, FAILED: no better than always naming one class (train accuracy {_short(metrics['train.accuracy'])})"


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
    libraries=("torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy", "pyarrow", "scikit-learn"),
    hints=Hints(resources="gpu"),
)
