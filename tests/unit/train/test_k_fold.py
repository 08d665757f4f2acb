from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.data.folds import assign_folds
from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.schema import dynamics_schema
from cartograph.train.fit import fit
from cartograph.train.k_fold import fit_folds
from cartograph.train.recipe import Recipe
from tests.training_sets import LOUD, info_of, small_set, table

RECIPE = Recipe(epochs=3, batch_size=8, learning_rate=0.01, seed=5, threads=1, device="cpu")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    pq.write_table(small_set(), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_every_row_is_scored_once_an_epoch_in_the_order_of_uids(rows: Path, tmp_path: Path) -> None:
    folder = fit_folds(RECIPE, rows, tmp_path / "fit", folds=4)
    assert sorted(content(folder)) == ["epoch=0.parquet", "epoch=1.parquet", "epoch=2.parquet"]
    for path in folder.iterdir():
        found = pq.read_table(path)
        assert found.schema.equals(dynamics_schema(2))
        assert found.column("uid").to_pylist() == small_set().column("uid").to_pylist()
        assert found.column("gold").to_pylist() == small_set().column("label").to_pylist()


@pytest.mark.slow
def test_a_row_is_scored_by_the_model_that_never_saw_it(rows: Path, tmp_path: Path) -> None:
    folder = fit_folds(RECIPE, rows, tmp_path / "fit", folds=3)
    recorded = read_dynamics(folder).logits
    data = small_set()
    numbers = assign_folds(data.column("label").to_numpy(), 3, np.random.default_rng([5, 3]))
    for number in range(3):
        others, own = data.filter(numbers != number), data.filter(numbers == number)
        result = fit(RECIPE, others, {"own": own}, tmp_path / f"{number}")
        expected = np.array(pq.read_table(result.predictions / "own.parquet").column("logits").to_pylist())
        np.testing.assert_allclose(recorded[numbers == number, -1], expected, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_pairs_that_share_a_text_are_scored_by_a_model_that_saw_neither(tmp_path: Path) -> None:
    columns = {
        "premise": [f"{LOUD[row // 3 % 3]} premise{row // 3}" for row in range(60)],
        "hypothesis": [f"says {row}" for row in range(60)],
    }
    pq.write_table(table(info_of("pair"), columns, [row % 2 for row in range(60)]), tmp_path / "rows.parquet")
    fit_folds(RECIPE, tmp_path / "rows.parquet", tmp_path / "fit", folds=4)
    seen: set[str] = set()
    for number in range(4):
        held_out, taught = (
            set(pq.read_table(tmp_path / "fit" / f"fold-{number}" / name)["premise"].to_pylist())
            for name in ("held_out.parquet", "train.parquet")
        )
        assert held_out
        assert not held_out & taught
        seen |= held_out
    assert len(seen) == 20


@pytest.mark.slow
@pytest.mark.parametrize(("number", "folds"), [(15, 4), (3, 3)])
def test_rows_that_the_user_linked_are_in_one_fold_and_of_few_groups_each_is_one(number: int, folds: int, tmp_path: Path) -> None:
    linked = [row % number for row in range(60)]
    rows = small_set().append_column("linked", pa.array(linked, pa.int32()))
    pq.write_table(rows, tmp_path / "rows.parquet")
    merged = fit_folds(RECIPE, tmp_path / "rows.parquet", tmp_path / "fit", folds=4)
    parts = [pq.read_table(tmp_path / f"fit/fold-{part}/held_out.parquet")["linked"].unique().to_pylist() for part in range(folds)]
    assert not (tmp_path / f"fit/fold-{folds}").exists()
    assert sorted(one for part in parts for one in part) == list(range(number))
    assert pq.read_table(merged / "epoch=2.parquet")["uid"].to_pylist() == rows["uid"].to_pylist()


@pytest.mark.slow
def test_a_wrong_label_is_learnt_in_sample_and_not_out_of_fold(tmp_path: Path) -> None:
    texts = [f"{LOUD[row % 3]} word{row} word{row} word{row}" if row % 2 else f"sleeps word{row}" for row in range(60)]
    labels = [row % 2 for row in range(60)]
    labels[7] = 0
    data = table(info_of("single"), {"text": texts}, labels)
    pq.write_table(data, tmp_path / "rows.parquet")
    recipe = Recipe(**RECIPE.to_json() | {"epochs": 8})
    margin = read_dynamics(fit_folds(recipe, tmp_path / "rows.parquet", tmp_path / "fit", folds=5)).logits[7, -1]
    assert margin[1] > margin[0] + 1


@pytest.mark.slow
def test_two_runs_and_an_interrupted_one_write_the_same_bytes(rows: Path, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def cut_off(done: int, total: int) -> None:
        if done > 290:
            raise Stop

    whole = content(fit_folds(RECIPE, rows, tmp_path / "whole", folds=3))
    with pytest.raises(Stop):
        fit_folds(RECIPE, rows, tmp_path / "cut", folds=3, progress=cut_off)
    assert {path.name for path in (tmp_path / "cut" / "fold-2" / "checkpoints").iterdir()} == {"epoch=0"}
    assert {path.name for path in (tmp_path / "cut" / "fold-1" / "checkpoints").iterdir()} == {"finished.json"}
    calls: list[tuple[int, int]] = []
    resumed = fit_folds(RECIPE, rows, tmp_path / "cut", folds=3, progress=lambda done, total: calls.append((done, total)))
    assert calls[:3] == [(120, 360), (240, 360), (288, 360)]
    assert calls[-1] == (360, 360)
    assert content(resumed) == whole


@pytest.mark.slow
def test_folds_follow_the_seed(rows: Path, tmp_path: Path) -> None:
    one, other = (
        read_dynamics(fit_folds(Recipe(**RECIPE.to_json() | {"seed": seed, "epochs": 1}), rows, tmp_path / str(seed), folds=2)).logits
        for seed in (1, 2)
    )
    assert not np.allclose(one, other)


@pytest.mark.slow
def test_two_processes_score_every_row(rows: Path, tmp_path: Path) -> None:
    recipe = Recipe(**RECIPE.to_json() | {"epochs": 1})
    folder = fit_folds(recipe, rows, tmp_path / "fit", folds=2, processes=2)
    found = read_dynamics(folder)
    assert found.uids.tolist() == small_set().column("uid").to_pylist()
    assert np.isfinite(found.logits).all()


def test_rows_that_leave_a_fold_with_one_class_are_refused(tmp_path: Path) -> None:
    pq.write_table(table(info_of("single"), {"text": ["x"] * 9}, [0] * 8 + [1]), tmp_path / "rows.parquet")
    with pytest.raises(InputError) as raised:
        fit_folds(RECIPE, tmp_path / "rows.parquet", tmp_path / "fit", folds=2)
    assert str(raised.value) == ("the train set has 4 rows and 1 class; a model needs two classes at least.")
