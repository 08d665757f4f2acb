"""MLflow's store, opened: its database, an experiment, the names that it takes, and the libraries' log lines kept off the console."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.errors import InputError
from tasks.publishing.tracking_uri import database_server, sqlite_file

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

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


def experiment_id(client: MlflowClient, name: str, uri: str, what: str) -> str:
    """Return the id of the experiment of this name, which is made where it is missing.

    Args:
        client: of the store.
        name: of the experiment.
        uri: of the store.
        what: it is of, ``audit`` or ``collection``.

    Raises:
        InputError: it was deleted.
    """
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


def prepare(uri: str) -> None:
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
def quietly() -> Iterator[None]:
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


def metric_keys(names: Iterable[str]) -> list[str]:
    """Return names of metrics or parameters with those characters alone that MLflow takes, no two alike."""
    found: dict[str, None] = {}
    for name in names:
        key = re.sub(r"[^\w.\- ]", "_", name)
        same = next(number for number in count(1) if (key if number == 1 else f"{key}_{number}") not in found)
        found[key if same == 1 else f"{key}_{same}"] = None
    return list(found)
