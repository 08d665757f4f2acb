"""What an audit has to publish, read from its files: parameters, numbers, datasets, pages. Knows no tracking server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.data.json_files import read_json
from cartograph.wording import percent
from tasks.audit.headlines import HARD_BREAK, headlines, verdict_markdown
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.measure import Measure
from tasks.audit.plan import FIRST_PAGE, experiment_folders
from tasks.engine.digest import digest_json, digest_path
from tasks.engine.failed_cell import failure_of
from tasks.engine.snapshot import KEPT_PARAMS
from tasks.engine.workspace import Workspace, project_root
from tasks.publishing.provenance import dvc_lock, git_commit
from tasks.publishing.records import DIGEST_CHARACTERS, STEP_NAME, Dataset, Publication

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.page.step_results import LabelFound

_REPORT = "reports/report.html"
_TABLES = {
    "data/clean": ("cleaned.parquet", "changes.parquet"),
    "data/aflite": ("filtered.parquet", "aflite.parquet"),
    "data/evaluate": ("evaluation.md", "evaluation.csv"),
}
"""Files of other outputs that are published with the reports."""
_TEXT_CHARACTERS = 200
"""Most characters of a text on the published map; the report has more."""


def read_publication(workspace: Workspace, inputs: Mapping[str, Path]) -> Publication:
    """Gather what an audit publishes from the inputs of the step."""
    params = dict(_flat({name: section.model_dump(mode="json") for name, section in workspace.settings.items() if name != STEP_NAME}))
    metrics = dict(metrics_of(inputs))
    datasets = tuple(_datasets(workspace, inputs["data/ingest"]))
    fingerprint = digest_json(
        {
            "params": params,
            "datasets": {dataset.name: dataset.profile for dataset in datasets},
            "validation": digest_path(inputs["data/ingest"] / "validation.json"),
            "measures": digest_path(inputs["data/measure"]),
            "metrics": metrics,
        }
    )
    lock = dvc_lock(workspace, without=(STEP_NAME, FIRST_PAGE))
    tags = {
        "cartograph.dataset_version": datasets[0].digest,
        "cartograph.fingerprint": fingerprint,
        "cartograph.dvc_lock": "-" if lock is None else digest_json(lock),
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": "cartograph" if workspace.relative == "." else f"cartograph {workspace.relative}",
    }
    if (commit := git_commit()) is not None:
        tags["mlflow.source.git.commit"] = commit
    domains = {str(dataset.profile["set"]): str(dataset.profile["domain"]) for dataset in datasets[1:]}
    tags["mlflow.note.content"] = _note(workspace.name, metrics, datasets, inputs.get(_REPORT))
    return Publication(fingerprint, params, headlines(metrics, domains) | metrics, tags, datasets, _trend(inputs), begun_at(workspace))


def begun_at(workspace: Workspace) -> float | None:
    """Return when the audit began, in seconds; None where it is not known that one holds the workspace."""
    if workspace.snapshot is None:
        return None
    return (workspace.path / KEPT_PARAMS).stat().st_mtime


def _trend(inputs: Mapping[str, Path]) -> dict[str, list[tuple[int, float]]]:
    if "data/compare" not in inputs:
        return {}
    record = read_json(inputs["data/compare"] / "record.json")
    curves: dict[str, list[tuple[int, float]]] = {}
    for audit, numbers in enumerate([*record["earlier"], record["numbers"]], start=record["number"] - len(record["earlier"])):
        for name, value in numbers.items():
            curves.setdefault(f"trend.{name}", []).append((audit, value))
    return curves


def write_files(workspace: Workspace, inputs: Mapping[str, Path], folder: Path, *, points: int) -> None:
    """Write what an audit publishes into an empty folder: report, maps, metrics, validation, cleaned data, dvc.lock, parameters."""
    kept = {name: name.removeprefix("reports/") for name in inputs if name.startswith("reports/")}
    kept = {name: f"metrics/{target}" if name.endswith(".metrics.json") else target for name, target in kept.items()}
    for name, target in (kept | {"params.yaml": "params.yaml"}).items():
        (folder / target).parent.mkdir(exist_ok=True)
        shutil.copyfile(inputs[name], folder / target)
    shutil.copyfile(inputs["data/ingest"] / "validation.json", folder / "validation.json")
    for output, names in _TABLES.items():
        for name in names if output in inputs else ():
            shutil.copyfile(inputs[output] / name, folder / name)
    if (compared := inputs.get("data/evaluate")) is not None and (compared / "selections.md").exists():
        shutil.copyfile(compared / "selections.md", folder / "selections.md")
    for output in experiment_folders(workspace.settings):
        name = Path(output).name
        (folder / "experiments").mkdir(exist_ok=True)
        if (reason := failure_of(inputs[output])) is not None:
            (folder / "experiments" / f"{name}.md").write_text(f"# {name}\n\nFailed: {reason}\n", encoding="utf-8")
            continue
        for file, target in (("finding.md", f"{name}.md"), (f"{name}.png", f"{name}.png")):
            shutil.copyfile(inputs[output] / file, folder / "experiments" / target)
    if (lock := dvc_lock(workspace, without=(STEP_NAME, FIRST_PAGE))) is not None:
        (folder / "dvc.lock").write_text(lock, encoding="utf-8")
    (folder / "data_map.html").write_text(_interactive(workspace, inputs, points), encoding="utf-8")


def _interactive(workspace: Workspace, inputs: Mapping[str, Path], points: int) -> str:
    """Return the data map as a page of its own that needs no network: the report's map, without the report."""
    import pyarrow.parquet as pq

    from cartograph.data.subsets import rows_of
    from cartograph.page.audit import Audit, Limits
    from cartograph.page.document import map_page
    from cartograph.page.step_results import HowMade
    from cartograph.schema import HISTORY, QUARANTINE, UID

    measures = pq.read_table(inputs["data/measure"] / "measures.parquet").sort_by(UID)
    rows = pq.read_table(inputs["data/ingest"] / "train.parquet")
    audit = Audit(
        examples=rows_of(rows, measures[UID], "the data map", "data/ingest/train.parquet"),
        measures=measures,
        probabilities=None,
        history=HISTORY.empty_table(),
        validation={},
        quarantine=QUARANTINE.empty_table(),
        training={},
        metrics={},
        score=None,
        window=(0, 0),
        still=None,
        how_made=HowMade(workspace.name, ""),
        several=_several(inputs["data/ingest"]),
        limits=Limits(text_characters=_TEXT_CHARACTERS, max_points=points, seed=workspace.settings.of(Measure).seed),
    )
    return map_page(audit)


