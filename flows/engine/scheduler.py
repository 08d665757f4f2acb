"""All steps submitted to Prefect, each once, to wait for its upstream steps; and three things to wait for that Prefect does not have.

Prefect schedules: a task begins once everything in its ``wait_for`` has completed, and its graph draws that list as edges. An audit
needs three more things in that list:

- A free accelerator. Prefect's concurrency limits are kept on its server and hold for all flow runs; one for each audit would have to be
  made there first and removed after it. Here a task waits for one of those that its own flow has.
- A cell that has run, whether it failed or not. Prefect's ``allow_failure`` also goes on after a task that did not run because something
  before it failed, and its reader would then take what an earlier audit left there.
- A step for whose page somebody waits, before what is large and is not needed for that page.

Retries and lost processes are in ``step_task`` and ``runners``.
"""

from __future__ import annotations

import logging
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Any
from uuid import UUID, uuid4

from prefect.exceptions import MissingContextError, TerminationSignal
from prefect.futures import PrefectFuture, PrefectTaskRunFuture, as_completed
from prefect.logging import get_run_logger
from prefect.states import Completed

from cartograph.errors import CartographError, CellError, WaitingError
from cartograph.wording import visible
from flows.engine.runner import Runner, StepsOf, run_named
from flows.engine.states import error_of
from flows.engine.step_task import as_task
from flows.engine.watch import terminated
from tasks.engine.dag import upstream
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace
from tasks.presentation import console

_NOT_RUN = "NotReady"
_MOST_NAMED = 3


@dataclass
class Ended:
    """How the steps of a DAG ended.

    Attributes:
        done: those that completed, in the DAG's order.
        errors: those that ran and did not, in the order of their ends, each with its error.
    """

    done: list[Step] = field(default_factory=list)
    errors: list[tuple[Step, CartographError]] = field(default_factory=list)

    @property
    def error(self) -> CartographError | None:
        """The error of the whole: the first that kept other steps from running, else one for all cells that failed; None without any."""
        others = [error for step, error in self.errors if not step.leaves_failure]
        if others:
            # What failed counts before what waits.
            return min(others, key=lambda error: isinstance(error, WaitingError))
        if not self.errors:
            return None
        number = len(self.errors)
        named = "; ".join(f"`{step.name}`: {str(error).rstrip('.')}" for step, error in self.errors[:_MOST_NAMED])
        more = f"; and {number - _MOST_NAMED} more" if number > _MOST_NAMED else ""
        cells = f"{number} cell{'s' * (number > 1)}"
        return CellError(f"{cells} failed; everything else was done without them: {named}{more}. The next run repeats only what failed.")


def run_steps(
    steps_of: StepsOf,
    workspace: Workspace,
    runner: Runner,
    forced: Callable[[Step], bool],
    record: Callable[[Sequence[Step]], object],
    after: Callable[[Step, bool], object] = lambda step, executed: None,
) -> Ended:
    """Submit every step in the current flow run, and print a line for each as it ends.

    The steps that read a failed one do not run, all others do; those that read a cell that leaves its failure do as well.

    Args:
        steps_of: settings -> steps, each after its upstream steps.
        workspace: what they read and write.
        runner: where they are computed.
        forced: whether a step runs even where it is fresh.
        record: records steps in DVC; called with all steps before one that reports their versions, when that one runs.
        after: called with each step that completed, and whether it had to run for that.
    """
    steps, slots = steps_of(workspace.settings), Slots(runner.slots)
    futures: dict[str, PrefectFuture[Any]] = {}
    before: dict[str, set[str]] = {}
    for place, step in enumerate(steps):
        names = upstream(step, steps, workspace.settings)
        before[step.name] = names.union(*(before[name] for name in names))
        first = partial(record, [other for other in steps if other.name in before[step.name]]) if step.hints.needs_versions else None
        waits = [EndedCell(futures[other.name]) if other.leaves_failure else futures[other.name] for other in steps if other.name in names]
        own = waits[0].task_run_id if waits else uuid4()
        if step.hints.resources == "gpu":
            waits += [Gone(futures[other.name], own) for other in steps[:place] if other.hints.awaited and other.name not in names]
        slot = FreeSlot(slots, place, own) if step.hints.resources == "gpu" else None
        force = forced(step)
        compute = partial(runner.run, partial(run_named, steps_of, step.name, workspace, force=force, spread=runner.spread))
        run = as_task(step, workspace, compute, force=force, first=first)
        future = run.submit(return_state=False, wait_for=waits if slot is None else [*waits, slot])
        if slot is not None:
            future.add_done_callback(slot.release)
        futures[step.name] = future
    try:
        return collect({futures[step.name]: step for step in steps}, before, after)
    except TerminationSignal:
        terminated()
        raise


