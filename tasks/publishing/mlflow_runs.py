"""MLflow: the runs of an audit or a collection and of its models, written whole however often it is tried."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from cartograph.errors import InputError
from tasks.engine.digest import digest_json, digest_path
from tasks.publishing.logged_models import begin_logged_model, complete_logged_model, find_logged_model, has_logged_models, is_ready
from tasks.publishing.records import Dataset, Model, Publication
from tasks.publishing.tracking_uri import VARIABLE, database_server, reason, shown, sqlite_file, tracking_uri

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Experiment, Run


_COMPLETE = "cartograph.published"


_ABOUT = {
    "audit": (
        "Audits of one dataset by Cartograph: a run per audit, and beneath it a run per train set that models were trained on "
        "(`original`, `cleaned`, `random`: their means, also as logged models) and per retrained model."
    ),
    "collection": (
        "Collections of pairs by Cartograph: a run per collection, and beneath it a run per way to choose labels and seed. The trained "
        "matcher is a logged model."
    ),
}
"""What an experiment says of itself."""


_BATCH = 100


_QUIET = ("mlflow", "alembic", "urllib3", "sqlalchemy")


_PATIENCE = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}


_SILENCE = {
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    # The address that MLflow prints at the end of a run has the tracking URI's password in it.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}


_TYPES = {"int32": "integer", "int64": "long"}


def publish_runs(audit: Publication, models: Sequence[Model], experiment: str, folder: Path) -> dict[str, str]:
    """Write a run with the files of a folder, and one beneath it per model, wherever MLflow is; return where it is and its ids.

    Raises:
        InputError: it cannot be used; the message says whether anything was written.
    """
    uri = tracking_uri()
    runs: _Runs | None = None
    with _quietly():
        try:
            _prepare(uri)
            from mlflow import MlflowClient

            client = MlflowClient(tracking_uri=uri)
            runs = _Runs(client, _experiment(client, experiment, uri, audit.what))
            run_id = runs.publish(audit, models, folder)
            return {"server": shown(uri), "experiment": runs.experiment_id, "run": run_id}
        except InputError:
            raise
        except Exception as error:
            raise InputError(_explain(uri, error, runs is not None and runs.begun)) from error


class _Runs:
    """The runs of one experiment; ``begun`` once something was to be written."""

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client = client
        self.experiment_id = experiment_id
        self.begun = False

    def publish(self, audit: Publication, models: Sequence[Model], folder: Path) -> str:
        """Write an audit into its run and each retrained model into one beneath; what is whole already is left as it is; return its id."""
        content = digest_json([audit.tags, digest_path(folder)])
        found = self._find(audit.fingerprint)
        whole = _is_whole(found, content)
        run = found or self._begin(f"{audit.what} {time.strftime('%Y-%m-%d')} {audit.fingerprint[:8]}", audit.tags, audit.begun)
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
        if _is_whole(found, content) and (
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

    def _log(self, run: Run, record: Publication | Model, model_id: str | None = None) -> None:
        """Write parameters, numbers and datasets; what a broken attempt left there is written again with the same values.

        ``model_id``: of the logged model that the numbers belong to as well.
        """
        from mlflow.entities import Metric, Param

        self.begun = True
        run_id = run.info.run_id
        params = [Param(key, value) for key, value in zip(_keys(record.params), record.params.values(), strict=True)]
        for start in range(0, len(params), _BATCH):
            self.client.log_batch(run_id, params=params[start : start + _BATCH])
        names = list(dict.fromkeys([*record.metrics, *record.curves]))
        keys = dict(zip(names, _keys(names), strict=True))
        points = [(name, 0, value) for name, value in record.metrics.items()]
        points += [(name, step, value) for name, curve in record.curves.items() for step, value in curve]
        of_set = _measured_on(record)
        metrics = [
            Metric(keys[name], value, run.info.start_time, step, model_id, *of_set.get(name, (None, None))) for name, step, value in points
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


def _is_whole(run: Run | None, content: str) -> TypeGuard[Run]:
    return run is not None and run.info.status in ("FINISHED", "FAILED") and run.data.tags.get(_COMPLETE) == content


def _experiment(client: MlflowClient, name: str, uri: str, what: str) -> str:
    found: Experiment | None = client.get_experiment_by_name(name)
    if found is None:
        database = sqlite_file(uri)
        # MLflow's own default is relative to wherever the process happens to stand.
        location = None if database is None else (database.parent / "mlartifacts" / re.sub(r"[^\w-]", "_", name)).as_uri()
        tags = {"mlflow.experimentKind": "custom_model_development", "mlflow.note.content": _ABOUT[what]}
        return client.create_experiment(name, artifact_location=location, tags=tags)
    if found.lifecycle_stage != "active":
        raise InputError(
            f"the MLflow experiment `{name}` was deleted; bring it back with `mlflow experiments restore "
            f"--experiment-id {found.experiment_id}`, or name another one as `publish.experiment` in params.yaml."
        )
    return str(found.experiment_id)


def _keys(names: Iterable[str]) -> list[str]:
    """Return names of metrics or parameters with those characters alone that MLflow takes, no two alike."""
    found: dict[str, None] = {}
    for name in names:
        key = re.sub(r"[^\w.\- ]", "_", name)
        same = next(number for number in count(1) if (key if number == 1 else f"{key}_{number}") not in found)
        found[key if same == 1 else f"{key}_{same}"] = None
    return list(found)


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


def _prepare(uri: str) -> None:
    """Make a new SQLite database in one stroke, and find out soon whether a database server is there."""
    database = sqlite_file(uri)
    if database is not None and not database.exists():
        make_database(database)
    elif (server := database_server(uri)) is not None:
        # MLflow itself would try for two minutes.
        socket.create_connection(server, timeout=5).close()


def make_database(database: Path) -> None:
    """Make MLflow's database under another name, then rename it: a half migrated one would be refused for ever.

    Args:
        database: the SQLite file to make; one that is there is left as it is.
    """
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    database.parent.mkdir(parents=True, exist_ok=True)
    fresh = database.with_name(f"{database.name}.new")
    with database.with_name(f"{database.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if database.exists():
            return
        fresh.unlink(missing_ok=True)
        store = SqlAlchemyStore(f"sqlite:///{fresh}", (database.parent / "mlartifacts").as_uri())
        # MLflow makes an experiment `Default`, in which nothing would ever be.
        store.delete_experiment("0")
        store.engine.dispose()
        fresh.rename(database)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep the libraries' log lines off the console and their patience short; put everything back."""
    import mlflow  # noqa: F401  (sets its loggers up when it is imported)

    loggers = [logging.getLogger(name) for name in _QUIET]
    levels = [logger.level for logger in loggers]
    before = {name: os.environ.get(name) for name in _PATIENCE | _SILENCE}
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    os.environ.update({name: value for name, value in _PATIENCE.items() if name not in os.environ} | _SILENCE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


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
