from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.train.apart import Recorded, fit_apart
from cartograph.train.recipe import Recipe
from tests.killed import kill_once_going
from tests.training_sets import small_set

RECIPE = Recipe(epochs=2, batch_size=8, learning_rate=0.01, seed=5, threads=1, device="cpu")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    pq.write_table(small_set(), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def contents(found: Recorded) -> list[dict[str, bytes]]:
    return [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in found if folder is not None]


@pytest.mark.slow
def test_a_process_of_its_own_records_the_same_bytes_and_tells_how_far_it_is(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[tuple[int, int]]] = [[], []]
    here = fit_apart(RECIPE, rows, tmp_path / "here", folds=3, progress=lambda done, total: calls[0].append((done, total)))
    monkeypatch.setattr("cartograph.train.apart.APART_FROM", 0)
    apart = fit_apart(RECIPE, rows, tmp_path / "apart", folds=3, progress=lambda done, total: calls[1].append((done, total)))
    assert contents(here) == contents(apart) and len(contents(apart)) == 2
    assert calls[0][-1] == calls[1][-1] == (3 * 2 * 60, 3 * 2 * 60)
    assert fit_apart(RECIPE, rows, tmp_path / "alone").out_of_fold is None


@pytest.mark.slow
def test_what_the_process_refuses_is_raised_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.train.apart.APART_FROM", 0)
    pq.write_table(small_set(rows=10).slice(0, 1), tmp_path / "one.parquet")
    with pytest.raises(InputError, match="the train set has 1 rows and 1 class; a model needs two classes at least"):
        fit_apart(RECIPE, tmp_path / "one.parquet", tmp_path / "fit")


@pytest.mark.slow
def test_it_ends_when_its_starter_is_killed_and_goes_on_where_it_stopped(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Recipe(**RECIPE.to_json() | {"epochs": 150})
    code = f"""
import sys
from pathlib import Path
from cartograph.train import apart
from cartograph.train.recipe import Recipe
apart.APART_FROM = 0
assert "torch" not in sys.modules
recipe, rows, folder = Recipe(**{long.to_json()!r}), Path({str(rows)!r}), Path({str(tmp_path / "cut")!r})
apart.fit_apart(recipe, rows, folder, progress=lambda *_: print("going", flush=True))
"""
    kill_once_going(code, tmp_path / "cut" / "apart.json")
    whole = fit_apart(long, rows, tmp_path / "whole")
    monkeypatch.setattr("cartograph.train.apart.APART_FROM", 0)
    assert contents(fit_apart(long, rows, tmp_path / "cut")) == contents(whole)
