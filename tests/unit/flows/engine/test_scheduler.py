"""Which steps an audit starts next."""

from __future__ import annotations

from typing import Any, cast

from flows.audit import _Progress
from tasks.engine.step import Step
from tasks.engine.workspace import CODE
from tasks.pipelines import open_workspace, steps_of


def at_the_cells(at_once: int) -> tuple[_Progress, list[Step]]:
    """An audit of which all that comes before the retrained models is done, and those models."""
    steps = steps_of(open_workspace(CODE).settings)
    cells = [step for step in steps if step.section == "retrain"]
    done = list(steps[: steps.index(cells[0])])
    return _Progress(steps=steps, waiting=cells.copy(), at_once=at_once, done=done), cells


def names(steps: list[Step]) -> list[str]:
    return [step.name for step in steps]


def test_as_many_trainings_start_as_may_run_at_once() -> None:
    space = open_workspace(CODE)
    state, cells = at_the_cells(2)
    assert names(state.ready(space)) == names(cells[:2])
    state.running = {cast("Any", object()): state.waiting.pop(0)}
    assert names(state.ready(space)) == names(cells[1:2])


def test_steps_that_ran_when_a_pool_of_processes_broke_run_one_by_one_until_they_are_through() -> None:
    space = open_workspace(CODE)
    state, cells = at_the_cells(2)
    state.alone = {cells[0].name, cells[1].name}
    assert names(state.ready(space)) == names(cells[:1])
    state.running = {cast("Any", object()): state.waiting.pop(0)}
    assert state.ready(space) == []
    state.running.clear()
    assert names(state.ready(space)) == names(cells[1:2])
    state.waiting.pop(0)
    assert names(state.ready(space)) == names(cells[2:4])


def test_a_broken_pool_takes_no_step_before_all_that_ran_in_it_are_told() -> None:
    space = open_workspace(CODE)
    state, _ = at_the_cells(3)
    state.broken, state.running = True, {cast("Any", object()): state.waiting.pop(0)}
    assert state.ready(space) == []
