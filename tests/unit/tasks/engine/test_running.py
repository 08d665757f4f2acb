"""Step, fingerprint, receipt and the safe run, on small real steps in a temporary workspace."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cartograph.config import Section
from cartograph.errors import InputError
from tasks.commands.dvc_yaml import _stage
from tasks.engine.receipt import fingerprint, fresh, read_receipt
from tasks.engine.running import run_step
from tasks.engine.step import Hints, Inputs, Matrix, Out, Step
from tasks.engine.workspace import Workspace
from tests.workspaces import make_workspace, with_sections


class Doubling(Section):
    factor: int = 2


def double(params: Doubling, inputs: Inputs, out: Out) -> str:
    text = inputs["data/source"].joinpath("x.txt").read_text()
    (out["data/double"] / "x.txt").write_text(text * params.factor)
    out["reports/double.metrics.json"].write_text("{}")
    return f"{len(text) * params.factor} characters"


STEP = Step(name="double", run=double, params=Doubling, inputs=("data/source",), outputs=("data/double", "reports/double.metrics.json"))


def space(path: Path, factor: int = 2) -> Workspace:
    source = path / "data" / "source"
    if not source.exists():
        source.mkdir(parents=True)
        (source / "x.txt").write_text("ab")
    return make_workspace(path, double=Doubling(factor=factor))


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


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `double` needs .*data/source, which an earlier step makes"):
        fingerprint(STEP, make_workspace(tmp_path, double=Doubling()))


def failing(params: Doubling, inputs: Inputs, out: Out) -> str:
    (out["data/double"] / "half.txt").write_text("half")
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no file that is there and cannot be read")
def test_an_input_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `double` needs .*/self/mem, which cannot be read \(.+\); change its permissions"):
        fingerprint(replace(STEP, inputs=("file:/proc/self/mem",)), space(tmp_path))


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


def test_names_that_leave_the_workspace_are_refused(tmp_path: Path) -> None:
    for name in ("../x", "data/../../x", "elsewhere/x", "/etc/passwd"):
        with pytest.raises(InputError, match="is not inside the workspace"):
            space(tmp_path).resolve(name)
    assert space(tmp_path).resolve("file:/etc/hosts") == Path("/etc/hosts")


def test_one_lock_per_workspace_says_who_holds_it(tmp_path: Path) -> None:
    expected = rf"is busy: `first` \(process {os.getpid()} on .*, since .*\) holds it"
    with space(tmp_path).lock("first"), pytest.raises(InputError, match=expected), space(tmp_path).lock("second"):
        pass
    with space(tmp_path).lock("third"):
        pass


def test_a_journal_line_cut_short_is_passed_over(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path))
    with (tmp_path / ".cartograph/journal.jsonl").open("a") as file:
        file.write('{"step": "dou')
    assert len(space(tmp_path).executions()) == 1


class Grid(Section):
    factors: tuple[int, ...] = (2, 3)
    seeds: tuple[int, ...] = (1, 2)


def repeat(params: Grid, inputs: Inputs, out: Out) -> str:
    (folder,) = inputs.values()
    (out[f"data/grid/{out.cell['factor']}-{out.cell['seed']}"] / "x.txt").write_text((folder / "x.txt").read_text() * out.cell["factor"])
    return f"factor {out.cell['factor']}"


GRID = Step(name="grid", run=repeat, params=Grid, inputs=("data/{factor}",), matrix=Matrix({"factor": "factors", "seed": "seeds"}))


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


def test_another_section_that_a_step_reads_counts(tmp_path: Path) -> None:
    step = replace(STEP, reads=("grid",))
    before = fingerprint(step, with_sections(space(tmp_path), grid=Grid()))
    assert fingerprint(step, with_sections(space(tmp_path), grid=Grid(seeds=(3,)))) != before
    assert fingerprint(step, with_sections(space(tmp_path), grid=Grid())) == before


def shout(params: Doubling, inputs: Inputs, out: Out) -> str:
    heard = "review/decisions.csv" in inputs
    text = inputs["review/decisions.csv"].read_text() if heard else "nothing"
    (out["data/double"] / "x.txt").write_text(text)
    return text


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


def test_dvc_depends_on_an_optional_input_once_it_is_there_and_leaves_persistent_outputs_alone(project: Path) -> None:
    folder = project / "workspaces" / "reviews"
    (folder / "review").mkdir(parents=True)
    (folder / "params.yaml").write_text("{}")
    outputs = ("data/double", "reports/double.csv")
    hints = Hints(persistent=("reports/double.csv",))
    step = Step("double", shout, Doubling, ("data/source",), ("review/decisions.csv",), outputs, hints=hints)
    audit = make_workspace(folder, double=Doubling())
    assert "workspaces/reviews/review/decisions.csv" not in _stage(step, audit)["deps"]
    (folder / "review" / "decisions.csv").write_text("one")
    stage = _stage(step, audit)
    assert "workspaces/reviews/review/decisions.csv" in stage["deps"]
    assert {"workspaces/reviews/reports/double.csv": {"persist": True}} in stage["outs"]
    assert "workspaces/reviews/data/double" in stage["outs"]
