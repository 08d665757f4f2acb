"""What an audit has to publish of its retrained models, read from their files. Knows no tracking server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from cartograph.data.json_files import read_json
from tasks.audit.plan import retrained_models, selection_file
from tasks.audit.publication import dataset_of
from tasks.engine.digest import digest_json
from tasks.engine.failed_cell import failure_of
from tasks.engine.workspace import Workspace
from tasks.publishing.records import Dataset, Logged, Model, Publication

if TYPE_CHECKING:
    import pyarrow as pa

_FILES = {"original": "data/ingest/train.parquet", "cleaned": "data/clean/cleaned.parquet"}
_CONTEXTS = {"original": "audited"}
_COLOURS = {"original": "#0b5cad", "cleaned": "#a84e00", "random": "#00705a"}
"""Those of the report's light theme."""
_LEFT = ("training.json", "metrics.json")
_SHARED_TAGS = ("cartograph.dvc_lock", "mlflow.source.type", "mlflow.source.name", "mlflow.source.git.commit")


def read_models(workspace: Workspace, inputs: Mapping[str, Path], publication: Publication) -> tuple[Model, ...]:
    """Gather the retrained models of an audit from the inputs of the step; none where it retrains none."""
    models = retrained_models(workspace.settings)
    train_sets = {subset: _train_set(workspace, inputs, subset) for subset in dict.fromkeys(subset for subset, _ in models)}
    return tuple(_model(subset, seed, inputs[folder], train_sets[subset], publication) for (subset, seed), folder in models.items())


def read_versions(models: Sequence[Model], inputs: Mapping[str, Path], publication: Publication) -> tuple[Model, ...]:
    """Return each train set that models were trained on as one logged model: means over its seeds, with 95 % intervals; the original last.

    Args:
        models: all retrained models of the audit, as ``read_models`` gives them.
        inputs: of the step.
        publication: of the audit.
    """
    import pyarrow.parquet as pq

    if not models:
        return ()
    numbers: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(inputs["data/evaluate"] / "summary.parquet").to_pylist():
        numbers.setdefault(row["subset"], []).append(row)
    trained: dict[str, list[Model]] = {}
    for model in models:
        trained.setdefault(model.tags["cartograph.subset"], []).append(model)
    found = [_version(subset, seeds, numbers.get(subset, []), publication) for subset, seeds in trained.items()]
    # MLflow lists the newest first.
    return tuple(reversed(found))


def read_trials(inputs: Mapping[str, Path], publication: Publication) -> tuple[Model, ...]:
    """Gather the trials of a search for a learning rate; none where there was none."""
    import pyarrow.parquet as pq

    if "data/tune" not in inputs:
        return ()
    held = read_json(inputs["data/tune"] / "best.json")["set"]
    shared = {name: publication.tags[name] for name in _SHARED_TAGS if name in publication.tags}
    return tuple(
        Model(
            name=f"tune trial {row['trial']}",
            fingerprint=digest_json({"audit": publication.fingerprint, "trial": row["trial"], "learning_rate": row["learning_rate"]}),
            params={"learning_rate": json.dumps(row["learning_rate"])},
            metrics={f"{held}.accuracy": row["accuracy"]},
            tags=shared | {"cartograph.trial": str(row["trial"])},
            datasets=publication.datasets[:1],
        )
        for row in pq.read_table(inputs["data/tune"] / "trials.parquet").to_pylist()
    )


def cleaned_dataset(workspace: Workspace, inputs: Mapping[str, Path]) -> Dataset | None:
    """Return the cleaned train set; None where the audit cleans nothing."""
    import pyarrow.parquet as pq

    rows = inputs["data/clean"] / "rows.parquet" if "data/clean" in inputs else None
    if rows is not None and rows.exists():
        return dataset_of(workspace, pq.read_table(rows), workspace.name, "cleaned", _FILES["cleaned"])
    return _train_set(workspace, inputs, "cleaned") if "data/clean" in inputs else None


def filtered_dataset(workspace: Workspace, inputs: Mapping[str, Path]) -> Dataset | None:
    """Return the rows that AFLite kept; None where the audit filters nothing."""
    import pyarrow.parquet as pq

    if "data/aflite" not in inputs:
        return None
    rows = pq.read_table(inputs["data/aflite"] / "filtered.parquet")
    return dataset_of(workspace, rows, workspace.name, "filtered", "data/aflite/filtered.parquet")


