"""MLflow: the run of an audit that is still running. It begins with the audit where a step has to run, and publishing makes it whole.

An audit that ends otherwise marks its run FAILED or KILLED. One that was killed outright cannot: the next command that looks does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cartograph.data.json_files import read_json, write_json
from tasks.publishing.store import experiment_id, metric_keys, prepare, quietly
from tasks.publishing.tracking_uri import shown, tracking_uri

if TYPE_CHECKING:
    from mlflow import MlflowClient

_IDENTITY = "cartograph.fingerprint"
_MOST = 10_000

Unfinished = Literal["FAILED", "KILLED"]
"""How a run ended that did not come to its end."""


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
    """Return the id of the run that this audit began, None where it began none.

    The note of it stays until whoever asked has made the run whole. A run that an earlier audit left unfinished is deleted: the next one
    goes on with what it did.
    """
    noted = _noted(begun)
    try:
        run = client.get_run(noted["run"])
    except Exception:
        # It is gone, or was in another store.
        run = None
    if run is not None and run.info.lifecycle_stage == "active" and _IDENTITY not in run.data.tags:
        if noted.get("token") == begun.token:
            return str(run.info.run_id)
        client.delete_run(run.info.run_id)
    begun.note.unlink(missing_ok=True)
    return None


def mark_killed(begun: BegunRun) -> None:
    """Mark the run of an audit that was killed, and those beneath it, as KILLED, once; where the store does not answer, nothing is done.

    The caller knows that no audit is running, but for the one that it is part of itself.
    """
    noted = _noted(begun)
    if "run" not in noted or "ended" in noted or noted.get("token") == begun.token:
        return
    # A store that is away is named by the step that publishes.
    with suppress(Exception), quietly():
        from mlflow import MlflowClient

        uri = tracking_uri()
        prepare(uri)
        end_unfinished(MlflowClient(tracking_uri=uri), noted["run"], "KILLED")
        if _noted(begun) == noted:
            write_json(begun.note, noted | {"ended": "KILLED"})


def end_unfinished(client: MlflowClient, run_id: str, how: Unfinished) -> None:
    """End a run that is still marked as running, and those beneath it, in this way."""
    run = client.get_run(run_id)
    beneath = client.search_runs(
        [run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run_id}' AND attributes.status = 'RUNNING'", max_results=_MOST
    )
    for one in (run, *beneath):
        if one.info.status == "RUNNING":
            client.set_terminated(one.info.run_id, how)


def _noted(begun: BegunRun) -> dict[str, Any]:
    """Return the note; an empty one where it is missing or cannot be read."""
    try:
        noted = read_json(begun.note)
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


class LiveNumbers:
    """Writes an audit's numbers into its run as its steps end, beside the audit: it neither waits nor fails for that.

    Args:
        begun: where the run is noted.
        experiment: its name.
        since: when the audit began, in seconds since 1970; None: now.

    Attributes:
        begun: whether the run is begun, or about to be.
    """

    def __init__(self, begun: BegunRun, experiment: str, since: float | None) -> None:
        self._begun, self._experiment, self._since = begun, experiment, since
        self._writer = ThreadPoolExecutor(1, "mlflow")
        self._client: MlflowClient | None = None
        self._run: str | None = None
        self._given_up = False
        self.begun = False

    def begin(self, needed: Callable[[], bool]) -> None:
        """Have the run begun, soon, if it is needed; that is looked at beside the audit too, since it may read large files."""

        def look() -> None:
            with suppress(Exception):  # What is wrong is said by the step that it concerns.
                if not self.begun and needed():
                    self.begun = True
                    self._safely({})

        with suppress(RuntimeError):
            self._writer.submit(look)

    def add(self, numbers: Mapping[str, float]) -> None:
        """Have a step's numbers written, soon."""
        self.begun = True
        with suppress(RuntimeError):  # It rests already.
            self._writer.submit(self._safely, dict(numbers))

    def rest(self) -> None:
        """Return once everything is written; nothing will be any more."""
        self._writer.shutdown()

    def close(self, how: Unfinished | None) -> None:
        """End the run where publishing has not made it whole: in this way, or, where there was nothing to publish (None), delete it."""
        self.rest()
        if self._client is None or self._run is None or not self._begun.note.exists():
            return
        with suppress(Exception), quietly():
            if how is None:
                self._client.delete_run(self._run)
                self._begun.note.unlink(missing_ok=True)
            else:
                end_unfinished(self._client, self._run, how)
                write_json(self._begun.note, _noted(self._begun) | {"ended": how})

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
