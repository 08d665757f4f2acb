"""What Prefect shows of a run: each step's line in its logs, and how far a long step is."""

from __future__ import annotations

import json
import multiprocessing
import time
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prefect import flow
from prefect.settings import PREFECT_API_URL, PREFECT_HOME, temporary_settings

from cartograph.config import Section
from cartograph.errors import InputError
from flows.engine import step_task
from flows.engine.progress_artifact import progress_shown
from flows.engine.runner import OwnProcess
from flows.engine.scheduler import run_steps
from tasks.engine.step import Inputs, Out, Step
from tasks.presentation.console import progress
from tests.workspaces import make_workspace


def count_rows(params: Section, inputs: Inputs, out: Out) -> str:
    with progress("count", "rows") as update:
        for done in range(0, 4001, 100):
            update(done, 4000)
            time.sleep(0.1)
    return "4,000 rows counted"


def refuse(params: Section, inputs: Inputs, out: Out) -> str:
    raise InputError("reviews.csv does not exist.")


STEPS = (
    Step(name="count", run=count_rows, params=Section, outputs=("data/count",)),
    Step(name="refuse", run=refuse, params=Section, inputs=("data/count",), outputs=("data/refuse",)),
)


def count_and_refuse(api: str, folder: Path) -> str:
    """Run the two steps as a flow of this server's; return what stopped it. In a process of its own: Prefect's threads outlive a flow."""
    space = make_workspace(folder, count=Section(), refuse=Section())
    step_task.progress_shown = partial(progress_shown, every=0.5)  # type: ignore[assignment]

    @flow
    def counting() -> str:
        return str(run_steps(lambda _: STEPS, space, OwnProcess(), lambda _: False, lambda _: None).error)

    with temporary_settings({PREFECT_API_URL: api, PREFECT_HOME: folder / "home"}):
        return counting()


@pytest.mark.slow
def test_steps_lines_are_logged_and_a_long_one_says_how_far_it_is(prefect_server: str, project: Path) -> None:
    def ask(path: str, body: Any) -> Any:
        request = urllib.request.Request(f"{prefect_server}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as apart:
        assert apart.submit(count_and_refuse, prefect_server, project).result() == "reviews.csv does not exist."
    tasks = {task["name"]: task for task in ask("/task_runs/filter", {"flows": {"name": {"any_": ["counting"]}}})}
    # Other tests' long steps may stand in the same server.
    [artifact] = ask("/artifacts/filter", {"artifacts": {"type": {"any_": ["progress"]}, "task_run_id": {"any_": [tasks["count"]["id"]]}}})
    assert artifact["data"] == 100
    assert artifact["description"].startswith("count: done in ")
    for _ in range(60):
        logs = ask("/logs/filter", {"logs": {"flow_run_id": {"any_": [artifact["flow_run_id"]]}}})
        lines = {log["message"]: log for log in logs}
        [counted] = [line for line in lines if line.startswith("count: 4,000 rows counted (")] or [""]
        if counted and "refuse: reviews.csv does not exist." in lines:
            break
        time.sleep(1)
    assert lines[counted]["task_run_id"] == tasks["count"]["id"]
    assert lines["refuse: reviews.csv does not exist."]["level"] == 40
