from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.train.fit import fit, fit_files
from cartograph.train.k_fold import fit_folds
from cartograph.train.patience import best_epoch, out_of_patience
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from tests.training_sets import small_set, small_table

RECIPE = Recipe(epochs=30, batch_size=8, learning_rate=0.01, seed=5, threads=1, device="cpu", evaluate="end", patience=2)


def sets(rows: int = 60) -> dict[str, pa.Table]:
    return {
        "validation": small_set(rows=rows, seed=9, name="validation", domain="id"),
        "test": small_set(rows=20, seed=7, name="test", domain="id"),
    }


def content(result: TrainingResult) -> dict[str, bytes]:
    files = [path for folder in (result.dynamics, result.predictions, result.model) for path in folder.rglob("*") if path.is_file()]
    files += [result.folder / name for name in ("history.parquet", "training.json", "metrics.json")]
    return {path.relative_to(result.folder).as_posix(): path.read_bytes() for path in files}


def scores_of(*accuracies: float) -> list[dict[str, Any]]:
    other = [{"epoch": epoch, "set": "test", "accuracy": 1.0 - value} for epoch, value in enumerate(accuracies)]
    return other + [{"epoch": epoch, "set": "validation", "accuracy": value} for epoch, value in enumerate(accuracies)]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return fit(RECIPE, small_set(), sets(), tmp_path_factory.mktemp("ended"))


def test_the_first_of_the_best_epochs_is_kept_and_only_a_better_one_is_waited_for() -> None:
    assert best_epoch(scores_of(0.5, 0.7, 0.6, 0.7), "validation") == 1
    found = [out_of_patience(scores_of(*(0.5, 0.7, 0.6, 0.7, 0.9)[:epochs]), RECIPE) for epochs in range(6)]
    assert found == [False, False, False, False, True, False]
    assert not out_of_patience(scores_of(0.9, 0.5, 0.5, 0.5), replace(RECIPE, patience=None))


def test_a_training_ends_when_validation_no_longer_gets_better(ended: TrainingResult) -> None:
    history = ended.history.to_pylist()
    best, epochs = best_epoch(history, "validation"), ended.training["epochs"]
    assert epochs == best + 1 + 2 < 30
    assert ended.training["best_epoch"] == best + 1
    assert ended.metrics["epochs"] == epochs == read_dynamics(ended.dynamics).logits.shape[1]
    assert [score["epoch"] for score in history if score["set"] == "validation"] == list(range(epochs))
    # Sets that are scored at the end are scored at this end.
    assert [score["epoch"] for score in history if score["set"] == "test"] == [epochs - 1]


def test_the_model_is_the_best_epochs(ended: TrainingResult, tmp_path: Path) -> None:
    best = ended.training["best_epoch"]
    stopped = fit(replace(RECIPE, epochs=best, schedule_epochs=30, patience=None), small_set(), sets(), tmp_path)
    for name in ("model/model.safetensors", "predictions/validation.parquet", "predictions/test.parquet", "dynamics/epoch=0.parquet"):
        assert content(ended)[name] == content(stopped)[name]
    for name in ("test.accuracy", "train.accuracy"):
        assert ended.metrics[name] == stopped.metrics[name]


class Killed(BaseException):
    pass


def train_and_kill(folder: Path, epochs: int) -> None:
    def kill(done: int, total: int) -> None:
        if done > epochs * 60:
            raise Killed

    with pytest.raises(Killed):
        fit(RECIPE, small_set(), sets(), folder, progress=kill)


def test_a_training_killed_in_its_last_epoch_ends_in_the_same_bytes(ended: TrainingResult, tmp_path: Path) -> None:
    epochs = ended.training["epochs"]
    train_and_kill(tmp_path, epochs - 1)
    calls: list[int] = []
    resumed = fit(RECIPE, small_set(), sets(), tmp_path, progress=lambda done, total: calls.append(done))
    assert calls[0] == (epochs - 1) * 60 + 8
    assert content(resumed) == content(ended)


