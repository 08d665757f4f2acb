from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from tests.training_sets import small_set

RECIPE = Recipe(epochs=4, batch_size=8, learning_rate=0.01, seed=5, threads=1, device="cpu")
TINY = Recipe(model="tiny", epochs=3, batch_size=8, learning_rate=0.001, seed=5, threads=1, device="cpu", max_length=16)

_KILLED = """
import os, signal, sys
from pathlib import Path
from cartograph.train.recipe import Recipe
from cartograph.train.fit import fit
from tests.training_sets import small_set

def stop(done, total):
    if done > int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

fit(Recipe(**eval(sys.argv[2])), small_set(), {"held": small_set(rows=20, seed=9, name="held", domain="id")}, sys.argv[1], progress=stop)
"""


def train(folder: Path, recipe: Recipe = RECIPE) -> TrainingResult:
    return fit(recipe, small_set(), {"held": small_set(rows=20, seed=9, name="held", domain="id")}, folder)


def train_and_kill(folder: Path, recipe: Recipe, after_rows: int) -> None:
    command = [sys.executable, "-c", _KILLED, str(folder), repr(recipe.to_json()), str(after_rows)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def content(result: TrainingResult) -> dict[str, bytes]:
    files = [path for folder in (result.dynamics, result.predictions, result.model) for path in folder.rglob("*") if path.is_file()]
    files += [result.folder / name for name in ("history.parquet", "training.json", "metrics.json")]
    return {path.relative_to(result.folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return content(train(tmp_path_factory.mktemp("unbroken")))


def test_two_trainings_write_the_same_bytes(unbroken: dict[str, bytes], tmp_path: Path) -> None:
    assert "dynamics/epoch=3.parquet" in unbroken
    assert content(train(tmp_path)) == unbroken


def test_a_worker_thread_writes_the_same_bytes(unbroken: dict[str, bytes], tmp_path: Path) -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(train(tmp_path)))
    thread.start()
    thread.join()
    assert content(found[0]) == unbroken


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "after_rows"), [(RECIPE, 150), (TINY, 70)], ids=["bow in its third epoch", "tiny in its second epoch"])
def test_a_killed_training_resumes_and_ends_in_the_same_bytes(recipe: Recipe, after_rows: int, tmp_path: Path) -> None:
    whole = content(train(tmp_path / "unbroken", recipe))
    train_and_kill(tmp_path / "killed", recipe, after_rows)
    finished = sorted(path.name for path in (tmp_path / "killed" / "checkpoints").iterdir())
    assert f"epoch={after_rows // 60 - 1}" in finished and not (tmp_path / "killed" / "model").exists()
    calls: list[int] = []
    resumed = fit(
        recipe,
        small_set(),
        {"held": small_set(rows=20, seed=9, name="held", domain="id")},
        tmp_path / "killed",
        progress=lambda done, total: calls.append(done),
    )
    assert calls[0] == after_rows // 60 * 60 + 8
    assert content(resumed) == whole


def stop_after(folder: Path, rows: int) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > rows:
            raise Stop

    with pytest.raises(Stop):
        fit(RECIPE, small_set(), {"held": small_set(rows=20, seed=9, name="held", domain="id")}, folder, progress=stop)


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", ["truncated weights", "no seal", "truncated dynamics", "optimizer of another epoch", "half-written folder"]
)
def test_a_damaged_checkpoint_is_ignored(unbroken: dict[str, bytes], damage: str, tmp_path: Path) -> None:
    stop_after(tmp_path, 200)
    newest = tmp_path / "checkpoints" / "epoch=2"
    if damage == "truncated weights":
        path = newest / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-10])
    elif damage == "no seal":
        (newest / "seal.json").unlink()
    elif damage == "truncated dynamics":
        path = tmp_path / "dynamics" / "epoch=2.parquet"
        path.write_bytes(path.read_bytes()[:-10])
    elif damage == "optimizer of another epoch":
        (newest / "optimizer.pt").write_bytes((tmp_path / "checkpoints" / "epoch=1" / "optimizer.pt").read_bytes())
    else:
        newest.rename(newest.with_name("epoch=3.tmp"))
    calls: list[int] = []
    result = fit(
        RECIPE,
        small_set(),
        {"held": small_set(rows=20, seed=9, name="held", domain="id")},
        tmp_path,
        progress=lambda done, total: calls.append(done),
    )
    assert calls[0] == 128
    assert content(result) == unbroken


def test_a_checkpoint_of_other_data_or_another_recipe_is_ignored(tmp_path: Path) -> None:
    stop_after(tmp_path, 200)
    calls: list[int] = []
    fit(RECIPE, small_set(seed=1), {}, tmp_path, progress=lambda done, total: calls.append(done))
    assert calls[0] == 8


def test_a_finished_training_is_not_repeated(unbroken: dict[str, bytes], tmp_path: Path) -> None:
    train(tmp_path)
    calls: list[int] = []
    again = fit(
        RECIPE,
        small_set(),
        {"held": small_set(rows=20, seed=9, name="held", domain="id")},
        tmp_path,
        progress=lambda done, total: calls.append(done),
    )
    assert not calls
    assert content(again) == unbroken


def test_a_finished_training_keeps_a_mark_in_place_of_its_checkpoints(tmp_path: Path) -> None:
    train(tmp_path)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["finished.json"]
    assert (tmp_path / "checkpoints" / "finished.json").stat().st_size < 3000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dynamics/epoch=1.parquet", "predictions/held.parquet", "model/model.safetensors", "metrics.json"])
def test_a_finished_training_is_repeated_where_a_result_is_damaged(unbroken: dict[str, bytes], name: str, tmp_path: Path) -> None:
    path = train(tmp_path).folder / name
    path.write_bytes(path.read_bytes()[:-10])
    assert content(train(tmp_path)) == unbroken
    path.unlink()
    assert content(train(tmp_path)) == unbroken


@pytest.mark.slow
def test_a_finished_training_of_another_recipe_is_no_result(tmp_path: Path) -> None:
    train(tmp_path / "both", RECIPE)
    other = replace(RECIPE, seed=6)
    assert content(train(tmp_path / "both", other)) == content(train(tmp_path / "one", other))


def test_checkpoints_that_a_kill_left_beside_the_mark_go(unbroken: dict[str, bytes], tmp_path: Path) -> None:
    stop_after(tmp_path, 200)
    kept = shutil.copytree(tmp_path / "checkpoints" / "epoch=2", tmp_path / "kept")
    train(tmp_path)
    shutil.copytree(kept, tmp_path / "checkpoints" / "epoch=2")
    assert content(train(tmp_path)) == unbroken
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["finished.json"]


@pytest.mark.slow
def test_checkpoints_are_read_without_unpickling_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(tmp_path, 200)
    load, seen = torch.load, []

    def watched(*args: object, **kwargs: object) -> object:
        seen.append(kwargs.get("weights_only"))
        return load(*args, **kwargs)

    monkeypatch.setattr(torch, "load", watched)
    train(tmp_path)
    assert seen and all(seen)


@pytest.mark.slow
def test_global_state_is_restored_after_a_training(tmp_path: Path) -> None:
    train(tmp_path / "first")  # libraries that are imported late set variables of their own
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    threads, variables = torch.get_num_threads(), dict(os.environ)
    train(tmp_path / "second")
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()
    assert dict(os.environ) == variables


def test_a_training_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    train(tmp_path, TINY)
    assert capfd.readouterr() == ("", "")
