"""The step `publish`: one MLflow run per audit, and its tables where they are wanted, whoever publishes it and however often."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from tasks.audit.decisions import DECISIONS
from tasks.audit.parameters.tables import Tables
from tasks.audit.plan import experiment_folders, retrained_models, selection_file
from tasks.audit.publication import begun_at, metrics_of, read_publication, write_files
from tasks.audit.published_models import cleaned_dataset, filtered_dataset, read_models, read_trials, read_versions
from tasks.audit.published_tables import NOISE, Found, write_findings
from tasks.engine.lock import is_held
from tasks.engine.receipt import fresh
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import Workspace
from tasks.publishing.begun_run import BegunRun, LiveNumbers, mark_killed
from tasks.publishing.mlflow_runs import publish_runs
from tasks.publishing.records import STEP_NAME, Dataset, Publication
from tasks.publishing.tracking_uri import VARIABLE

RUN = "mlflow-run.json"
_BEGUN = "mlflow-begun.json"


class Publish(Section):
    """The section ``publish`` of params.yaml."""

    enabled: bool = Field(True, description="log the audit to MLflow: to mlflow.db here, or to MLFLOW_TRACKING_URI")
    experiment: str | None = Field(None, min_length=1, max_length=500, description="name of the experiment; null: the workspace's name")
    interactive_points: int = Field(25_000, ge=1, description="most points of the interactive map in MLflow")
    tables: Tables | None = Field(
        None,
        description="write suspects, decisions and cleaned row ids to {database: 'env:NAME', into: SCHEMA}, {table: PATH, format: delta} "
        "or {table: NAMESPACE.NAME, catalog: 'env:NAME'}; null: nowhere",
    )


def _inputs(steps: Sequence[Step], settings: Settings) -> tuple[str, ...]:
    """Return the audit's parameters and tables, and every page, figure and number that an enabled one of these steps leaves.

    A figure is published as PNG; the SVG of the same name would be the same picture once more.
    """
    names = [name for step in steps if step.when(settings) for name in step.outputs_of(settings)]
    drawn = {f"{name.removesuffix('.png')}.svg" for name in names if name.endswith(".png")}
    reports = [name for name in names if name.startswith("reports/") and Path(name).suffix and name not in drawn]
    tables = [name for name in ("data/clean", "data/aflite", "data/evaluate", "data/tune", "data/compare") if name in names]
    models = retrained_models(settings)
    subsets = dict.fromkeys(["cleaned"] * ("data/clean" in tables) + [subset for subset, _ in models])
    answers = experiment_folders(settings)
    written = (NOISE,) if settings.of(Publish).tables is not None else ()
    always = ("params.yaml", "data/ingest", "data/measure")
    return (*always, *written, *reports, *tables, *answers, *map(selection_file, subsets), *models.values())


def run(params: Publish, inputs: Inputs, out: Out) -> str:
    """Publish the audit; return where, and how much."""
    from cartograph.write.findings import findings

    return publish_audit(params, inputs, out, findings)


def publish_audit(params: Publish, inputs: Inputs, out: Out, found_in: Found) -> str:
    """Publish an audit; return where, and how much.

    Args:
        params: of the step.
        inputs: declared name -> path.
        out: of the step.
        found_in: returns its tables.
    """
    publication = read_publication(out.workspace, inputs)
    published: dict[str, Any] = {"fingerprint": publication.fingerprint}
    parts = []
    if params.enabled:
        more, said = _log(params, inputs, out, publication)
        published |= more
        parts.append(said)
    if params.tables is not None:
        rows = write_findings(params.tables, out.workspace, inputs, publication.fingerprint, found_in)
        published |= {"tables": rows}
        parts.append(f"{rows:,} rows written to {params.tables.database or params.tables.table}")
    write_json(out["data/publish"] / "published.json", published)
    return "; ".join(parts)


def _log(params: Publish, inputs: Inputs, out: Out, publication: Publication) -> tuple[dict[str, Any], str]:
    """Log the audit to MLflow; return what was logged, as JSON values and in words."""
    experiment = _experiment(params, out.workspace)
    made = {"cleaned": cleaned_dataset(out.workspace, inputs), "filtered": filtered_dataset(out.workspace, inputs)}
    versions = {name: dataset for name, dataset in made.items() if dataset is not None}
    models = read_models(out.workspace, inputs, publication)
    others = (*read_trials(inputs, publication), *read_versions(models, inputs, publication))
    audit = _with_recommendation(_with_versions(publication, versions), inputs)
    with tempfile.TemporaryDirectory() as temporary:
        write_files(out.workspace, inputs, Path(temporary), points=params.interactive_points)
        written = publish_runs(audit, (*models, *others), experiment, Path(temporary), _begun_run(out.workspace))
    # Where the run is, is nobody's output: its id is another in every database.
    out.workspace.state.mkdir(exist_ok=True)
    write_json(out.workspace.state / RUN, written)
    published: dict[str, Any] = {
        "experiment": experiment,
        "datasets": {dataset.name: dataset.digest for dataset in publication.datasets},
    }
    published |= {name: dataset.digest for name, dataset in versions.items()}
    summary = f"experiment {experiment}, {len(audit.metrics) + len(audit.curves)} metrics, {len(audit.datasets)} datasets"
    return published, f"{summary}, {len(models)} retrained models" if models else summary


def _experiment(params: Publish, workspace: Workspace) -> str:
    return params.experiment or workspace.name


def _begun_run(workspace: Workspace) -> BegunRun:
    # Without a snapshot no audit holds the workspace, and what one began and did not end is nobody's.
    return BegunRun(workspace.state / _BEGUN, workspace.snapshot.token if workspace.snapshot else "")


def mark_left(workspace: Workspace) -> None:
    """Mark the MLflow run that a killed audit of this workspace left RUNNING as KILLED; it is left alone while an audit is running."""
    begun = _begun_run(workspace)
    # Nearly always there is nothing to do, and then MLflow is not imported.
    with suppress(OSError):
        if begun.note.exists() and (workspace.snapshot is not None or not is_held(workspace.state)):
            mark_killed(begun)


class FollowedAudit:
    """MLflow follows an audit while it runs: its run begins with it if a step has to run, and gets each step's numbers as it ends.

    Leaving it marks the run FAILED, or KILLED where Ctrl-C or a signal ended the audit, unless ``failed`` was set to False.

    Args:
        workspace: of the audit, which holds it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.failed = True
        self._workspace = workspace
        self._kept: dict[str, float] = {}
        params = workspace.settings.find(Publish)
        self._live = None
        if params is not None and params.enabled:
            self._live = LiveNumbers(_begun_run(workspace), _experiment(params, workspace), begun_at(workspace))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if self._live is not None:
            stopped = kind is not None and not issubclass(kind, Exception)
            self._live.close(None if not self.failed else "KILLED" if stopped else "FAILED")

    def begin(self, steps: Sequence[Step], forced: Collection[str]) -> None:
        """Begin the run now if any of the audit's steps has to run; none is begun where all are fresh.

        Args:
            steps: of the audit.
            forced: names of those that run even where they are fresh.
        """
        if self._live is not None:
            self._live.begin(lambda: any(step.name in forced or fresh(step, self._workspace) is None for step in steps))

    def ended(self, step: Step, executed: bool) -> None:
        """Send a step's numbers; those of steps that did not have to run wait for the first that had to."""
        if self._live is None or step.name == STEP_NAME:
            return
        outputs = {name: self._workspace.resolve(name) for name in step.outputs_of(self._workspace.settings)}
        # What is no table of numbers is named by the steps that read it.
        with suppress(OSError, ValueError, AttributeError):
            self._kept.update(metrics_of(outputs))
        if executed or self._live.begun:
            self._live.add(self._kept)
            self._kept = {}

    def rest(self) -> None:
        """Return once what was sent is written, before the step that publishes takes the run up."""
        if self._live is not None:
            self._live.rest()


def _with_versions(publication: Publication, versions: Mapping[str, Dataset]) -> Publication:
    """Return the publication with the cleaned and filtered versions of the train set added."""
    tags = publication.tags | {f"cartograph.{name}_version": dataset.digest for name, dataset in versions.items()}
    return replace(publication, datasets=(*publication.datasets, *versions.values()), tags=tags)


def _with_recommendation(publication: Publication, inputs: Mapping[str, Path]) -> Publication:
    """Return the publication with the version of the train set that is recommended, where two were compared."""
    advice = read_json(inputs["data/evaluate"] / "recommended.json") if "data/evaluate" in inputs else {}
    return replace(publication, tags=publication.tags | {"cartograph.recommended": advice["recommended"]}) if advice else publication


def step(others: Sequence[Step]) -> Step:
    """Return the step that publishes what these others leave."""
    return Step(
        name=STEP_NAME,
        run=run,
        params=Publish,
        inputs=partial(_inputs, others),
        optional=(DECISIONS,),
        libraries=("mlflow",),
        when=lambda settings: settings.of(Publish).enabled or settings.of(Publish).tables is not None,
        hints=Hints(needs_versions=True, environment=(VARIABLE,)),
    )
