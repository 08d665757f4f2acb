"""The step `publish` of a collection: one MLflow run per collection, and one beneath it per method and seed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from tasks.audit.pretrained_folder import local_folder
from tasks.collection.compare import DATA as COMPARED
from tasks.collection.compare import FIGURES
from tasks.collection.compare import METRICS as COMPARED_METRICS
from tasks.collection.encode import METRICS as ENCODED_METRICS
from tasks.collection.matcher_start import best_round
from tasks.collection.pairs import METRICS as PAIRS_METRICS
from tasks.collection.parameters import MATCHER, Collect, Encode, folder_of
from tasks.collection.report import PAGE
from tasks.engine.digest import digest_json, digest_path
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import Workspace, project_root
from tasks.publishing.provenance import dvc_lock, git_commit
from tasks.publishing.records import DIGEST_CHARACTERS, STEP_NAME, Dataset, Logged, Model, Package, Publication
from tasks.publishing.tracking_uri import VARIABLE

_NUMBERS = {"pairs": PAIRS_METRICS, "encode": ENCODED_METRICS, "compare": COMPARED_METRICS}
_COLLECTED = {"left": "string", "right": "string", "label": "int32", "round": "int32"}


class Publish(Section):
    """The section ``publish`` of params.yaml."""

    enabled: bool = Field(True, description="log the collection to MLflow: to mlflow.db here, or to MLFLOW_TRACKING_URI")
    experiment: str | None = Field(None, min_length=1, max_length=500, description="name of the experiment; null: the workspace's name")


def run(params: Publish, inputs: Inputs, out: Out) -> str:
    """Publish the collection; return where, and how much."""
    from tasks.publishing.mlflow_runs import publish_runs

    experiment = params.experiment or out.workspace.name
    publication = _publication(out.workspace, inputs)
    models = _models(out.workspace, inputs, publication)
    with tempfile.TemporaryDirectory() as temporary:
        folder, matcher = Path(temporary) / "files", Path(temporary) / "matcher"
        folder.mkdir()
        matcher.mkdir()
        _write_files(out.workspace, inputs, folder)
        if out.workspace.settings.of(Encode).model == MATCHER:
            models = _with_matcher(models, out.workspace, inputs, publication, matcher)
        publish_runs(publication, models, experiment, folder)
    published = {
        "experiment": experiment,
        "fingerprint": publication.fingerprint,
        "datasets": {dataset.name: dataset.digest for dataset in publication.datasets},
    }
    write_json(out["data/publish"] / "published.json", published)
    return f"experiment {experiment}, {len(publication.metrics)} metrics, {len(models)} collections"


def _publication(workspace: Workspace, inputs: Inputs) -> Publication:
    params = {
        f"{name}.{key}": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, section in workspace.settings.items()
        if name != STEP_NAME
        for key, value in section.model_dump(mode="json").items()
    }
    metrics = {f"{step}.{name}": float(value) for step, file in _NUMBERS.items() for name, value in read_json(inputs[file]).items()}
    stated_pairs = _stated_pairs(workspace, inputs)
    fingerprint = digest_json(
        {"params": params, "stated": stated_pairs.digest, "metrics": metrics, "compared": digest_path(inputs[COMPARED])}
    )
    lock = dvc_lock(workspace, without=(STEP_NAME,))
    tags = {
        "cartograph.dataset_version": stated_pairs.digest,
        "cartograph.fingerprint": fingerprint,
        "cartograph.dvc_lock": "-" if lock is None else digest_json(lock),
        "cartograph.kind": "collection",
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": f"cartograph {workspace.relative}",
        "mlflow.note.content": _note(workspace, metrics),
    }
    if (commit := git_commit()) is not None:
        tags["mlflow.source.git.commit"] = commit
    return Publication(fingerprint, params, metrics, tags, (stated_pairs,), what="collection")


def _stated_pairs(workspace: Workspace, inputs: Inputs) -> Dataset:
    digest = digest_path(inputs["data/pairs"])
    numbers = read_json(inputs[PAIRS_METRICS])
    profile = {"num_rows": sum(numbers[f"{split}.stated"] for split in ("train", "dev", "test")), "sha256": digest}
    path = workspace.resolve("data/pairs/stated.parquet").relative_to(project_root()).as_posix()
    return Dataset(
        workspace.name, "stated", digest[:DIGEST_CHARACTERS], path, {"left": "int64", "right": "int64", "label": "int32"}, profile
    )


def _models(workspace: Workspace, inputs: Inputs, publication: Publication) -> list[Model]:
    import pyarrow.parquet as pq

    collect = workspace.settings.of(Collect)
    versions = read_json(inputs[COMPARED] / "versions.json")
    results = pq.read_table(inputs[COMPARED] / "results.parquet").to_pylist()
    return [
        _model(workspace, inputs, publication, method, seed, versions[f"{method}-{seed}"], _curves(results, method, seed))
        for method in collect.methods
        for seed in collect.seeds
    ]


def _with_matcher(models: Sequence[Model], workspace: Workspace, inputs: Inputs, publication: Publication, folder: Path) -> list[Model]:
    """Return the runs, that of the best matcher with the matcher itself, whose data are written into an empty folder."""
    from cartograph.pairs.matcher.known_records import KnownRecords
    from cartograph.pairs.matcher.records import Records
    from cartograph.pairs.tables import load_task
    from tasks.publishing import matcher_code

    params, encode = workspace.settings.of(Collect), workspace.settings.of(Encode)
    last = [inputs[folder_of(method, seed, params.rounds)] for method in params.methods for seed in params.seeds]
    best = best_round(last)
    task = load_task(inputs["data/pairs"])
    local = local_folder(encode.pretrained)
    records = Records(task.left, task.left if task.symmetric else task.right, task.fields)
    known = KnownRecords(best / "model", records, encode.neighbours, encode.pretrained if local is None else str(local))
    known.save(folder)
    libraries = ("numpy", "pandas", "pyarrow", "rapidfuzz", "scikit-learn", "scipy", "torch", "safetensors")
    package = Package(folder, Path(str(matcher_code.__file__)), known.columns, "probability", libraries)
    model = models[last.index(best)]
    numbers = {*model.metrics, *model.curves}
    measured_on = {name: publication.datasets[0] for name in numbers if name.startswith(("dev.", "test."))}
    found = list(models)
    found[last.index(best)] = replace(model, logged=Logged("matcher", "matcher", measured_on, package))
    return found


def _curves(results: list[dict[str, Any]], method: str, seed: int) -> dict[str, list[tuple[int, float]]]:
    """Return what has a course over the rounds, as (labels so far, value)."""
    from cartograph.pairs.comparison import MEASURES

    found: dict[str, list[tuple[int, float]]] = {}
    for row in sorted(results, key=lambda row: row["round"]):
        if (row["method"], row["seed"]) == (method, seed) and row["measure"] in MEASURES:
            found.setdefault(f"{row['set']}.{row['measure']}", []).append((row["labels"], row["value"]))
            if (row["set"], row["measure"]) == ("test", next(iter(MEASURES))):
                found.setdefault("positive_share", []).append((row["labels"], row["positive"] / max(row["labels"], 1)))
    return found


def _model(
    workspace: Workspace,
    inputs: Inputs,
    publication: Publication,
    method: str,
    seed: int,
    made: Mapping[str, Any],
    curves: Mapping[str, Any],
) -> Model:
    collect = workspace.settings.of(Collect)
    numbers = read_json(inputs[folder_of(method, seed, collect.rounds)] / "scores.json")["numbers"]
    path = workspace.resolve(f"{COMPARED}/collected/{method}-{seed}.parquet").relative_to(project_root()).as_posix()
    profile = {"num_rows": made["rows"], "positive": made["positive"], "version": made["version"]}
    collected = Dataset(f"{workspace.name}/{method}-{seed}", "collected", made["version"], path, _COLLECTED, profile)
    kept = ("cartograph.dvc_lock", "mlflow.source.type", "mlflow.source.name", "mlflow.source.git.commit")
    tags = {name: publication.tags[name] for name in kept if name in publication.tags}
    tags |= {
        "cartograph.dataset_version": made["version"],
        "cartograph.parent_version": publication.datasets[0].digest,
        "cartograph.method": method,
        "cartograph.seed": str(seed),
        "mlflow.note.content": f"{made['rows']:,} labels chosen by `{method}`, seed {seed}: {made['positive']:,} positive.",
    }
    return Model(
        name=f"collect {method} seed {seed}",
        fingerprint=digest_json({"collection": publication.fingerprint, "method": method, "seed": seed}),
        params={"method": method, "seed": str(seed), "rounds": str(collect.rounds)},
        metrics={name: float(value) for name, value in numbers.items() if name not in curves},
        tags=tags,
        datasets=(collected,),
        curves=curves,
    )


def _note(workspace: Workspace, metrics: Mapping[str, float]) -> str:
    collect = workspace.settings.of(Collect)
    scores = {method: metrics[f"compare.{method}.average_precision"] for method in collect.methods}
    lines = [f"Collection of pairs `{workspace.name}`: average precision over all test pairs."]
    lines += [f"- {method}: {score:.3f}" for method, score in sorted(scores.items(), key=lambda item: -item[1])]
    return "\n".join([*lines, "", "The report is the artifact `report.html`."])


def _write_files(workspace: Workspace, inputs: Inputs, folder: Path) -> None:
    for name in (PAGE, *FIGURES, *_NUMBERS.values()):
        target = folder / (f"metrics/{Path(name).name}" if name.endswith(".metrics.json") else name.removeprefix("reports/"))
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(inputs[name], target)
    shutil.copyfile(inputs["params.yaml"], folder / "params.yaml")
    shutil.copytree(inputs[COMPARED] / "collected", folder / "collected")
    if (lock := dvc_lock(workspace, without=(STEP_NAME,))) is not None:
        (folder / "dvc.lock").write_text(lock, encoding="utf-8")


def _inputs(settings: Settings) -> tuple[str, ...]:
    collect = settings.of(Collect)
    last = tuple(folder_of(method, seed, collect.rounds) for method in collect.methods for seed in collect.seeds)
    return ("params.yaml", "data/pairs", COMPARED, PAGE, *FIGURES, *_NUMBERS.values(), *last)


STEP = Step(
    name=STEP_NAME,
    run=run,
    params=Publish,
    inputs=_inputs,
    libraries=("mlflow",),
    when=lambda settings: settings.of(Publish).enabled,
    hints=Hints(needs_versions=True, environment=(VARIABLE,)),
)
