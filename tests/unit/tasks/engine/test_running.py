"""Step, fingerprint, receipt and the safe run, on small real steps in a temporary workspace."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from cartograph.errors import InputError
from tasks.engine.failed_cell import failure_of
from tasks.engine.lock import LostLockError
from tasks.engine.receipt import fresh, read_receipt
from tasks.engine.running import is_disk_full, run_step
from tasks.engine.step import Cell, Inputs, Out, Step
from tests.full_disk import full_disk
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
    os.setgroups([])
    os.setuid(65534)
    with pytest.raises(
        InputError, match=rf"cannot write {path}/reports/double.metrics.json: {path}/reports is not a folder that this user can write"
    ):
        run_step(STEP, space(path))


def _another_user_can_read_this() -> bool:
    return os.getuid() == 0 and all(folder.stat().st_mode & 0o001 for folder in Path(__file__).resolve().parents)


@pytest.mark.skipif(not _another_user_can_read_this(), reason="needs root, to become another user, and a folder that others may enter")
def test_a_folder_that_cannot_be_written_is_found_before_the_work(tmp_path: Path) -> None:
    # Of a folder that everybody may enter; those of pytest are their owner's alone, and stay so.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        space(path)
        (path / "reports").mkdir(mode=0o555)
        for own in (path, path / "data"):
            own.chmod(0o777)
        process = multiprocessing.get_context("fork").Process(target=_run_as_nobody, args=(path,))
        process.start()
        process.join()
        assert process.exitcode == 0
        assert not (path / "data/double").exists()


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


def save_model(params: Doubling, inputs: Inputs, out: Out) -> str:
    import torch

    torch.save({"weight": torch.zeros(100_000)}, out["data/double"] / "model.pt")
    return "saved"


def save_tensors(params: Doubling, inputs: Inputs, out: Out) -> str:
    import torch
    from safetensors.torch import save_file

    save_file({"weight": torch.zeros(100_000)}, out["data/double"] / "model.safetensors")
    return "saved"


def save_table(params: Doubling, inputs: Inputs, out: Out) -> str:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": np.random.default_rng(0).normal(size=100_000)}), out["data/double"] / "x.parquet")
    return "saved"


def save_and_wrap(params: Doubling, inputs: Inputs, out: Out) -> str:
    try:
        (out["data/double"] / "x").write_bytes(b"x" * 100_000)
    except OSError as error:
        raise RuntimeError("could not save") from error
    return "saved"


@pytest.mark.parametrize("save", [save_model, save_tensors, save_table, save_and_wrap])
def test_a_full_disk_is_the_same_sentence_whatever_writes(tmp_path: Path, save: Callable[[Doubling, Inputs, Out], str]) -> None:
    step = Step(name="double", run=save, params=Doubling, inputs=("data/source",), outputs=("data/double",))
    with full_disk(after=20_000), pytest.raises(InputError, match=r"step `double`: no space left on the disk of .* left is unchanged"):
        run_step(step, space(tmp_path))
    assert not (tmp_path / "data/double").exists()
    assert read_receipt(step, space(tmp_path)) is None
    assert not list((tmp_path / ".cartograph/staging/double").iterdir())
    assert run_step(step, space(tmp_path)).executed


def test_outputs_are_on_the_disk_before_their_receipt_and_the_old_receipt_is_gone_before_they_are_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_step(STEP, space(tmp_path))
    happened: list[str] = []
    sync, rename, unlink, replace_ = os.fsync, Path.rename, Path.unlink, Path.replace

    def noted(what: str, path: Path) -> None:
        parts = [part for part in path.parts if not part.startswith("tmp")]
        happened.append(f"{what} {'/'.join(parts[-2:])}")

    def note_sync(descriptor: int) -> None:
        noted("sync", Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    def note_rename(self: Path, target: Path) -> Path:
        noted("rename to", Path(target))
        return rename(self, target)

    def note_unlink(self: Path, missing_ok: bool = False) -> None:
        noted("unlink", self)
        unlink(self, missing_ok=missing_ok)

    def note_replace(self: Path, target: Path) -> Path:
        noted("replace", Path(target))
        return replace_(self, target)

    monkeypatch.setattr("os.fsync", note_sync)
    monkeypatch.setattr(Path, "rename", note_rename)
    monkeypatch.setattr(Path, "unlink", note_unlink)
    monkeypatch.setattr(Path, "replace", note_replace)
    run_step(STEP, space(tmp_path), force=True)
    order = [
        "sync double/x.txt",
        "sync data/double",
        "unlink data/double.receipt.json",
        "rename to data/double",
        f"sync {tmp_path.name}/data",
        "sync data/double.receipt.json.tmp",
        "replace data/double.receipt.json",
    ]
    places = [happened.index(one) for one in order]
    assert places == sorted(places), happened
    assert happened.index("sync reports/double.metrics.json") < happened.index("unlink data/double.receipt.json")
    assert happened.index(f"sync {tmp_path.name}/reports") < happened.index("sync data/double.receipt.json.tmp")
    # Then only the note that the step was running goes.
    assert [one for one in happened if one != "unlink running/double.json"][-1] == f"sync {tmp_path.name}/data"


def test_a_database_that_cannot_grow_is_a_full_disk() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("pragma max_page_count = 4")
    database.execute("create table x (y text)")
    with pytest.raises(sqlite3.OperationalError) as raised:
        database.executemany("insert into x values (?)", [("y" * 1000,)] * 100)
    database.close()
    assert is_disk_full(raised.value)
    assert not is_disk_full(sqlite3.OperationalError("database is locked"))
    assert not is_disk_full(InputError("no space left on device"))


def test_a_step_that_ran_tells_how_long_it_took_and_one_that_was_fresh_that_it_took_no_time(tmp_path: Path) -> None:
    outcomes = [run_step(STEP, space(tmp_path)) for _ in range(2)]
    assert 0 < outcomes[0].seconds < 60
    assert outcomes[1].seconds == 0
    [entry] = space(tmp_path).executions()
    assert entry["seconds"] == pytest.approx(outcomes[0].seconds, abs=0.01)


def refused(params: Doubling, inputs: Inputs, out: Out) -> str:
    raise PermissionError(errno.EACCES, "Permission denied", "/some/file")


def in_the_way(params: Doubling, inputs: Inputs, out: Out) -> str:
    (inputs["data/source"] / "x.txt" / "inner").mkdir()
    return ""


def unforeseen(params: Doubling, inputs: Inputs, out: Out) -> str:
    raise FileExistsError("of no file")


def lost_lock(params: Doubling, inputs: Inputs, out: Out) -> str:
    raise LostLockError("no longer held")


def too_large(params: Doubling, inputs: Inputs, out: Out) -> str:
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.parametrize(
    ("run", "kind", "message"),
    [
        (refused, InputError, r"step `double` was refused /some/file: Permission denied; change its permissions\. What .* is unchanged\."),
        (in_the_way, InputError, r"source/x\.txt is a file, where none belongs \(Not a directory\); delete it and run the step again\."),
        (unforeseen, FileExistsError, "of no file"),
        (lost_lock, LostLockError, "no longer held"),
        (too_large, InputError, r"no space left on the disk of .* \(1,234 MB free\); free some"),
    ],
)
@pytest.mark.parametrize("cell", [None, Cell(values={}, spread=(), leaves_failure=True)], ids=["step", "cell"])
def test_what_went_wrong_is_told_and_a_cell_leaves_it_in_place_of_its_output(
    run: Callable[[Doubling, Inputs, Out], str],
    kind: type[Exception],
    message: str,
    cell: Cell | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_234_000_000))
    step = Step(name="double", run=run, params=Doubling, inputs=STEP.inputs, outputs=("data/double",), cell=cell)
    with pytest.raises(kind, match=message) as raised:
        run_step(step, space(tmp_path))
    assert type(raised.value) is kind
    left = failure_of(tmp_path / "data/double")
    if cell is None or kind is LostLockError:
        assert left is None and not (tmp_path / "data/double").exists()
    else:
        assert left == (str(raised.value) if kind is InputError else "FileExistsError: of no file")


def test_what_a_failed_run_kept_aside_goes_when_the_step_succeeds(tmp_path: Path) -> None:
    aside = tmp_path / "data" / "double.failed"
    aside.mkdir(parents=True)
    (aside / "rows.csv").write_text("bad rows")
    run_step(STEP, space(tmp_path))
    assert not aside.exists()


def test_a_file_where_a_folder_of_outputs_belongs_is_found_before_the_work(tmp_path: Path) -> None:
    audit = space(tmp_path)
    (tmp_path / "reports").write_text("in the way")
    with pytest.raises(
        InputError, match=r"cannot write .*/reports/double\.metrics\.json: .*/reports is not a folder .* Nothing was changed\."
    ):
        run_step(STEP, audit)


def test_a_full_disk_is_known_by_its_number_and_from_what_was_being_handled_when_another_error_came() -> None:
    assert [is_disk_full(OSError(number, "no")) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES)] == [True] * 3 + [
        False
    ]
    try:
        try:
            raise OSError(errno.ENOSPC, "no")
        except OSError:
            raise RuntimeError("and then this")  # noqa: B904
    except RuntimeError as error:
        assert is_disk_full(error)
    assert not is_disk_full(RuntimeError("and then this"))
