"""When a step's task is taken from the cache, how it ends, and when it is tried again; without a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prefect import Task
from prefect.client.schemas.objects import State, TaskRun
from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
from prefect.states import Failed

from cartograph.config import Section
from cartograph.errors import CartographError, GateError, InputError, WaitingError
from flows.engine import step_task
from flows.engine.runner import LostProcessError
from flows.engine.states import error_of
from flows.engine.step_task import MOST_LOSSES, RETRIES, as_task
from tasks.engine.failed_cell import failure_of
from tasks.engine.running import Outcome, run_step
from tasks.engine.step import Cell, Hints, Inputs, Out, Step
from tasks.engine.workspace import Workspace
from tests.workspaces import make_workspace


def double(params: Section, inputs: Inputs, out: Out) -> str:
    (out["data/double"] / "x.txt").write_text(2 * inputs["data/source"].read_text())
    return "doubled"


STEP = Step(name="double", run=double, params=Section, inputs=("data/source",), outputs=("data/double",))
CELL = Step(name="double", run=double, params=Section, outputs=("data/double",), cell=Cell(values={}, spread=(), leaves_failure=True))


@pytest.fixture
def space(project: Path) -> Workspace:
    (project / "data").mkdir()
    (project / "data" / "source").write_text("ab")
    return make_workspace(project, double=Section())


@pytest.fixture
def results(project: Path, monkeypatch: pytest.MonkeyPatch) -> ResultStore:
    """Where Prefect keeps what tasks returned."""
    store = ResultStore(result_storage=LocalFileSystem(basepath=str(project / "results")))
    monkeypatch.setattr(step_task.TaskRunContext, "get", lambda: SimpleNamespace(result_store=store))
    return store


def here(step: Step, space: Workspace, *, force: bool = False) -> Task[[], Any]:
    """The step's task, computed in this process."""
    return as_task(step, space, lambda alone: run_step(step, space, force=force), force=force)


def failing(error: Exception, step: Step, space: Workspace) -> Task[[], Any]:
    def fail(alone: bool) -> Outcome:
        raise error

    return as_task(step, space, fail)


def key(task: Task[[], Any]) -> str | None:
    return task.cache_policy.compute_key(None, {}, {})  # type: ignore[union-attr, arg-type]


def retried(task: Task[[], Any], data: object, run_count: int = 1) -> bool:
    assert task.retry_condition_fn is not None
    run, state = TaskRun.model_construct(run_count=run_count), Failed(data=data, message="Something went wrong")
    return bool(task.retry_condition_fn(task, run, state))


def test_a_step_has_a_cache_key_only_where_its_receipt_verifies(space: Workspace, results: ResultStore) -> None:
    assert key(here(STEP, space)) is None, "it never ran"
    here(STEP, space).fn()
    found = key(here(STEP, space))
    assert found is not None and found.startswith("double-.-")
    assert key(here(STEP, space, force=True)) is None
    output = space.path / "data" / "double" / "x.txt"
    output.write_text("edited")
    assert key(here(STEP, space)) is None
    output.write_text("abab")
    assert key(here(STEP, space)) == found
    (space.path / "data" / "source").write_text("cd")
    assert key(here(STEP, space)) is None
    here(STEP, space).fn()
    assert key(here(STEP, space)) not in (None, found)
    (space.path / "data" / "source").unlink()
    assert key(here(STEP, space)) is None, "what is missing is for the step to say"


def test_what_ran_is_cached_under_the_key_that_the_next_run_computes(space: Workspace, results: ResultStore) -> None:
    assert here(STEP, space).fn()["seconds"] > 0
    found = key(here(STEP, space))
    assert found is not None
    assert results.read(found).result == {"summary": "doubled", "seconds": None}
    assert here(STEP, space).fn() == {"summary": "doubled", "seconds": None}, "what is fresh does not run, whoever ran it"


@pytest.mark.parametrize(
    ("error", "kind", "failed"), [(InputError("No such file."), InputError, True), (GateError("Too many."), GateError, True),
    (WaitingError("40 pairs wait."), WaitingError, False)],
)  # fmt: skip
def test_an_error_for_the_user_ends_the_task_and_is_not_retried(
    error: CartographError, kind: type[CartographError], failed: bool, space: Workspace
) -> None:
    task = failing(error, STEP, space)
    ended = task.fn()
    assert isinstance(ended, State)
    assert (ended.is_failed(), ended.is_completed()) == (failed, False)
    assert type(error_of(ended)) is kind and str(error_of(ended)) == str(error)
    assert not retried(task, ended.data)


