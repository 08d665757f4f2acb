"""What a step would compute now: its inputs, and the sections that it reads."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.receipt import fingerprint, fresh
from tasks.engine.running import run_step
from tasks.engine.step import Hints, Inputs, Out, Step
from tests.small_steps import STEP, Doubling, Grid, space
from tests.workspaces import make_workspace, with_sections


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `double` needs .*data/source, which an earlier step makes"):
        fingerprint(STEP, make_workspace(tmp_path, double=Doubling()))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no file that is there and cannot be read")
def test_an_input_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `double` needs .*/self/mem, which cannot be read \(.+\); change its permissions"):
        fingerprint(replace(STEP, inputs=("file:/proc/self/mem",)), space(tmp_path))


def test_another_section_that_a_step_reads_counts(tmp_path: Path) -> None:
    step = replace(STEP, reads=("grid",))
    before = fingerprint(step, with_sections(space(tmp_path), grid=Grid()))
    assert fingerprint(step, with_sections(space(tmp_path), grid=Grid(seeds=(3,)))) != before
    assert fingerprint(step, with_sections(space(tmp_path), grid=Grid())) == before


@pytest.mark.parametrize(
    "garbage",
    ['{"outputs": null}', "null", "[]", "\x00", '{"step": ', "[" * 100_000, "step null", "outputs null", "outputs other", "a folder"],
)
def test_a_receipt_may_hold_anything_and_heals(tmp_path: Path, garbage: str) -> None:
    run_step(STEP, space(tmp_path))
    path = tmp_path / STEP.receipt_name
    whole = json.loads(path.read_text())
    key, _, value = garbage.partition(" ")
    if key in whole:
        garbage = json.dumps({**whole, key: None if value == "null" else {"data/double": 3, "reports/double.metrics.json": []}})
    path.unlink()
    if garbage == "a folder":
        path.mkdir()
        with pytest.raises(InputError, match=r"double\.receipt\.json is a folder, where none belongs"):
            run_step(STEP, space(tmp_path))
        return
    path.write_text(garbage)
    assert run_step(STEP, space(tmp_path)).executed
    assert fresh(STEP, space(tmp_path)) is not None
    assert (tmp_path / "data/double/x.txt").read_text() == "abab"


def test_an_output_that_cannot_be_read_is_made_again(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path))
    path = tmp_path / "reports/double.metrics.json"
    path.unlink()
    path.symlink_to(path.name)
    assert run_step(STEP, space(tmp_path)).executed


def test_a_pipe_as_an_input_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(InputError, match=r"needs .*rows\.csv, which cannot be read \(a pipe or a device, not a file\)"):
        fingerprint(replace(STEP, inputs=(f"file:{tmp_path / 'rows.csv'}",)), space(tmp_path))


def test_an_environment_variable_that_decides_where_results_go_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = replace(STEP, hints=Hints(environment=("CARTOGRAPH_TEST",)))
    found = []
    for value in (None, "one", "two"):
        monkeypatch.delenv("CARTOGRAPH_TEST", raising=False) if value is None else monkeypatch.setenv("CARTOGRAPH_TEST", value)
        found.append((fingerprint(step, space(tmp_path)), fingerprint(STEP, space(tmp_path))))
    assert len({one for one, _ in found}) == 3
    assert len({other for _, other in found}) == 1


def test_the_name_of_a_file_in_a_folder_counts(tmp_path: Path) -> None:
    before = fingerprint(STEP, space(tmp_path))
    (tmp_path / "data/source/x.txt").rename(tmp_path / "data/source/y.txt")
    assert fingerprint(STEP, space(tmp_path)) != before


def resume(params: Doubling, inputs: Inputs, out: Out) -> str:
    out.checkpoints.mkdir(parents=True, exist_ok=True)
    found = sorted(path.name for path in out.checkpoints.iterdir())
    (out.checkpoints / f"of-{params.factor}").touch()
    if not found:
        raise RuntimeError("killed")
    (out["data/double"] / "x.txt").write_text(" ".join(found))
    return " ".join(found)


def test_checkpoints_are_found_again_by_the_same_fingerprint_alone(tmp_path: Path) -> None:
    step = Step(name="double", run=resume, params=Doubling, inputs=("data/source",), outputs=("data/double",))
    for factor in (2, 3):
        with pytest.raises(RuntimeError, match="killed"):
            run_step(step, space(tmp_path, factor))
    assert run_step(step, space(tmp_path, 2)).receipt.summary == "of-2"
    assert not (tmp_path / ".cartograph/checkpoints/double").exists()
