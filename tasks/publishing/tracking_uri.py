"""A tracking URI: where it points, and what of it may be shown."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cartograph.wording import cut
from tasks.engine.workspace import project_root

VARIABLE = "MLFLOW_TRACKING_URI"
LOCAL_VIEWER = "http://127.0.0.1:5000"
"""Where `mlflow ui` shows a database, unless it is given another port."""

_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_SECRET_VARIABLES = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
_LONGEST = 200


def tracking_uri() -> str:
    """Return where runs go: what the environment names, else the project's own database."""
    return os.environ.get(VARIABLE) or f"sqlite:///{project_root() / 'mlflow.db'}"


def viewer(uri: str) -> str:
    """Return where runs are looked at, without secrets: the address of a server, or the command that serves a database."""
    if uri.startswith(("http://", "https://")):
        return shown(uri)
    own = f"sqlite:///{project_root() / 'mlflow.db'}"
    return f"mlflow ui --backend-store-uri {shlex.quote('sqlite:///mlflow.db' if uri == own else shown(uri))}"


def runs_page(server: str, experiment: str) -> str:
    """Return the address of an experiment's runs, on a server or where ``viewer`` shows a database.

    It names MLflow's mode: by itself MLflow 3.17 opens every experiment on its page of traces, whatever kind the experiment says it is.
    """
    place = server.rstrip("/") if server.startswith(("http://", "https://")) else LOCAL_VIEWER
    return f"{place}/#/experiments/{experiment}/runs?workflowType=machine_learning"


def sqlite_file(uri: str) -> Path | None:
    """Return the file of a SQLite tracking URI (``sqlite:///relative`` or ``sqlite:////absolute``), else None."""
    path = uri.removeprefix("sqlite:///").partition("?")[0]
    return None if path in ("", ":memory:", uri.partition("?")[0]) else Path(path).absolute()


def database_server(uri: str) -> tuple[str, int] | None:
    """Return host and port of a database server, None where the URI is of another kind."""
    parts = urlsplit(uri)
    default = _PORTS.get(parts.scheme.split("+")[0])
    return (parts.hostname, parts.port or default) if default and parts.hostname else None


def shown(uri: str) -> str:
    """Return a tracking URI without user, password and query."""
    parts = urlsplit(uri)
    if not parts.netloc:
        return uri.partition("?")[0]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def reason(uri: str, error: BaseException) -> str:
    """Return the innermost message of an error, on one line, without what is secret in the tracking URI."""
    while (inner := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
        error = inner
    text = " ".join(str(error).split()) or type(error).__name__
    parts = urlsplit(uri)
    secrets = [
        parts.netloc.rpartition("@")[0],
        parts.password or "",
        parts.query,
        *(os.environ.get(name, "") for name in _SECRET_VARIABLES),
    ]
    for secret in sorted({*secrets, *map(unquote, secrets)} - {""}, key=len, reverse=True):
        text = text.replace(secret, "…")
    return cut(text, _LONGEST)
