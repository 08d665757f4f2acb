"""Workers of the local runner: a GPU each, kept whatever environment a task is handed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flows.engine import devices


@pytest.fixture(autouse=True)
def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.VISIBLE, "7,9")
    monkeypatch.setattr(devices, "_own", None)
    monkeypatch.setattr(devices, "_held", [])


def test_workers_take_gpus_in_turn() -> None:
    folder, seen = devices.places(), []
    for _ in range(3):
        devices.start_worker(folder, ["3", "GPU-5a"])
        seen.append(os.environ[devices.VISIBLE])
    assert seen == ["3", "GPU-5a", "3"]


def test_the_place_of_a_worker_that_died_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, held = devices.places(), []
    monkeypatch.setattr(devices, "_held", held)
    assert [devices.take_place(Path(folder)) for _ in range(3)] == [0, 1, 2]
    held[1].close()
    assert devices.take_place(Path(folder)) == 1


def test_a_task_sees_its_workers_gpu_alone() -> None:
    devices.start_worker(devices.places(), ["9"])
    os.environ[devices.VISIBLE] = "7,9"
    devices.keep_own_gpu()
    assert os.environ[devices.VISIBLE] == "9"


def test_without_gpus_nothing_is_set() -> None:
    devices.start_worker("", [])
    devices.keep_own_gpu()
    assert os.environ[devices.VISIBLE] == "7,9"
