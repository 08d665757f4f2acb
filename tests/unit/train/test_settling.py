from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import dynamics_table
from cartograph.train import enough
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from cartograph.train.settling import LEAST_EPOCHS, Settling, gold_shares, of_surest_third
from tests.training_sets import small_set

RECIPE = Recipe(epochs=12, batch_size=30, learning_rate=0.01, seed=5, threads=1, device="cpu", evaluate="end")


def epoch_of(given: np.ndarray) -> pa.Table:
    """Return an epoch of two classes in which label 1 has these probabilities."""
    logits = np.stack([np.zeros(len(given)), np.log(given / (1 - given))], axis=1).astype(np.float32)
    return dynamics_table(pa.array([f"{row:03}" for row in range(len(given))]), np.ones(len(given), np.int32), logits)


def always(accuracy: float, surest: float) -> bool:
    return True


def below(folder: Path) -> dict[str, bytes]:
    kept = ("dynamics", "model", "predictions")
    return {str(path.relative_to(folder)): path.read_bytes() for name in kept for path in sorted((folder / name).rglob("*.*"))}


def test_it_settles_at_the_first_epoch_that_moves_neither_measure() -> None:
    rng = np.random.default_rng(3)
    level, tilt = rng.uniform(0.2, 0.8, 200), rng.uniform(-0.15, 0.15, 200)
    noise = [0.3, 0.25, 0.2, 0.05, 0.02, 0.01, 0.01, 0.01]
    shares = [
        np.clip(level + tilt * (-1) ** epoch + rng.normal(0, spread, 200), 0.01, 0.99).astype(np.float32).astype(float)
        for epoch, spread in enumerate(noise)
    ]
    settling = Settling(always, bound=0.97)
    found = [settling.add(epoch_of(share)) for share in shares]
    expected = []
    for count in range(1, len(shares) + 1):
        now, before = np.array(shares[:count]), np.array(shares[: count - 1])
        moved = count < LEAST_EPOCHS or any(np.corrcoef(part(now, 0), part(before, 0))[0, 1] < 0.97 for part in (np.mean, np.std))
        expected.append(not moved)
    assert found == expected
    assert not all(found[LEAST_EPOCHS - 1 :]) and any(found)


def test_a_model_that_has_not_learnt_goes_on() -> None:
    given = np.linspace(0.1, 0.95, 60)
    seen: list[tuple[float, float]] = []

    def never(accuracy: float, surest: float) -> bool:
        seen.append((accuracy, surest))
        return False

    settling = Settling(never)
    for step in range(7):
        settling.add(epoch_of(np.clip(given + 0.01 * step * np.sin(np.arange(60)), 0.01, 0.99)))
    assert not settling.settled
    assert seen[0] == (pytest.approx(np.mean(given > 0.5), abs=0.1), pytest.approx(np.sort(given)[-20], abs=0.05))


def test_shares_of_the_given_label_and_of_the_surest_third() -> None:
    given = np.array([0.9, 0.2, 0.6, 0.7])
    assert gold_shares(epoch_of(given)) == pytest.approx(given, abs=1e-6)
    assert of_surest_third(given) == 0.7


def test_a_training_ends_where_it_settles_and_stays_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, other = small_set(), {"test": small_set()}
    ended = fit(RECIPE, train, other, tmp_path / "one", settling=Settling(always, bound=0.1))
    assert ended.training["epochs"] == ended.metrics["epochs"] == LEAST_EPOCHS
    assert len(list(ended.dynamics.iterdir())) == LEAST_EPOCHS
    # Sets that are scored at the end are scored at this end.
    assert [score["epoch"] for score in ended.history.to_pylist() if score["set"] == "test"] == [LEAST_EPOCHS - 1]
    once = below(tmp_path / "one")

    # Killed after its last epoch: nothing is trained any more, and the bytes are the same.
    def kill(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(TrainingResult, "save_model", kill)
        fit(RECIPE, train, other, tmp_path / "two", settling=Settling(always, bound=0.1))
    calls: list[int] = []
    again = fit(
        RECIPE, train, other, tmp_path / "two", settling=Settling(always, bound=0.1), progress=lambda done, total: calls.append(done)
    )
    assert not calls
    assert again.training["epochs"] == LEAST_EPOCHS
    assert below(tmp_path / "two") == once


@pytest.mark.slow
@pytest.mark.parametrize("epochs_before", [1, 3])
def test_a_training_killed_before_it_settled_ends_in_the_same_bytes(tmp_path: Path, epochs_before: int) -> None:
    class Killed(BaseException):
        pass

    def kill(done: int, total: int) -> None:
        if done > epochs_before * small_set().num_rows:
            raise Killed

    train = small_set()
    fit(RECIPE, train, {}, tmp_path / "whole", settling=Settling(always, bound=0.1))
    with pytest.raises(Killed):
        fit(RECIPE, train, {}, tmp_path / "killed", settling=Settling(always, bound=0.1), progress=kill)
    fit(RECIPE, train, {}, tmp_path / "killed", settling=Settling(always, bound=0.1))
    assert below(tmp_path / "killed") == below(tmp_path / "whole")


def test_of_many_rows_a_settled_map_ends_the_training_and_of_few_it_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, recipe = tmp_path / "train.parquet", replace(RECIPE, epochs=20)
    write_parquet(small_set(), train)
    _, few = enough.fit_until_learnt(recipe, 0.8, train, {}, tmp_path / "few")
    assert [attempt.epochs for attempt in few] == [20] and few[0].learnt(0.8)
    monkeypatch.setattr(enough, "SETTLES_FROM", small_set().num_rows)
    shown: list[tuple[int, int]] = []
    fitted, many = enough.fit_until_learnt(
        recipe, 0.8, train, {}, tmp_path / "many", progress=lambda done, total: shown.append((done, total))
    )
    assert len(many) == 1 and LEAST_EPOCHS <= many[0].epochs < 20 and many[0].learnt(0.8)
    assert fitted.training["epochs"] == many[0].epochs
    assert shown[-1] == (20 * small_set().num_rows,) * 2


@pytest.mark.slow
def test_after_a_settled_map_of_a_failed_model_nothing_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enough, "SETTLES_FROM", 1)
    monkeypatch.setattr(enough, "MOST_DOUBLINGS", 1)
    rng = np.random.default_rng(8)
    chance = small_set().set_column(2, "label", pa.array(rng.integers(0, 2, small_set().num_rows), pa.int32()))
    write_parquet(chance.replace_schema_metadata(small_set().schema.metadata), tmp_path / "train.parquet")
    _, attempts = enough.fit_until_learnt(replace(RECIPE, learning_rate=1e-6), 0.1, tmp_path / "train.parquet", {}, tmp_path / "fitted")
    assert [attempt.failed for attempt in attempts] == [True, True]
    assert attempts[0].epochs < 12 and attempts[1].epochs == 24
