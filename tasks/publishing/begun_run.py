"""MLflow: the run of an audit that is still running. It is begun with the first step that runs, and publishing makes it whole."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json, write_json
from tasks.publishing.store import experiment_id, metric_keys, prepare, quietly
from tasks.publishing.tracking_uri import shown, tracking_uri

if TYPE_CHECKING:
    from mlflow import MlflowClient

_IDENTITY = "cartograph.fingerprint"


@dataclass(frozen=True)
class BegunRun:
    """Where a workspace notes the run that its audit began.

    Attributes:
        note: the file.
        token: of the audit; a run that another one began, which was killed, is nobody's.
    """

    note: Path
    token: str


def taken_up(client: MlflowClient, begun: BegunRun) -> str | None:
    """Return the id of the run that this audit began, None where it began none; from now on whoever asked keeps it.

    A run that an audit left which did not come to its end is deleted: what it did, the next one goes on with.
    """
    try:
        noted = read_json(begun.note)
        run = client.get_run(noted["run"])
    except (OSError, ValueError, KeyError, TypeError):
        run = None
    except Exception:
        # It is gone, or was in another store.
        run = None
    begun.note.unlink(missing_ok=True)
    if run is None or run.info.lifecycle_stage != "active" or _IDENTITY in run.data.tags:
        return None
    if noted.get("token") == begun.token:
        return str(run.info.run_id)
    client.delete_run(run.info.run_id)
    return None


class LiveNumbers:
    """Writes an audit's numbers into its run as its steps end, beside the audit: it neither waits nor fails for that.

    Args:
        begun: where the run is noted.
        experiment: its name.
        since: when the audit began, in seconds since 1970; None: now.

    Attributes:
        begun: whether there was anything to write yet.
    """

    def __init__(self, begun: BegunRun, experiment: str, since: float | None) -> None:
        self._begun, self._experiment, self._since = begun, experiment, since
        self._writer = ThreadPoolExecutor(1, "mlflow")
        self._client: MlflowClient | None = None
        self._run: str | None = None
        self._given_up = False
        self.begun = False

    def add(self, numbers: Mapping[str, float]) -> None:
        """Have a step's numbers written, soon."""
        self.begun = True
        with suppress(RuntimeError):  # It rests already.
            self._writer.submit(self._safely, dict(numbers))

    def rest(self) -> None:
        """Return once everything is written; nothing will be any more."""
        self._writer.shutdown()

    def close(self, *, failed: bool) -> None:
        """End the run where nobody has taken it up: as one that failed, or, where there was nothing to publish, as none."""
        self.rest()
        if self._client is None or self._run is None or not self._begun.note.exists():
            return
        with suppress(Exception), quietly():
            if failed:
                self._client.set_terminated(self._run, "FAILED")
            else:
                self._client.delete_run(self._run)
                self._begun.note.unlink(missing_ok=True)

    def _safely(self, numbers: dict[str, float]) -> None:
        if self._given_up:
            return
        try:
            with quietly():
                self._write(numbers)
        except Exception:
            # The step that publishes says what is wrong with the store.
            self._given_up = True

    def _write(self, numbers: dict[str, float]) -> None:
        from mlflow.entities import Metric

        if self._client is None:
            self._begin()
        assert self._client is not None and self._run is not None
        now = int(1000 * time.time())
        metrics = [Metric(key, value, now, 0) for key, value in zip(metric_keys(numbers), numbers.values(), strict=True)]
        if metrics:
            self._client.log_batch(self._run, metrics=metrics)

    def _begin(self) -> None:
        from mlflow import MlflowClient

        uri = tracking_uri()
        prepare(uri)
        client = MlflowClient(tracking_uri=uri)
        experiment = experiment_id(client, self._experiment, uri, "audit")
        taken_up(client, self._begun)
        start = None if self._since is None else int(1000 * self._since)
        run = client.create_run(experiment, start_time=start, run_name=f"audit {time.strftime('%Y-%m-%d')}, running")
        self._run, self._client = str(run.info.run_id), client
        self._begun.note.parent.mkdir(parents=True, exist_ok=True)
        write_json(self._begun.note, {"server": shown(uri), "run": self._run, "token": self._begun.token})
