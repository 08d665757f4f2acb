"""The step in a real workspace: when it runs again, and what a failed run leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cartograph.errors import GateError, InputError
from tasks.audit.ingest import STEP
from tasks.audit.ingested_sets import ingested_sets
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.ingesting import some_rows, write_csv
from tests.workspaces import make_workspace


def space(train: str, **params: Any) -> Workspace:
    return make_workspace(Path(train).parent / "space", ingest={"source": "files", "train": train, "text": "text", **params})


def test_runs_again_only_when_a_file_changes(tmp_path: Path) -> None:
    train = write_csv(tmp_path / "train.csv", "text,label", *some_rows())
    audit = space(train)
    assert run_step(STEP, audit).executed
    assert not run_step(STEP, audit).executed
    assert all(audit.resolve(name).is_file() for name in ingested_sets(audit.settings))
    assert (audit.path / "reports" / "data_docs" / "index.html").is_file()
    write_csv(tmp_path / "train.csv", "text,label", *some_rows(42))
    outcome = run_step(STEP, audit)
    assert (outcome.executed, outcome.receipt.summary) == (True, "42 rows, 2 classes, 0 quarantined")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `ingest` needs .*/none\.csv, which does not exist; correct the path in params\.yaml"):
        run_step(STEP, space(str(tmp_path / "none.csv")))


def test_too_many_unusable_rows_leave_the_old_tables_and_the_list(tmp_path: Path) -> None:
    train = write_csv(tmp_path / "train.csv", "text,label", *some_rows())
    data = tmp_path / "space" / "data"
    run_step(STEP, space(train))
    before = (data / "ingest" / "train.parquet").read_bytes()
    write_csv(tmp_path / "train.csv", "text,label", *some_rows(), *[",good"] * 10)
    with pytest.raises(GateError, match=r"10 empty text\. They are listed in .*/data/ingest\.failed/quarantine\.parquet\."):
        run_step(STEP, space(train))
    assert (data / "ingest.failed" / "quarantine.parquet").is_file()
    assert (data / "ingest" / "train.parquet").read_bytes() == before
    run_step(STEP, space(train, quarantine_limit=0.5))
    assert not (data / "ingest.failed").exists()