def collect(
    submitted: Mapping[PrefectFuture[Any], Step],
    before: Mapping[str, Set[str]],
    after: Callable[[Step, bool], object] = lambda step, executed: None,
) -> Ended:
    """Wait for the steps, and print how each ended as it ends; a step that could not run is passed over.

    Args:
        submitted: in the DAG's order.
        before: by name, all steps that a step comes after.
        after: called with each step that completed, and whether it had to run for that.
    """
    done, errors = set(), []
    for future in _as_ended(submitted, before):
        step = submitted[future]
        future.wait()
        state = future.state
        if state.is_completed():
            result = future.result()
            console.step_line(step.name, result["summary"], result["seconds"])
            _log(future, f"{step.name}: {visible(result['summary'])} ({console.time_of(result['seconds'])})")
            after(step, result["seconds"] is not None)
            done.add(step.name)
        elif state.name != _NOT_RUN:
            error = error_of(state) or CartographError(f"step `{step.name}` ended as {state.name}: {state.message}")
            errors.append((step, error))
            if step.leaves_failure:
                console.say(f"{step.name}: FAILED: {error}")
            _log(future, f"{step.name}: {visible(str(error))}", logging.WARNING if isinstance(error, WaitingError) else logging.ERROR)
    return Ended([step for step in submitted.values() if step.name in done], errors)


def _as_ended(submitted: Mapping[PrefectFuture[Any], Step], before: Mapping[str, Set[str]]) -> Iterator[PrefectFuture[Any]]:
    """Yield what was submitted as it ends; of what ended at the same time, which Prefect mixes, no step before those it comes after."""
    ended: set[PrefectFuture[Any]] = set()
    shown: set[str] = set()
    for arrived in as_completed(list(submitted)):
        ended.add(arrived)
        for future, step in submitted.items():
            if future in ended and before[step.name] <= shown:
                ended.remove(future)
                shown.add(step.name)
                yield future


def _log(future: PrefectFuture[Any], line: str, level: int = logging.INFO) -> None:
    """Log a step's line where Prefect shows the logs of the flow run, and those of the step's task run."""
    # Outside a flow run there is nothing to log to.
    with suppress(MissingContextError):
        get_run_logger().log(level, line, extra={"task_run_id": str(future.task_run_id)})


class Slots:
    """So many accelerators, each used by one step at a time; their number may grow."""

    def __init__(self, number: Callable[[], int]) -> None:
        self._number, self._used = number, 0
        self._waiting: list[int] = []
        self._changed = Condition()

    def take(self, place: int) -> None:
        """Take one as soon as one is free; of those that wait, the one with the lowest place in the DAG comes first."""
        with self._changed:
            insort(self._waiting, place)
            self._changed.wait_for(lambda: self._used < self._number() and self._waiting[0] == place)
            self._waiting.remove(place)
            self._used += 1
            self._changed.notify_all()

    def give_back(self) -> None:
        """Free one."""
        with self._changed:
            self._used -= 1
            self._changed.notify_all()


class _Awaited(PrefectTaskRunFuture[Any]):
    """Something in a task's ``wait_for`` that is no task of Prefect's own."""

    def result(self, timeout: float | None = None, raise_on_failure: bool = True) -> Any:
        self.wait(timeout)
        return self.state.result(raise_on_failure=raise_on_failure)

    def add_done_callback(self, fn: Callable[[PrefectFuture[Any]], None]) -> None:
        raise TypeError("a slot can only be waited for")


class FreeSlot(_Awaited):
    """A free accelerator, taken when the wait for it ends; ``release`` gives it back.

    It goes by the id of an upstream task, so that it adds nothing to Prefect's graph.
    """

    def __init__(self, slots: Slots, place: int, task_run_id: UUID) -> None:
        super().__init__(task_run_id)
        self._slots, self._place, self._taken = slots, place, False

    def wait(self, timeout: float | None = None) -> None:
        """Take it as soon as it is free, however long that takes."""
        self._slots.take(self._place)
        self._taken, self._final_state = True, Completed(data={})

    def release(self, _: object = None) -> None:
        """Give it back, if it was taken."""
        if self._taken:
            self._taken = False
            self._slots.give_back()


class Gone(_Awaited):
    """A step that goes first, however it ends: nothing of it is read. It adds nothing to Prefect's graph, as ``FreeSlot``."""

    def __init__(self, other: PrefectFuture[Any], task_run_id: UUID) -> None:
        super().__init__(task_run_id)
        self._other = other

    def wait(self, timeout: float | None = None) -> None:
        """Wait for its task."""
        self._other.wait(timeout)
        self._final_state = Completed(data={})


class EndedCell(_Awaited):
    """A cell that has run: completed for its readers, also where it failed and left the reason."""

    def __init__(self, cell: PrefectFuture[Any]) -> None:
        super().__init__(cell.task_run_id)
        self._cell = cell

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the cell's task."""
        self._cell.wait(timeout)
        state = self._cell.state
        self._final_state = Completed(data={}) if state.is_failed() else state
