"""MLflow: the runs of an audit or a collection and of its models, written whole however often it is tried."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from cartograph.errors import InputError
from tasks.engine.digest import digest_json, digest_path
from tasks.publishing.begun_run import BegunRun, end_unfinished, taken_up
from tasks.publishing.logged_models import begin_logged_model, complete_logged_model, find_logged_model, has_logged_models, is_ready
from tasks.publishing.records import Dataset, Model, Publication
from tasks.publishing.store import experiment_id, metric_keys, prepare, quietly
from tasks.publishing.tracking_uri import VARIABLE, reason, shown, sqlite_file, tracking_uri

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run


_COMPLETE = "cartograph.published"


_BATCH = 100


_TYPES = {"int32": "integer", "int64": "long"}


def publish_runs(
    audit: Publication, models: Sequence[Model], experiment: str, folder: Path, begun: BegunRun | None = None
) -> dict[str, str]:
    """Write a run with the files of a folder, and one beneath it per model, wherever MLflow is; return where it is and its ids.

    Args:
        audit: what the run is of.
        models: of the runs beneath it.
        experiment: its name.
        folder: whose files are the run's artifacts.
        begun: where the run is noted that was begun with the audit, which becomes this one; None: no run was begun.

    Raises:
        InputError: it cannot be used; the message says whether anything was written.
    """
    uri = tracking_uri()
    runs: _Runs | None = None
    with quietly():
        try:
            prepare(uri)
            from mlflow import MlflowClient

            client = MlflowClient(tracking_uri=uri)
            runs = _Runs(client, experiment_id(client, experiment, uri, audit.what))
            run_id = runs.publish(audit, models, folder, None if begun is None else taken_up(client, begun))
            if begun is not None:
                begun.note.unlink(missing_ok=True)
            return {"server": shown(uri), "experiment": runs.experiment_id, "run": run_id}
        except InputError:
            raise
        except Exception as error:
            if runs is not None and runs.audit is not None:
                with suppress(Exception):
                    end_unfinished(runs.client, runs.audit, "FAILED")
            raise InputError(_explain(uri, error, runs is not None and runs.begun)) from error


class _Runs:
    """The runs of one experiment.

    Attributes:
        begun: whether something was to be written.
        audit: id of the audit's run, once there is one.
    """

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client = client
        self.experiment_id = experiment_id
        self.begun = False
        self.audit: str | None = None

    def publish(self, audit: Publication, models: Sequence[Model], folder: Path, begun: str | None) -> str:
        """Write an audit into its run and each retrained model into one beneath; what is whole already is left as it is; return its id."""
        content = digest_json([audit.tags, digest_path(folder)])
        found = self._find(audit.fingerprint)
        whole = _is_whole(found, content, "FINISHED")
        name = f"{audit.what} {time.strftime('%Y-%m-%d')} {audit.fingerprint[:8]}"
        if found is not None and begun is not None:
            # Nothing new was found: the run of the same audit is there.
            self.client.delete_run(begun)
        run = found or (self._begin(name, audit.tags, audit.begun) if begun is None else self._take_up(begun, name, audit.tags))
        self.audit = str(run.info.run_id)
        if not whole:
            self._log(run, audit)
            self.client.log_artifacts(run.info.run_id, str(folder))
        kept = has_logged_models(self.client, self.experiment_id)
        for model in models:
            self._publish_model(run.info.run_id, model if kept else replace(model, logged=None))
        if not whole:
            self._complete(run, audit.tags, content)
        return str(run.info.run_id)

    def _publish_model(self, parent: str, model: Model) -> None:
        tags = model.tags | {"cartograph.fingerprint": model.fingerprint, "mlflow.parentRunId": parent}
        content = digest_json([tags, model.params, model.metrics, [dataset.digest for dataset in model.datasets], dict(model.curves)])
        found = self._find(model.fingerprint, parent)
        if _is_whole(found, content, model.status) and (
            model.logged is None or is_ready(find_logged_model(self.client, found, model.fingerprint), model.logged)
        ):
            return
        run = found or self._begin(model.name, tags)
        if model.logged is None:
            self._log(run, model)
        else:
            model_id = begin_logged_model(self.client, run, model, model.logged)
            self._log(run, model, model_id)
            complete_logged_model(self.client, model_id, model.logged)
        self._complete(run, tags, content, model.status)

    def _find(self, fingerprint: str, parent: str | None = None) -> Run | None:
        """Return the run of this identity, a whole one before a broken one, the oldest first; deleted runs do not count."""
        condition = f"tags.`cartograph.fingerprint` = '{fingerprint}'"
        condition += "" if parent is None else f" AND tags.`mlflow.parentRunId` = '{parent}'"
        runs = self.client.search_runs([self.experiment_id], condition, order_by=["attributes.start_time ASC"])
        return next((run for run in runs if run.info.status == "FINISHED"), runs[0] if runs else None)

    def _begin(self, name: str, tags: Mapping[str, str], begun: float | None = None) -> Run:
        self.begun = True
        start = None if begun is None else int(1000 * begun)
        return self.client.create_run(self.experiment_id, start_time=start, run_name=name, tags=dict(tags))

    def _take_up(self, run_id: str, name: str, tags: Mapping[str, str]) -> Run:
        from mlflow.entities import RunTag

        self.begun = True
        self.client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])
        self.client.update_run(run_id, name=name)
        return self.client.get_run(run_id)

    def _log(self, run: Run, record: Publication | Model, model_id: str | None = None) -> None:
        """Write parameters, numbers and datasets; what a broken attempt left there is written again with the same values.

        ``model_id``: of the logged model that the numbers belong to as well.
        """
        from mlflow.entities import Metric, Param

        self.begun = True
        run_id = run.info.run_id
        params = [Param(key, value) for key, value in zip(metric_keys(record.params), record.params.values(), strict=True)]
        for start in range(0, len(params), _BATCH):
            self.client.log_batch(run_id, params=params[start : start + _BATCH])
        names = list(dict.fromkeys([*record.metrics, *record.curves]))
        keys = dict(zip(names, metric_keys(names), strict=True))
        points = [(name, 0, value) for name, value in record.metrics.items()]
        points += [(name, step, value) for name, curve in record.curves.items() for step, value in curve]
        of_set = _measured_on(record)
        # What stood there when the step ended that found it stays; a value that has changed since is the later one.
        there = self.client.get_run(run_id).data.metrics if isinstance(record, Publication) else {}
        start = run.info.start_time
        now = int(1000 * time.time()) if there else start
        metrics = [
            Metric(keys[name], value, start if name in record.curves else now, step, model_id, *of_set.get(name, (None, None)))
            for name, step, value in points
            if name in record.curves or there.get(keys[name]) != value
        ]
        for start in range(0, len(metrics), _BATCH):
            self.client.log_batch(run_id, metrics=metrics[start : start + _BATCH])
        self.client.log_inputs(run_id, datasets=[_dataset_input(dataset) for dataset in record.datasets])

    def _complete(self, run: Run, tags: Mapping[str, str], content: str, status: str = "FINISHED") -> None:
        from mlflow.entities import RunTag

        self.client.log_batch(run.info.run_id, tags=[RunTag(key, value) for key, value in {**tags, _COMPLETE: content}.items()])
        self.client.set_terminated(run.info.run_id, status)


def _measured_on(record: Publication | Model) -> dict[str, tuple[str, str]]:
    """Return name and digest of the dataset that a number of a logged model was measured on."""
    if isinstance(record, Publication) or record.logged is None:
        return {}
    return {name: (dataset.name, dataset.digest) for name, dataset in record.logged.measured_on.items()}


def _is_whole(run: Run | None, content: str, status: str) -> TypeGuard[Run]:
    return run is not None and run.info.status == status and run.data.tags.get(_COMPLETE) == content


def _dataset_input(dataset: Dataset) -> DatasetInput:
    from mlflow.entities import Dataset as Entity
    from mlflow.entities import DatasetInput, InputTag
    from mlflow.types.schema import Array, ColSpec, DataType, Schema, TensorSpec

    columns: list[ColSpec | TensorSpec] = [
        ColSpec(Array(DataType.string) if kind.startswith("list") else DataType[_TYPES.get(kind, "string")], name)
        for name, kind in dataset.columns.items()
    ]
    entity = Entity(
        name=dataset.name,
        digest=dataset.digest,
        source_type="local",
        source=json.dumps({"uri": dataset.path}),
        schema=json.dumps({"mlflow_colspec": Schema(columns).to_dict()}),
        profile=json.dumps(dataset.profile, ensure_ascii=False),
    )
    return DatasetInput(entity, [InputTag("mlflow.data.context", dataset.context)])


def _explain(uri: str, error: Exception, begun: bool) -> str:
    state = "the run is unfinished; the next audit completes it" if begun else "nothing was published"
    database = sqlite_file(uri)
    if database is None:
        way = f"Start the server, correct {VARIABLE}, or unset it to publish to mlflow.db"
    else:
        way = f"Move {database} away, and a new one is made, or make it one that this user can write, on a disk with space"
    return (
        f"MLflow at {shown(uri)} cannot be used ({reason(uri, error)}): {state}. {way}; `enabled: false` in the section `publish` of "
        "params.yaml leaves this step out."
    )