def test_any_other_error_is_retried_twice(space: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    task = failing(RuntimeError("out of order"), STEP, space)
    with pytest.raises(RuntimeError, match="out of order"):
        task.fn()
    answers = [retried(task, RuntimeError("out of order"), count) for count in range(1, RETRIES + 2)]
    assert answers == [True] * RETRIES + [False]
    assert task.retries >= RETRIES
    assert capsys.readouterr().out.count("double: Something went wrong; trying again in 5 s") == RETRIES


@pytest.mark.parametrize("step", [STEP, CELL])
def test_a_step_whose_process_is_lost_runs_again_alone_and_is_given_up_after_some_losses(
    step: Step, space: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[bool] = []

    def lose(alone: bool) -> Outcome:
        asked.append(alone)
        raise LostProcessError(f"BrokenProcessPool: terminated abruptly, {len(asked)}.")

    task = as_task(step, space, lose)
    for run_count in range(1, MOST_LOSSES + 1):
        with pytest.raises(LostProcessError) as lost:
            task.fn()
        assert retried(task, lost.value, run_count)
    assert task.retries >= MOST_LOSSES
    error = error_of(task.fn())
    assert str(error) == (
        "step `double` was lost 4 times with the process that ran it, the last time by BrokenProcessPool: terminated abruptly, 4"
    )
    assert asked == [False, True, True, True]
    said = capsys.readouterr().out
    shown = "double: the process that ran it has died (BrokenProcessPool: terminated abruptly, {}); running it again"
    assert [said.count(shown.format(number)) for number in range(1, MOST_LOSSES + 2)] == [1] * MOST_LOSSES + [0]
    assert failure_of(space.path / "data" / "double") == (str(error) if step is CELL else None)


def test_losses_leave_a_step_its_retries(space: Workspace) -> None:
    def lose(alone: bool) -> Outcome:
        raise LostProcessError("gone")

    task = as_task(STEP, space, lose)
    with pytest.raises(LostProcessError):
        task.fn()
    assert [retried(task, RuntimeError(), count) for count in (2, 3, 4)] == [True, True, False]


def test_only_a_step_that_runs_on_an_accelerator_counts_among_those_of_all_audits(
    space: Workspace, results: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    limits = {"tag:resource:gpu"}

    class Client:
        def __enter__(self) -> Client:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def read_global_concurrency_limit_by_name(self, name: str) -> None:
            if name not in limits:
                raise step_task.ObjectNotFound(Exception())

    @contextmanager
    def concurrency(name: str, occupy: int, lease_duration: float) -> Any:
        counted.append(f"{name} {occupy}, {lease_duration:.0f} s")
        yield
        counted.append("released")

    monkeypatch.setattr(step_task, "get_client", lambda sync_client: Client())
    monkeypatch.setattr(step_task, "concurrency", concurrency)
    gpu = Step(name="double", run=double, params=Section, inputs=("data/source",), outputs=("data/double",), hints=Hints(resources="gpu"))
    here(STEP, space).fn()
    assert counted == []
    here(gpu, space, force=True).fn()
    assert counted == ["tag:resource:gpu 1, 60 s", "released"]
    limits.clear()
    here(gpu, space, force=True).fn()
    assert counted == ["tag:resource:gpu 1, 60 s", "released"], "without a limit nothing is counted"
    assert not here(gpu, space).tags, "a tag would count what is fresh as well"


def test_what_is_to_be_done_first_is_done_where_the_step_runs(space: Workspace, results: ResultStore) -> None:
    done: list[str] = []

    def first() -> None:
        done.append("first")

    def refuse() -> None:
        raise InputError("DVC could not record it.")

    compute: Callable[..., Outcome] = partial(lambda alone: (done.append("run"), run_step(STEP, space))[1])
    as_task(STEP, space, compute, first=first).fn()
    assert done == ["first", "run"]
    assert str(error_of(as_task(STEP, space, compute, first=refuse).fn())) == "DVC could not record it."
    assert done == ["first", "run"]


def test_of_what_a_lost_process_said_300_characters_are_told_on_one_line(space: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(message: str) -> str:
        def lose(alone: bool) -> Outcome:
            raise LostProcessError(message)

        task = as_task(STEP, space, lose)
        with pytest.raises(LostProcessError) as lost:
            task.fn()
        assert retried(task, lost.value)
        return capsys.readouterr().out.partition("has died (")[2].partition("); running it again")[0]

    assert shown("a\n  b\t\tc. ") == "a b c"
    assert shown("x" * 300) == "x" * 300
    assert shown("x" * 301) == "x" * 299 + "…"


def test_what_a_task_returned_is_kept_by_prefect_for_the_next_run(space: Workspace) -> None:
    task = here(STEP, space)
    assert (task.name, task.persist_result, task.result_serializer) == ("double", True, "json")
