"""The grid of retrained models on a real Dask cluster, one of whose workers is killed in the middle, and in several processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.project import Project

GRID = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 2, learning_rate: 0.01}
measure: {burn_in: 0}
select: {strategies: [random, ambiguous], fractions: [0.5]}
retrain: {subsets: [original], seeds: [1, 2], selections: true, epochs: 80}
publish: {enabled: false}
"""
IN_PIECES = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 4, learning_rate: 0.01, folds: 3}
measure: {burn_in: 0}
noise: {detector: measures}
aflite: {n_partitions: 8, parts: 4}
bias: {enabled: false}
retrain: {subsets: []}
publish: {enabled: false}
"""
PIECES = """\
import os, time
from functools import partial
from distributed import Client
from cartograph.errors import InputError
from flows.engine.dask_cluster import local_cluster, over_cluster
from flows.engine.runner import compute

def piece(number, progress):
    assert progress is None
    if number == 7:
        raise InputError("too large: 7")
    time.sleep(0.2)
    return number, os.getpid()

def step(numbers):
    return list(over_cluster([partial(piece, number) for number in numbers]))

if __name__ == "__main__":
    with local_cluster(2) as cluster, Client(cluster) as client:
        client.run(os.chdir, os.getcwd())
        found = client.submit(compute, partial(step, range(6))).result()
        print([number for number, _ in found])
        print(len({process for _, process in found}), "processes")
        try:
            client.submit(compute, partial(step, [1, 7])).result()
        except InputError as error:
            print(error)
"""
CELLS = {f"retrain@{name}-{seed}" for name in ("original", "random-0.5", "ambiguous-0.5") for seed in (1, 2)}


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project]) -> Project:
    project = make_project()
    project.params(GRID)
    return project


@pytest.fixture
def cluster(project: Project) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """A scheduler and two workers, each a process of its own; address and workers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    port = address.rpartition(":")[2]
    scheduler = project.start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    one = ["distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
    workers = [project.start(*one) for _ in range(2)]
    yield address, workers
    for process in (*workers, scheduler):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def tables(project: Project) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.path / "data/evaluate").iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def busiest_first(workers: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    """The workers by how much they compute within a fifth of a second: on a busy machine they hardly ever train at once."""
    before = [psutil.Process(worker.pid).cpu_times().user for worker in workers]
    time.sleep(0.2)
    spent = [psutil.Process(worker.pid).cpu_times().user - begun for worker, begun in zip(workers, before, strict=True)]
    return [workers[place] for place in sorted(range(len(workers)), key=lambda place: -spent[place])]


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(project: Project, cluster: tuple[str, list[subprocess.Popen[str]]]) -> None:
    address, workers = cluster
    project.run("tasks", "dvc-yaml")
    flow = project.start("flows.audit", "--runner", "dask", "--address", address)
    started = project.path / ".cartograph" / "checkpoints"
    while flow.poll() is None and not list(started.glob("retrain@*")):
        time.sleep(0.02)
    assert flow.poll() is None, flow.communicate()[0]
    trains, other = busiest_first(workers)
    os.killpg(trains.pid, signal.SIGKILL)
    said = flow.communicate()[0]
    assert flow.returncode == 0, said
    assert other.poll() is None
    assert set(project.executions()) >= CELLS
    on_dask = tables(project)
    project.run("flows.audit", "--force", "retrain", "--workers", "2")
    assert all(number >= 2 for step, number in project.executions().items() if step in CELLS)
    assert tables(project) == on_dask


@pytest.mark.slow
def test_folds_and_parts_of_a_filter_are_spread_over_the_workers_and_make_the_same_bytes(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.params(IN_PIECES)
    made = "data/train", "data/noise", "data/aflite"
    project.run("flows.audit", "--runner", "dask", "--workers", "2")
    on_dask = {path: contents(project.path / path) for path in made}
    assert {"epoch=3.parquet"} < {path.name for path in (project.path / "data/train/out_of_fold").iterdir()}
    again = [*(argument for step in ("train", "noise", "aflite") for argument in ("--force", step))]
    assert {"train", "noise", "aflite"} <= project.executed_by(lambda: project.run("flows.audit", *again, "--workers", "2"))
    assert {path: contents(project.path / path) for path in made} == on_dask
    for step in ("train", "aflite"):
        project.run("tasks", "run", step, "--force")
    assert {path: contents(project.path / path) for path in made} == on_dask


@pytest.mark.slow
def test_pieces_are_computed_by_all_workers_and_the_first_failure_is_the_steps(project: Project) -> None:
    (project.path / "spread_pieces.py").write_text(PIECES)
    done = subprocess.run(
        [sys.executable, "spread_pieces.py"], cwd=project.path, env=project.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:3] == ["[0, 1, 2, 3, 4, 5]", "2 processes", "too large: 7"]


@pytest.mark.slow
def test_an_address_where_nobody_answers(project: Project) -> None:
    done = project.run("flows.audit", "--runner", "dask", "--address", "tcp://127.0.0.1:9", code=2)
    assert "no Dask scheduler answers there" in done.stderr
    assert "Traceback" not in done.stderr
    assert "there is no such runner; there are local, dask" in project.run("flows.audit", "--runner", "ray", code=2).stderr
    assert "add --runner dask" in project.run("flows.audit", "--address", "tcp://127.0.0.1:9", code=2).stderr


@pytest.mark.slow
def test_a_cluster_that_does_not_see_the_project(project: Project, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    scheduler = subprocess.Popen(command, cwd=tmp_path, env=project.environment, stderr=subprocess.DEVNULL)
    try:
        while socket.socket().connect_ex(("127.0.0.1", int(port))):
            assert scheduler.poll() is None
            time.sleep(0.1)
        done = project.run("flows.audit", "--runner", "dask", "--address", f"tcp://127.0.0.1:{port}", code=2)
    finally:
        scheduler.terminate()
        scheduler.wait(30)
    assert f"the scheduler does not see this project, {project.path}; start it in the project's root" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_each_worker_of_a_local_cluster_has_a_gpu_of_its_own(project: Project) -> None:
    code = (
        "import os; from distributed import Client; from flows.engine.dask_cluster import local_cluster\n"
        "if __name__ == '__main__':\n"
        "    with local_cluster(2) as cluster, Client(cluster) as client:\n"
        "        print(sorted(client.run(os.getenv, 'CUDA_VISIBLE_DEVICES').values()))\n"
    )
    (project.path / "seen.py").write_text(code)
    environment = project.environment | {"CUDA_VISIBLE_DEVICES": "3,5"}
    done = subprocess.run([sys.executable, "seen.py"], cwd=project.path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['3', '5']"