def _train_set(workspace: Workspace, inputs: Mapping[str, Path], subset: str) -> Dataset:
    import pyarrow.parquet as pq

    from cartograph.data.subsets import take_subset

    name = selection_file(subset)
    chosen = pq.read_table(inputs[name])
    rows: pa.Table = take_subset(pq.read_table(inputs["data/ingest"] / "train.parquet"), chosen, name)
    return dataset_of(workspace, rows, workspace.name, _CONTEXTS.get(subset, subset), _FILES.get(subset, name))


def _model(subset: str, seed: int, folder: Path, train_set: Dataset, publication: Publication) -> Model:
    broken = failure_of(folder)
    training, metrics = ({}, {"train.failed": 1}) if broken is not None else map(read_json, (folder / name for name in _LEFT))
    evaluation = [dataset for dataset in publication.datasets if dataset.context == "evaluation"]
    rows = int(metrics.get("rows", train_set.profile["num_rows"]))
    failed = bool(metrics["train.failed"])
    tags = {name: publication.tags[name] for name in _SHARED_TAGS if name in publication.tags}
    tags |= {"cartograph.dataset_version": train_set.digest, "cartograph.subset": subset, "cartograph.seed": str(seed)}
    if subset != "original":
        tags["cartograph.parent_version"] = publication.datasets[0].digest
    if failed:
        tags["cartograph.failed"] = "true"
    if subset in _COLOURS:
        tags["mlflow.runColor"] = _COLOURS[subset]
    ended = f"  \n**Failed**: {broken or 'it ended no better than chance.'}" if failed else ""
    tags["mlflow.note.content"] = f"Trained from scratch on the {rows:,} rows of `{subset}`, seed {seed}.{ended}"
    return Model(
        name=f"retrain {subset} seed {seed}",
        fingerprint=digest_json({"audit": publication.fingerprint, "subset": subset, "seed": seed}),
        params={name: value if isinstance(value, str) else json.dumps(value) for name, value in _without_nulls(training).items()},
        metrics={name: float(value) for name, value in metrics.items() if name not in training},
        tags=tags,
        datasets=(train_set, *evaluation),
        status="FINISHED" if broken is None else "FAILED",
    )


def _version(subset: str, models: Sequence[Model], rows: Sequence[Mapping[str, Any]], publication: Publication) -> Model:
    """Return what the models of one train set have in common.

    Args:
        subset: the train set's name.
        models: one per seed.
        rows: theirs of the comparison's ``SUMMARY``.
        publication: of the audit.
    """
    train_set, *evaluation = models[0].datasets
    sets = {str(dataset.profile["set"]): dataset for dataset in evaluation}
    metrics: dict[str, float] = {}
    measured_on: dict[str, Dataset] = {}
    for row in rows:
        name = f"{row['set']}.{row['metric']}"
        found = {name: row["mean"], f"{name}.low": row["low"], f"{name}.high": row["high"]}
        known = {part: float(value) for part, value in found.items() if value is not None}
        metrics |= known
        measured_on |= dict.fromkeys(known, sets[row["set"]]) if row["set"] in sets else {}
    learnt = [model for model in models if "cartograph.failed" not in model.tags]
    own = [model.metrics["train.accuracy"] for model in learnt if "train.accuracy" in model.metrics]
    if own:
        metrics["train.accuracy"], measured_on["train.accuracy"] = fmean(own), train_set
    seeds = [model.tags["cartograph.seed"] for model in models]
    failed = f"; {len(models) - len(learnt)} of them **failed** and are left out" if len(learnt) < len(models) else ""
    trained_on = max((int(model.metrics["rows"]) for model in models if "rows" in model.metrics), default=train_set.profile["num_rows"])
    note = (
        f"Mean of {len(models)} {'model' if len(models) == 1 else 'models'} trained from scratch on the "
        f"{trained_on:,} rows of `{subset}`, seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}{failed}. "
        "`.low` and `.high` are the ends of a 95 % interval."
    )
    tags = {name: value for name, value in models[0].tags.items() if name not in ("cartograph.seed", "cartograph.failed")}
    params = {name: value for name, value in models[0].params.items() if all(model.params.get(name) == value for model in learnt)}
    params.pop("seed", None)
    return Model(
        name=subset,
        fingerprint=digest_json({"audit": publication.fingerprint, "subset": subset, "seeds": seeds}),
        params=params | {"subset": subset, "seeds": ", ".join(seeds)},
        metrics=metrics,
        tags=tags | {"mlflow.note.content": note},
        datasets=models[0].datasets,
        logged=Logged(subset, "classifier", measured_on),
    )


def _without_nulls(training: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in training.items() if value is not None}
