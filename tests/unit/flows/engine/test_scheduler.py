"""What each step waits for, what a failed one stops, and who gets a free accelerator; without a server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from time import sleep
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import State
from prefect.exceptions import TerminationSignal
from prefect.futures import PrefectConcurrentFuture, PrefectFuture, PrefectTaskRunFuture
from prefect.states import Completed, Failed, Pending
from prefect.utilities.engine import collect_task_run_inputs_sync, resolve_to_final_result

from cartograph.config import Section
from cartograph.errors import CartographError, CellError, InputError, WaitingError
from flows.engine import scheduler
from flows.engine.runner import OwnProcess
from flows.engine.scheduler import Ended, EndedCell, FreeSlot, Slots, collect, run_steps
from flows.engine.states import task_state
from tasks.engine.dag import upstream
from tasks.engine.step import Cell, Hints, Inputs, Out, Step
from tasks.pipelines import open_workspace, steps_of
from tests.workspaces import make_workspace

SPACE = make_workspace(Path("/nowhere"))
GPU = Hints(resources="gpu")


def nothing(params: Section, inputs: Inputs, out: Out) -> str:
    return ""


def step(name: str, *inputs: str, **options: Any) -> Step:
    return Step(name=name, run=nothing, params=Section, inputs=tuple(f"data/{source.replace('@', '/')}" for source in inputs), **options)


def cell(name: str, *inputs: str) -> Step:
    return step(name, *inputs, cell=Cell(values={}, spread=(), leaves_failure=True))


@dataclass
class Threads:
    """In place of Prefect's task runner: a thread per task, which waits as Prefect's engine does and then ends as the test says."""

    pool: ThreadPoolExecutor
    ends: dict[str, Callable[[], State[Any]]] = field(default_factory=dict)
    waited_for: dict[str, list[PrefectFuture[Any]]] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    ids: dict[Any, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def as_task(self, step: Step, *_: Any, **options: Any) -> Threads:
        self.options[step.name] = options
        self.name = step.name
        return self

    def submit(self, *, wait_for: list[PrefectFuture[Any]], return_state: bool) -> PrefectConcurrentFuture[Any]:
        name, task_run_id = self.name, uuid4()
        assert name not in self.waited_for, "submitted once"
        self.waited_for[name], self.ids[task_run_id] = wait_for, name
        return PrefectConcurrentFuture(task_run_id, self.pool.submit(self._take_turn, name, wait_for))

    def _take_turn(self, name: str, wait_for: list[PrefectFuture[Any]]) -> State[Any]:
        try:
            for future in wait_for:
                resolve_to_final_result(future, {})
        except Exception:
            return Pending(name="NotReady")
        self.ran.append(name)
        return self.ends.get(name, completed)()

    def edges(self) -> set[tuple[str, str]]:
        return {
            (self.ids[source.id], name) for name, wait_for in self.waited_for.items() for source in collect_task_run_inputs_sync(wait_for)
        }


def completed() -> State[Any]:
    return Completed(data={"summary": "", "seconds": None})


def ended_with(error: CartographError) -> Callable[[], State[Any]]:
    return lambda: task_state(error)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Threads]:
    with ThreadPoolExecutor(64) as pool:
        threads = Threads(pool)
        monkeypatch.setattr(scheduler, "as_task", threads.as_task)
        yield threads


def run(*steps: Step, at_once: int = 1, record: Callable[[Sequence[Step]], object] = lambda _: None) -> Ended:
    runner = OwnProcess()
    runner.at_once = at_once
    return run_steps(lambda _: steps, SPACE, runner, lambda _: False, record)


def names(steps: Sequence[Step]) -> list[str]:
    return [step.name for step in steps]


AUDIT = "retrain: {seeds: [1, 2, 3]}\n"
COLLECTION = "collect: {methods: [uncertainty, random], seeds: [1, 2], rounds: 3}\n"


@pytest.mark.parametrize("params", [AUDIT, COLLECTION])
def test_each_step_is_submitted_once_and_waits_for_its_upstream_steps(params: str, threads: Threads, project: Path) -> None:
    (project / "params.yaml").write_text(params)
    space = open_workspace(project)
    ended = run_steps(steps_of, space, OwnProcess(), lambda _: False, lambda _: None)
    steps = steps_of(space.settings)
    assert threads.edges() == {(source, step.name) for step in steps for source in upstream(step, steps, space.settings)}
    assert names(ended.done) == names(steps), "in the DAG's order"
    assert ended.error is None


def test_a_failed_step_stops_what_reads_it_and_nothing_else(threads: Threads) -> None:
    threads.ends["b"] = ended_with(InputError("b cannot be used."))
    ended = run(step("a"), step("b"), step("c", "b"), step("d", "c"), step("e", "a"))
    assert names(ended.done) == ["a", "e"]
    assert [(step.name, str(error)) for step, error in ended.errors] == [("b", "b cannot be used.")]
    assert isinstance(ended.error, InputError)


def test_what_reads_a_failed_cell_goes_on_without_it(threads: Threads, capsys: pytest.CaptureFixture[str]) -> None:
    threads.ends["m@1"] = ended_with(InputError("No luck."))
    ended = run(step("a"), cell("m@1", "a"), cell("m@2", "a"), step("table", "m@1", "m@2"))
    assert names(ended.done) == ["a", "m@2", "table"]
    assert "m@1: FAILED: No luck." in capsys.readouterr().out
    assert isinstance(ended.error, CellError)
    assert "1 cell failed; everything else was done without them: `m@1`: No luck. The next run repeats only what failed" in str(ended.error)


def test_what_reads_a_cell_that_could_not_run_does_not_run_either(threads: Threads) -> None:
    threads.ends["a"] = ended_with(InputError("a cannot be used."))
    ended = run(step("a"), cell("m@1", "a"), step("table", "m@1"))
    assert threads.ran == ["a"]
    assert str(ended.error) == "a cannot be used."


def test_what_waits_for_people_stops_its_readers_and_counts_after_what_failed(threads: Threads) -> None:
    asked = Event()
    threads.ends["round"] = lambda: (asked.set(), task_state(WaitingError("40 pairs wait.")))[1]
    assert isinstance(run(step("round"), step("next", "round")).error, WaitingError)
    assert threads.ran == ["round"]
    threads.waited_for.clear()
    threads.ends["broken"] = lambda: (asked.wait(), task_state(InputError("No such file.")))[1]
    assert str(run(step("round"), step("broken")).error) == "No such file."


def test_an_end_that_no_step_foresaw_is_named(threads: Threads) -> None:
    def lost() -> State[Any]:
        return Pending(name="Somewhere", message="nobody knows")

    threads.ends["a"] = lost
    assert str(run(step("a")).error) == "step `a` ended as Somewhere: nobody knows"


def test_how_each_step_ended_is_logged_with_its_task_run(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[tuple[str, int, str]] = []

    class Logger:
        def log(self, level: int, line: str, extra: dict[str, str]) -> None:
            logged.append((line, level, threads.ids[UUID(extra["task_run_id"])]))

    monkeypatch.setattr(scheduler, "get_run_logger", Logger)
    threads.ends = {
        "a": lambda: Completed(data={"summary": "6 rows", "seconds": 2.0}),
        "b": ended_with(InputError("b cannot be used.")),
        "c": ended_with(WaitingError("40 pairs wait.")),
    }
    run(step("a"), step("b", "a"), step("c", "a"))
    assert sorted(logged) == [
        ("a: 6 rows (2.0 s)", logging.INFO, "a"),
        ("b: b cannot be used.", logging.ERROR, "b"),
        ("c: 40 pairs wait.", logging.WARNING, "c"),
    ]


def test_many_failed_cells_are_counted_and_three_named() -> None:
    errors = [(cell(f"m@{number}"), CartographError(f"reason {number}.")) for number in range(5)]
    said = str(Ended(errors=errors).error)
    assert said.startswith(
        "5 cells failed; everything else was done without them: `m@0`: reason 0; `m@1`: reason 1; `m@2`: reason 2; and 2 more."
    )


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_steps_use_an_accelerator_as_there_are(at_once: int, threads: Threads) -> None:
    running, most, guard, rest = 0, 0, Lock(), Event()

    def train() -> State[Any]:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        rest.wait(0.02)
        with guard:
            running -= 1
        return completed()

    trainings = [step(f"train{number}", "a", hints=GPU) for number in range(6)]
    threads.ends = {training.name: train for training in trainings}
    assert len(run(step("a"), *trainings, step("b", *names(trainings)), at_once=at_once).done) == 8
    assert most == at_once


def test_a_step_that_does_not_run_leaves_its_accelerator_to_others(threads: Threads) -> None:
    threads.ends["a"] = ended_with(InputError("a cannot be used."))
    ended = run(step("a"), step("b", "a", hints=GPU), step("c", hints=GPU), step("d", "c", hints=GPU))
    assert names(ended.done) == ["c", "d"]


def test_of_the_steps_that_wait_for_an_accelerator_the_first_in_the_dag_gets_it() -> None:
    slots, order, places = Slots(lambda: 1), [], [3, 1, 2]
    slots.take(0)
    with ThreadPoolExecutor(3) as pool:
        for place in places:
            pool.submit(lambda place=place: (slots.take(place), order.append(place), slots.give_back()))
        while len(slots._waiting) < len(places):
            pass
        slots.give_back()
    assert order == [1, 2, 3]


@pytest.mark.parametrize("end", [None, InputError("the page cannot be made.")])
def test_a_step_that_is_large_lets_the_page_that_somebody_waits_for_go_first(end: CartographError | None, threads: Threads) -> None:
    suspects, waiting = Event(), Event()
    threads.ends["suspects"] = lambda: waiting.set() or (suspects.wait(5) and completed())
    threads.ends["filter"] = lambda: (_ for _ in ()).throw(AssertionError("began first")) if not suspects.is_set() else completed()
    if end is not None:
        threads.ends["page"] = ended_with(end)
    with ThreadPoolExecutor(1) as beside:
        beside.submit(lambda: (waiting.wait(5), sleep(0.1), suspects.set()))
        page = step("page", "suspects", hints=Hints(awaited=True))
        run(step("rows"), step("suspects", "rows"), page, step("vectors", "rows"), step("filter", "vectors", hints=GPU))
    assert threads.ran[-1] == "filter", "however the page ended"
    assert ("page", "filter") not in threads.edges(), "nothing of it is read, so Prefect's graph has no edge"


def test_what_comes_before_a_step_that_reports_versions_is_recorded_when_it_runs(threads: Threads) -> None:
    recorded: list[list[str]] = []
    run(
        step("a"), step("b", "a"), step("beside"), step("c", "b"), step("publish", "c", hints=Hints(needs_versions=True)),
        record=lambda steps: recorded.append(names(steps)),
    )  # fmt: skip
    assert recorded == [], "a step that is fresh reports nothing"
    threads.options["publish"]["first"]()
    assert recorded == [["a", "b", "c"]]
    assert threads.options["c"]["first"] is None


def test_a_slot_goes_by_the_id_of_the_task_that_it_stands_for() -> None:
    own = uuid4()
    assert FreeSlot(Slots(lambda: 1), 0, own).task_run_id == own


def test_a_slot_that_was_not_taken_is_not_given_back_and_one_that_was_only_once() -> None:
    slots = Slots(lambda: 1)
    slot = FreeSlot(slots, 0, uuid4())
    slot.release()
    slot.wait()
    with ThreadPoolExecutor(1) as pool:
        other = FreeSlot(slots, 1, uuid4())
        taken = pool.submit(other.wait)
        with pytest.raises(TimeoutError):
            taken.result(0.05)
        slot.release()
        slot.release()
        taken.result(10)
        third = pool.submit(FreeSlot(slots, 2, uuid4()).wait)
        with pytest.raises(TimeoutError):
            third.result(0.05)
        other.release()
        third.result(10)


def test_two_that_wait_both_go_on_when_two_accelerators_become_free_at_once() -> None:
    slots = Slots(lambda: 0)
    with ThreadPoolExecutor(2) as pool:
        waiting = []
        for place in (2, 1):
            waiting.append(pool.submit(slots.take, place))
            while len(slots._waiting) < len(waiting):
                sleep(0.001)
        sleep(0.02)
        with slots._changed:
            slots.give_back()
            slots.give_back()
        for future in waiting:
            future.result(10)


def test_each_step_is_told_of_with_its_summary_and_whether_it_had_to_run(threads: Threads, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[tuple[str, bool]] = []
    threads.ends = {
        "a": lambda: Completed(data={"summary": "6 rows", "seconds": 2.0}),
        "b": lambda: Completed(data={"summary": "7 rows", "seconds": None}),
        "c": ended_with(InputError("c cannot be used.")),
    }
    steps = [step("a"), step("b", "a"), step("c", "b"), step("d", "c")]
    run_steps(
        lambda _: steps, SPACE, OwnProcess(), lambda _: False, lambda _: None, lambda done, executed: shown.append((done.name, executed))
    )
    assert shown == [("a", True), ("b", False)]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["a", "6", "rows", "2.0", "s"], ["b", "7", "rows", "cached"]]


def test_of_steps_that_end_at_the_same_time_none_is_shown_before_what_it_comes_after() -> None:
    class AtOnce(PrefectTaskRunFuture[Any]):
        """A future that has ended, of a step with this summary."""

        def __init__(self, name: str) -> None:
            super().__init__(uuid4())
            self._final_state = Completed(data={"summary": name, "seconds": None})

        def wait(self, timeout: float | None = None) -> None:
            """Wait for nothing."""

        def result(self, timeout: float | None = None, raise_on_failure: bool = True) -> Any:
            return self.state.data

        def add_done_callback(self, fn: Callable[[PrefectFuture[Any]], None]) -> None:
            fn(self)

    names, shown = [f"s{number}" for number in range(12)], []
    before = {name: set(names[:place]) for place, name in enumerate(names)}
    ended = collect({AtOnce(name): step(name) for name in names}, before, lambda done, executed: shown.append(done.name))
    assert shown == names == [one.name for one in ended.done]


def test_three_failed_cells_are_all_named_and_of_four_one_is_not() -> None:
    def said(number: int) -> str:
        return str(Ended(errors=[(cell(f"m@{place}"), CartographError("no luck.")) for place in range(number)]).error)

    assert said(1).startswith("1 cell failed; ") and said(2).startswith("2 cells failed; ")
    assert said(3).endswith("`m@2`: no luck. The next run repeats only what failed.")
    assert said(4).endswith("`m@2`: no luck; and 1 more. The next run repeats only what failed.")


def test_a_run_that_is_terminated_from_outside_says_so_before_it_ends(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def terminate(*_: object) -> Ended:
        raise TerminationSignal(signal=15)

    monkeypatch.setattr(scheduler, "collect", terminate)
    monkeypatch.setattr(scheduler, "terminated", lambda: said.append("terminated"))
    with pytest.raises(TerminationSignal):
        run(step("a"))
    assert said == ["terminated"]


def test_what_is_waited_for_tells_of_a_failure_unless_it_is_asked_not_to() -> None:
    broken = Failed(message="broken", data=ValueError("broken"))
    waited = EndedCell(SimpleNamespace(task_run_id=uuid4(), wait=lambda timeout: None, state=broken))  # type: ignore[arg-type]
    assert waited.result() == {}, "a cell that failed has run"
    slot = FreeSlot(Slots(lambda: 1), 0, uuid4())
    assert slot.result() == {}
    slot._final_state = broken
    slot.wait = lambda timeout=None: None  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="broken"):
        slot.result()
    assert isinstance(slot.result(raise_on_failure=False), ValueError)
    with pytest.raises(TypeError, match="can only be waited for"):
        slot.add_done_callback(print)