def _several(folder: Path) -> list[LabelFound]:
    """Return the labels where rows have several; none where they have one."""
    from cartograph.page.step_results import LabelFound

    path = folder / "labels.json"
    return [LabelFound(one["name"], one["rows"], note=one["note"]) for one in read_json(path)] if path.exists() else []


def _note(name: str, metrics: Mapping[str, float], datasets: tuple[Dataset, ...], report: Path | None) -> str:
    """Return the run's description, Markdown: the verdict, what was audited, its regions, and where the pages are."""
    from cartograph.schema import REGIONS

    audited = datasets[0].profile
    kinds = f"with {len(audited['classes'])} labels each" if "answers" in metrics else f"in {len(audited['classes'])} classes"
    shares = [(region, metrics[f"region.{region}.share"]) for region in REGIONS if f"region.{region}.share" in metrics]
    regions = ", ".join(f"{region} {percent(share)}" for region, share in shares)
    lines = [
        *verdict_markdown(report),
        f"Audit of `{name}`: {audited['num_rows']:,} train rows {kinds}.",
        f"Regions: {regions}." if regions else "",
        "Validation passed." if metrics.get("validation.passed") else "**Validation failed.**",
        "The report is the artifact `report.html`, the data map `data_map.html`.",
    ]
    return HARD_BREAK.join(line for line in lines if line)


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, dict) and (item or not prefix):
            yield from _flat(item, f"{name}.")
        else:
            yield name, item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def metrics_of(outputs: Mapping[str, Path]) -> Iterator[tuple[str, float]]:
    """Yield all numbers of these outputs by name; those of the score against the planted truth under ``score.``."""
    for name, path in outputs.items():
        if name.startswith("data/ablate/") and failure_of(path) is None:
            yield from read_json(path / "numbers.json").items()
        if name.endswith(".metrics.json"):
            prefix = "score." if Path(name).name == "score.metrics.json" else ""
            for key, value in read_json(path).items():
                if isinstance(value, int | float):
                    yield f"{prefix}{key}", float(value)


def _datasets(workspace: Workspace, folder: Path) -> Iterator[Dataset]:
    import pyarrow.parquet as pq

    from cartograph.schema import dataset_info

    for name in ingested_sets(workspace.settings):
        # Where rows have several labels, the data set is the rows, not each label of each.
        own = folder / "rows.parquet"
        name = f"{Path(name).parent}/{own.name}" if own.exists() else name
        table = pq.read_table(folder / Path(name).name)
        info = dataset_info(table.schema)
        train = info.domain == "train"
        called = workspace.name if train else f"{workspace.name}/{info.name}"
        yield dataset_of(workspace, table, called, "audited" if train else "evaluation", name)


def dataset_of(workspace: Workspace, table: pa.Table, name: str, context: str, file: str) -> Dataset:
    """Describe a set of examples (``schema.examples_schema``); ``file`` is where it stands, relative to the workspace."""
    from cartograph.data.content import content_digest, profile
    from cartograph.schema import dataset_info

    info, digest = dataset_info(table.schema), content_digest(table)
    return Dataset(
        name=name,
        context=context,
        digest=digest[:DIGEST_CHARACTERS],
        path=workspace.resolve(file).relative_to(project_root()).as_posix(),
        columns={field.name: str(field.type) for field in table.schema},
        profile={**profile(table), "set": info.name, "domain": info.domain, "sha256": digest},
    )
