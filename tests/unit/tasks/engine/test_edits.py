"""What is edited while an audit runs: refused where it was in use, remarked on at the end, never recorded as if it had been used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.edits import edited_keys, edits_of, remark_on_edits, take_snapshot
from tasks.engine.receipt import fresh, read_receipt
from tasks.engine.running import run_step
from tasks.engine.step import Inputs, Out, Step
from tasks.engine.workspace import Workspace
from tests.small_steps import Doubling, space

PARAMS = "double: {factor: 2}\nother: {a: 1}\n"


def copy(params: Doubling, inputs: Inputs, out: Out) -> str:
    (out["data/copy"] / "x.txt").write_text(inputs["file:rows.csv"].read_text() * params.factor)
    return "copied"


def copy_and_edit(params: Doubling, inputs: Inputs, out: Out) -> str:
    said = copy(params, inputs, out)
    inputs["file:rows.csv"].write_text("new")
    return said


def step(run: Callable[[Doubling, Inputs, Out], str] = copy, *inputs: str) -> Step:
    return Step(name="copy", run=run, params=Doubling, inputs=("file:rows.csv", *inputs), outputs=("data/copy",), of="double")


@pytest.fixture
def held(project: Path) -> Iterator[Workspace]:
    """A workspace as an audit of the step `copy` holds it."""
    (project / "rows.csv").write_text("old")
    (project / "params.yaml").write_text(PARAMS)
    workspace = space(project)
    with workspace.lock("an audit") as token:
        yield take_snapshot(workspace, PARAMS.encode(), [step()], token)


def test_a_file_that_changes_while_it_is_read_is_no_record(held: Workspace) -> None:
    with pytest.raises(InputError, match=r"step `copy`: .*/rows\.csv changed while it was in use, so this step was not recorded"):
        run_step(step(copy_and_edit), held)
    assert read_receipt(step(), held) is None
    assert not held.resolve("data/copy").exists()


def test_a_file_that_changed_between_two_steps_is_not_read_by_the_second(held: Workspace) -> None:
    held.resolve("file:rows.csv").write_text("new")
    with pytest.raises(InputError, match=r"rows\.csv changed while it was in use"):
        run_step(step(), held)
    assert read_receipt(step(), held) is None


def test_code_that_changed_since_the_audit_began_is_not_run(held: Workspace) -> None:
    assert held.snapshot is not None
    name = next(iter(held.snapshot.code))
    changed = replace(held, snapshot=replace(held.snapshot, code={**held.snapshot.code, name: "another"}))
    with pytest.raises(InputError, match=f"{name} changed while it was in use"):
        run_step(step(), changed)


def test_parameters_are_those_that_the_audit_began_with(held: Workspace) -> None:
    (held.path / "params.yaml").write_text("double: {factor: 3}\n")
    reading = step(copy, "params.yaml")
    receipt = run_step(reading, held).receipt
    assert held.content("params.yaml").read_text() == PARAMS
    assert (held.resolve("data/copy") / "x.txt").read_text() == "oldold"
    assert fresh(reading, held) == receipt
    assert edits_of(step(), held) == ["double.factor"]
    assert edits_of(reading, held) == ["double.factor", "other.a"]


def test_what_was_edited_is_said_at_the_end(held: Workspace) -> None:
    assert remark_on_edits(held) is None
    (held.path / "params.yaml").write_text("double: {factor: 3}\nother: {a: 1, b: null}\nmore: {c: 1}\n")
    assert edited_keys(held) == ["double.factor", "other.b", "more.c"]
    held.resolve("file:rows.csv").unlink()
    keys = "params.yaml (`double.factor`, `other.b`, `more.c`)"
    said = remark_on_edits(held)
    assert said is not None and said.startswith(f"{keys} and {held.path / 'rows.csv'} changed while this audit ran, whose")


def test_comments_are_no_edits_and_a_broken_file_is(held: Workspace) -> None:
    path = held.path / "params.yaml"
    path.write_text("# new\n" + PARAMS)
    assert remark_on_edits(held) is None
    path.write_text("double: {factor: ")
    assert edited_keys(held) == ["params.yaml"]
    assert edits_of(step(copy, "params.yaml"), held) == ["params.yaml"]
