"""As many trainings at once as pay: seen once the rows are ingested."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.models.isolation import available_threads
from flows.engine.automatic import FEWEST_ROWS, AsManyAsPay, paying_workers
from flows.engine.dask_cluster import DaskCluster
from flows.engine.processes import Processes
from flows.engine.runner import VISIBLE, OwnProcess
from flows.engine.runners import open_runner, workers_of
from tasks.engine.workspace import Workspace
from tests.workspaces import make_workspace


def ingested(folder: Path, rows: int | None, **sections: dict[str, Any]) -> Workspace:
    space = make_workspace(folder, **({"ingest": {}, "train": {}, "retrain": {}} | sections))
    if rows is not None:
        ingest(space, rows)
    return space


def ingest(space: Workspace, rows: int) -> None:
    place = space.path / "data/ingest/train.parquet"
    place.parent.mkdir(parents=True)
    pq.write_table(pa.table({"uid": [str(row) for row in range(rows)]}), place)


@pytest.mark.parametrize(
    ("rows", "sections", "gpus", "cores", "workers"),
    [
        (None, {}, "", 4, 1),
        (FEWEST_ROWS - 1, {}, "", 4, 1),
        (FEWEST_ROWS, {}, "", 4, 4),
        (FEWEST_ROWS, {}, "0,1,2", 4, 3),
        (FEWEST_ROWS, {"train": {"device": "cpu"}}, "0,1,2", 4, 4),
        (FEWEST_ROWS, {"train": {"threads": 2}}, "", 4, 1),
        (FEWEST_ROWS, {"train": {"model": "transformer", "pretrained": "folder"}}, "", 4, 1),
        (FEWEST_ROWS, {"train": {"model": "transformer", "pretrained": "folder"}}, "0,1", 4, 2),
    ],
    ids=["nothing ingested", "few rows", "many rows", "GPUs", "GPUs not used", "a model with threads", "one with all cores", "on GPUs"],
)
def test_trainings_run_at_once_where_that_pays(
    rows: int | None,
    sections: dict[str, Any],
    gpus: str,
    cores: int,
    workers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VISIBLE, gpus)
    monkeypatch.setattr("cartograph.models.isolation.available_threads", lambda: cores)
    assert paying_workers(ingested(tmp_path / "space", rows, **sections)) == workers


def test_without_retraining_or_memory_one_training_runs_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    monkeypatch.setattr("cartograph.models.isolation.available_threads", lambda: 4)
    space = ingested(tmp_path / "space", FEWEST_ROWS)
    pages = {"SC_PHYS_PAGES": 2**21, "SC_PAGE_SIZE": 2**10}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert paying_workers(space) == 1, "of 2 GB half"
    pages["SC_PHYS_PAGES"] *= 2
    assert paying_workers(space) == 3
    quick = make_workspace(tmp_path / "quick", ingest={}, train={})
    ingest(quick, FEWEST_ROWS)
    assert paying_workers(quick) == 1


def test_processes_start_once_the_rows_turn_out_to_be_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    monkeypatch.setattr("cartograph.models.isolation.available_threads", lambda: 2)
    space = ingested(tmp_path / "space", None)
    with AsManyAsPay(space) as runner:
        assert (runner.slots(), runner.run(os.getpid)) == (1, os.getpid())
        ingest(space, FEWEST_ROWS)
        assert runner.slots() == 2
        assert runner.run(os.getpid) != os.getpid()
        assert runner._processes is not None
        assert runner._processes.at_once == 2


def test_what_is_asked_for_is_what_runs(tmp_path: Path) -> None:
    space = ingested(tmp_path / "space", None)
    assert isinstance(open_runner(space), AsManyAsPay)
    assert isinstance(open_runner(space, workers=1), OwnProcess)
    with open_runner(space, workers=3) as three:
        assert isinstance(three, Processes)
        assert three.slots() == 3
    on_dask = open_runner(space, "dask")
    assert isinstance(on_dask, DaskCluster)
    assert on_dask.slots() == available_threads()


def test_the_number_of_workers_is_a_number_or_left_to_the_audit() -> None:
    assert (workers_of("auto"), workers_of("3")) == ("auto", 3)
    for text in ("0", "-1", "two", "1.5", ""):
        with pytest.raises(InputError, match=f"--workers {text}: expected a number of at least 1, or auto"):
            workers_of(text)
