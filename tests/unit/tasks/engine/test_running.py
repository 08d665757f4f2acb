"""Step, fingerprint, receipt and the safe run, on small real steps in a temporary workspace."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.receipt import fresh, read_receipt
from tasks.engine.running import run_step
from tasks.engine.step import Inputs, Out, Step
from tests.small_steps import GRID, STEP, Doubling, Grid, shout, space
from tests.workspaces import make_workspace


def test_a_step_runs_once_and_leaves_outputs_and_a_receipt(tmp_path: Path) -> None:
    first = run_step(STEP, space(tmp_path))
    second = run_step(STEP, space(tmp_path))
    assert (first.executed, second.executed) == (True, False)
    assert (tmp_path / "data/double/x.txt").read_text() == "abab"
    assert second.receipt.summary == "4 characters"
    assert [entry["step"] for entry in space(tmp_path).executions()] == ["double"]


@pytest.mark.parametrize("change", ["parameter", "input", "output edited", "output deleted", "receipt deleted", "receipt garbled"])
def test_whatever_differs_makes_it_run_again(tmp_path: Path, change: str) -> None:
    run_step(STEP, space(tmp_path))
    factor = 3 if change == "parameter" else 2
    receipt = tmp_path / STEP.receipt_name
    if change == "input":
        (tmp_path / "data/source/x.txt").write_text("abc")
    elif change == "output edited":
        (tmp_path / "data/double/x.txt").write_text("abaX")
    elif change == "output deleted":
        (tmp_path / "reports/double.metrics.json").unlink()
    elif change == "receipt deleted":
        receipt.unlink()
    elif change == "receipt garbled":
        receipt.write_text('{"step": ')
    assert run_step(STEP, space(tmp_path, factor)).executed
    assert not run_step(STEP, space(tmp_path, factor)).executed


def test_force_runs_what_is_fresh(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path))
    assert run_step(STEP, space(tmp_path), force=True).executed


def test_receipts_carry_no_time(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path))
    before = (tmp_path / STEP.receipt_name).read_bytes()
    time.sleep(0.01)
    run_step(STEP, space(tmp_path), force=True)
    assert (tmp_path / STEP.receipt_name).read_bytes() == before


def failing(params: Doubling, inputs: Inputs, out: Out) -> str:
    (out["data/double"] / "half.txt").write_text("half")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path))
    receipt = read_receipt(STEP, space(tmp_path))
    broken = Step(name="double", run=failing, params=Doubling, inputs=STEP.inputs, outputs=STEP.outputs)
    with pytest.raises(InputError, match=r"no space left on the disk .* What earlier runs left is unchanged"):
        run_step(broken, space(tmp_path), force=True)
    assert (tmp_path / "data/double/x.txt").read_text() == "abab"
    assert not (tmp_path / "data/double/half.txt").exists()
    assert read_receipt(STEP, space(tmp_path)) == receipt
    assert not list((tmp_path / ".cartograph/staging/double").iterdir())


def forgetful(params: Doubling, inputs: Inputs, out: Out) -> str:
    return "wrote nothing"


def test_an_output_that_was_not_written_is_a_defect(tmp_path: Path) -> None:
    broken = Step(name="double", run=forgetful, params=Doubling, outputs=("reports/double.metrics.json",))
    with pytest.raises(Exception, match=r"ended without writing reports/double\.metrics\.json"):
        run_step(broken, space(tmp_path))
    assert fresh(broken, space(tmp_path)) is None


def slow(params: Doubling, inputs: Inputs, out: Out) -> str:
    (out["data/double"] / "half.txt").write_text("half")
    Path(os.environ["STARTED"]).touch()
    time.sleep(60)
    return ""


def _run_slow(path: Path) -> None:
    run_step(Step(name="double", run=slow, params=Doubling, inputs=STEP.inputs, outputs=STEP.outputs), space(path), force=True)


def test_a_killed_run_leaves_the_old_outputs_and_the_next_run_recovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_step(STEP, space(tmp_path))
    started = tmp_path / "started"
    monkeypatch.setenv("STARTED", str(started))
    process = multiprocessing.get_context("fork").Process(target=_run_slow, args=(tmp_path,))
    process.start()
    while not started.exists():
        time.sleep(0.01)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert (tmp_path / "data/double/x.txt").read_text() == "abab"
    assert not (tmp_path / "data/double/half.txt").exists()
    assert not run_step(STEP, space(tmp_path)).executed
    run_step(STEP, space(tmp_path), force=True)
    assert not list((tmp_path / ".cartograph/staging/double").iterdir())


def _run_as_nobody(path: Path) -> None:
    for parent in (path, path / "data", *path.parents[:3]):
        parent.chmod(0o777)
    os.setgroups([])
    os.setuid(65534)
    with pytest.raises(
        InputError, match=rf"cannot write {path}/reports/double.metrics.json: {path}/reports is not a folder that this user can write"
    ):
        run_step(STEP, space(path))


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become another user")
def test_a_folder_that_cannot_be_written_is_found_before_the_work(tmp_path: Path) -> None:
    space(tmp_path)
    (tmp_path / "reports").mkdir(mode=0o555)
    process = multiprocessing.get_context("fork").Process(target=_run_as_nobody, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert not (tmp_path / "data/double").exists()


def test_a_matrix_step_is_a_step_per_cell_each_cached_on_its_own(tmp_path: Path) -> None:
    for factor in (2, 3):
        (tmp_path / f"data/{factor}").mkdir(parents=True)
        (tmp_path / f"data/{factor}/x.txt").write_text("ab")
    grid = make_workspace(tmp_path, grid=Grid())
    cells = GRID.expand(grid.settings)
    assert [cell.name for cell in cells] == ["grid@2-1", "grid@2-2", "grid@3-1", "grid@3-2"]
    assert [run_step(cell, grid).executed for cell in cells] == [True] * 4
    assert (tmp_path / "data/grid/3-2/x.txt").read_text() == "ababab"
    (tmp_path / "data/3/x.txt").write_text("xy")
    assert [run_step(cell, grid).executed for cell in cells] == [False, False, True, True]
    assert STEP.expand(grid.settings) == (STEP,)


def test_one_more_value_of_an_axis_runs_the_new_cells_alone(tmp_path: Path) -> None:
    for factor in (2, 3):
        (tmp_path / f"data/{factor}").mkdir(parents=True)
        (tmp_path / f"data/{factor}/x.txt").write_text("ab")
    first, more = (make_workspace(tmp_path, grid=Grid(seeds=seeds)) for seeds in ((1,), (1, 2)))
    assert [run_step(cell, first).executed for cell in GRID.expand(first.settings)] == [True, True]
    assert {cell.name: run_step(cell, more).executed for cell in GRID.expand(more.settings)} == {
        "grid@2-1": False,
        "grid@2-2": True,
        "grid@3-1": False,
        "grid@3-2": True,
    }


def test_an_optional_input_counts_from_the_day_it_is_there(tmp_path: Path) -> None:
    step = Step(name="double", run=shout, params=Doubling, inputs=("data/source",), optional=("review/decisions.csv",))
    audit = space(tmp_path)
    assert step.inputs_in(audit) == ("data/source",)
    assert run_step(step, audit).receipt.summary == "nothing"
    assert not run_step(step, audit).executed
    (tmp_path / "review").mkdir()
    (tmp_path / "review/decisions.csv").write_text("one")
    assert step.inputs_in(audit) == ("data/source", "review/decisions.csv")
    assert [run_step(step, audit).receipt.summary for _ in range(2)] == ["one", "one"]
    (tmp_path / "review/decisions.csv").write_text("two")
    assert run_step(step, audit).receipt.summary == "two"
    (tmp_path / "review/decisions.csv").unlink()
    assert run_step(step, audit).receipt.summary == "nothing"
