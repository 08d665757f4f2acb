"""The step tune: rates drawn log-uniformly, taken up where a killed search stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.compare.versions import HELD_OUT
from cartograph.errors import InputError
from cartograph.schema import Domain
from cartograph.train import fit as training
from tasks.audit.parameters.tune import Tune
from tasks.audit.tune import STEP
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.training_sets import SMALL_TRAINING, info_of, small_set, table
from tests.workspaces import make_workspace

pytestmark = pytest.mark.slow


def space(path: Path, domain: Domain = "id", **own: object) -> Workspace:
    held = small_set(rows=20, seed=5, name="dev", domain=domain)
    return make_workspace(path, small_set(), held, train=SMALL_TRAINING | {"epochs": 2}, tune=own)


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a workspace where 12 rates were tried, and what the step said."""
    workspace = space(tmp_path_factory.mktemp("search"), trials=12)
    return workspace.path, run_step(STEP, workspace).receipt.summary


def test_it_tries_rates_and_names_the_best(search: tuple[Path, str]) -> None:
    folder, summary = search
    trials = pq.read_table(folder / "data/tune/trials.parquet").to_pylist()
    assert [trial["trial"] for trial in trials] == list(range(1, 13))
    assert len({trial["learning_rate"] for trial in trials}) == 12
    assert all(0.001 <= trial["learning_rate"] <= 0.1 for trial in trials)
    best = json.loads((folder / "data/tune/best.json").read_text())
    assert best["accuracy"] == max(trial["accuracy"] for trial in trials)
    assert f"best of 12 rates {best['learning_rate']:.3g}, accuracy dev {best['accuracy']:.3f}" in summary


def test_rates_are_log_uniform(search: tuple[Path, str]) -> None:
    drawn = pq.read_table(search[0] / "data/tune/trials.parquet")["learning_rate"].to_numpy()
    # Of uniform rates one in ten would be below the middle.
    lower, upper = np.histogram(np.log10(drawn), bins=2, range=(-3, -1))[0]
    assert lower + upper == 12
    assert min(lower, upper) >= 4


def test_a_killed_search_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tmp_path / "whole"
    run_step(STEP, space(whole, trials=3))
    cut = tmp_path / "cut"
    tried: list[float] = []
    fit = training.fit

    def stopping(recipe, *arguments, **more):  # type: ignore[no-untyped-def]
        tried.append(recipe.learning_rate)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return fit(recipe, *arguments, **more)

    monkeypatch.setattr(training, "fit", stopping)
    with pytest.raises(KeyboardInterrupt):
        run_step(STEP, space(cut, trials=3))
    run_step(STEP, space(cut, trials=3))
    assert len(tried) == 4, "two trials were finished and are not made again"
    assert (cut / "data/tune/trials.parquet").read_bytes() == (whole / "data/tune/trials.parquet").read_bytes()


@pytest.mark.parametrize(("name", "domain"), [("test", "id"), ("dev", "ood")])
def test_a_set_that_is_reported_as_test_chooses_no_rate(name: str, domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    fit = training.fit
    monkeypatch.setattr(training, "fit", lambda recipe, rows, held, *more: seen.append((rows, held)) or fit(recipe, rows, held, *more))
    train, test = small_set(), small_set(rows=20, seed=5, name=name, domain=domain)
    done = run_step(STEP, make_workspace(tmp_path, train, test, train=SMALL_TRAINING | {"epochs": 2}, tune={"trials": 1}))
    [(rows, evaluation)] = seen
    [(used, held)] = evaluation.items()
    assert used == HELD_OUT and json.loads((tmp_path / "data/tune/best.json").read_text())["set"] == HELD_OUT
    uids = [set(part["uid"].to_pylist()) for part in (train, rows, held)]
    assert uids[0] == uids[1] | uids[2] and not uids[1] & uids[2] and 0.1 <= len(uids[2]) / len(uids[0]) <= 0.2
    assert f"accuracy on {held.num_rows} train rows held out " in done.receipt.summary


def test_a_train_set_too_small_to_hold_rows_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of its 2 rows too few are left to train on; add an evaluation set in distribution called"):
        run_step(STEP, make_workspace(tmp_path, small_set(rows=2), train=SMALL_TRAINING, tune={"trials": 1}))


def test_a_training_that_failed_is_not_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = space(tmp_path, trials=2)
    # A model whose loss is no number names the first class, which 18 of these 20 rows have; their texts say the other one.
    uneven = table(info_of("single", "dev", "id"), {"text": ["The dog sleeps", *["The cat barks"] * 9] * 2}, [1, *[0] * 9] * 2)
    pq.write_table(uneven, tmp_path / "data/ingest/dev.parquet")
    fit, rates = training.fit, iter((1e38, 0.02))
    monkeypatch.setattr(training, "fit", lambda recipe, *more: fit(replace(recipe, learning_rate=next(rates), epochs=8), *more))
    done = run_step(STEP, place)
    trials = pq.read_table(tmp_path / "data/tune/trials.parquet").to_pylist()
    best = json.loads((tmp_path / "data/tune/best.json").read_text())
    assert [trial["failed"] for trial in trials] == [True, False]
    assert trials[0]["accuracy"] > trials[1]["accuracy"] == best["accuracy"]
    assert "FAILED" not in done.receipt.summary


def test_where_all_have_failed_it_says_so(tmp_path: Path) -> None:
    done = run_step(STEP, space(tmp_path, trials=1, low=1e37, high=1e38))
    assert done.receipt.summary.endswith("; all of them FAILED: no better than chance")


def test_it_is_held_against_a_validation_set_before_a_test_set(tmp_path: Path) -> None:
    sets = [small_set(rows=20, seed=5, name=name, domain="id") for name in ("a-test", "held", "validation")]
    run_step(STEP, make_workspace(tmp_path, small_set(), *sets, train=SMALL_TRAINING | {"epochs": 2}, tune={"trials": 1}))
    assert json.loads((tmp_path / "data/tune/best.json").read_text())["set"] == "validation"


def test_one_bound_beyond_what_the_other_is_by_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"would draw rates from 0.5 to 0.1; `tune.low` must be below `tune.high`.*\(0.01\): set both"):
        run_step(STEP, space(tmp_path, trials=1, low=0.5))


def test_bounds_are_in_order() -> None:
    with pytest.raises(ValueError, match=r"low should be below high, but they are 0.1 and 0.01"):
        Tune(low=0.1, high=0.01)


def test_each_trial_is_a_run_of_its_own(search: tuple[Path, str]) -> None:
    from tasks.audit.published_models import read_trials
    from tasks.publishing.records import Publication

    publication = Publication("f" * 64, {}, {}, {"mlflow.source.type": "LOCAL"}, ())
    trials = read_trials({"data/tune": search[0] / "data/tune"}, publication)
    assert [trial.name for trial in trials] == [f"tune trial {number}" for number in range(1, 13)]
    assert len({trial.fingerprint for trial in trials}) == 12
    assert all(set(trial.metrics) == {"dev.accuracy"} and float(trial.params["learning_rate"]) > 0 for trial in trials)
    assert read_trials({}, publication) == ()