def test_a_training_whose_best_epochs_model_is_lost_begins_again(ended: TrainingResult, tmp_path: Path) -> None:
    train_and_kill(tmp_path, ended.training["epochs"] - 1)
    shutil.rmtree(tmp_path / "checkpoints" / f"epoch={ended.training['best_epoch'] - 1}")
    calls: list[int] = []
    again = fit(RECIPE, small_set(), sets(), tmp_path, progress=lambda done, total: calls.append(done))
    assert calls[0] == 8
    assert content(again) == content(ended)


def test_a_best_epoch_long_ago_is_kept(tmp_path: Path) -> None:
    result = fit(replace(RECIPE, patience=5), small_set(), sets(), tmp_path)
    best = result.training["best_epoch"]
    assert result.training["epochs"] == best + 5
    stopped = fit(replace(RECIPE, epochs=best, schedule_epochs=30, patience=None), small_set(), sets(), tmp_path / "stopped")
    assert content(result)["model/model.safetensors"] == content(stopped)["model/model.safetensors"]


def test_boosting_keeps_the_best_epochs_trees(tmp_path: Path) -> None:
    recipe = Recipe(model="boosting", epochs=20, learning_rate=0.2, seed=5, threads=1, evaluate="end", patience=2)
    validation = {"validation": small_table(rows=60, seed=9, name="validation", domain="id")}
    ended = fit(recipe, small_table(), validation, tmp_path / "ended")
    best = ended.training["best_epoch"]
    assert ended.training["epochs"] == best + 2 < 20
    assert read_dynamics(ended.dynamics).logits.shape[1] == best + 2
    # All trees are grown in any case: the same ones, of which as many as the best epoch had are kept.
    whole = fit(replace(recipe, patience=None, evaluate="epoch"), small_table(), validation, tmp_path / "whole")
    scores = [score for score in whole.history.to_pylist() if score["set"] == "validation"]
    assert ended.metrics["validation.accuracy"] == scores[best - 1]["accuracy"] == max(score["accuracy"] for score in scores[: best + 2])


def test_folds_train_all_epochs(tmp_path: Path) -> None:
    pq.write_table(small_set(), tmp_path / "train.parquet")
    folder = fit_folds(replace(RECIPE, epochs=3), tmp_path / "train.parquet", tmp_path, folds=2)
    assert read_dynamics(folder).logits.shape[1] == 3


@pytest.mark.slow
def test_two_processes_end_at_the_same_epoch(tmp_path: Path) -> None:
    pq.write_table(small_set(), tmp_path / "train.parquet")
    for name, table in sets().items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    evaluation = {name: tmp_path / f"{name}.parquet" for name in sets()}
    result = fit_files(RECIPE, tmp_path / "train.parquet", evaluation, tmp_path / "two", processes=2)
    history = result.history.to_pylist()
    assert result.training["epochs"] == best_epoch(history, "validation") + 3
    assert result.metrics["validation.accuracy"] == max(score["accuracy"] for score in history if score["set"] == "validation")
    assert {path.name for path in (tmp_path / "two" / "checkpoints").iterdir()} == {"finished.json"}


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ({}, r"patience is 2, .* set `validation` in distribution \(`id`\), but the evaluation sets are: none; name one so"),
        ({"test": ("test", "id")}, "but the evaluation sets are: `test`; name one so, or leave patience out"),
        ({"validation": ("validation", "ood")}, "but that set is `ood`; name one so"),
    ],
)
def test_patience_without_a_set_to_judge_epochs_by_is_refused(evaluation: dict[str, Any], message: str, tmp_path: Path) -> None:
    tables = {name: small_set(rows=20, seed=9, name=name, domain=domain) for name, (_, domain) in evaluation.items()}
    with pytest.raises(InputError, match=message):
        fit(RECIPE, small_set(), tables, tmp_path)
