"""The step retrain on real small trainings, run through the machinery of steps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.config import load_settings
from cartograph.dynamics.epoch_files import logits_of
from cartograph.errors import InputError
from cartograph.maps.measures import Measures
from cartograph.maps.table import map_table
from cartograph.schema import SUBSET, WEIGHTED_SUBSET, Domain, dataset_info, dynamics_schema
from cartograph.train.fit import fit
from tasks.audit.held_out import held_out_set
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.parameters.select import Select
from tasks.audit.parameters.train import Train
from tasks.audit.plan import retrained_models
from tasks.audit.recipes import recipe_of
from tasks.audit.retrain import STEP
from tasks.engine.failed_cell import failure_of
from tasks.engine.receipt import fresh
from tasks.engine.running import run_step
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace
from tests.training_sets import SMALL_TRAINING, info_of, small_set, table
from tests.workspaces import make_workspace, save, with_sections


def space(path: Path, *, evaluation: dict[str, Domain] | None = None, train: dict[str, object] | None = None, **own: object) -> Workspace:
    """A workspace with ingested sets and subsets: ``cleaned`` has the first 40 rows, ``random`` the last 40."""
    sets: dict[str, Domain] = {"held": "id", "far": "ood"} if evaluation is None else evaluation
    rows = small_set()
    whole = rows.select(["uid", "label"]).cast(SUBSET)
    for name, part in (("original", whole), ("cleaned", whole.slice(0, 40)), ("random", whole.slice(20))):
        save(part, path / f"data/select/{name}.parquet")
    held = [small_set(rows=20, seed=seed, name=name, domain=domain) for seed, (name, domain) in enumerate(sets.items(), start=5)]
    return make_workspace(path, rows, *held, train=SMALL_TRAINING | (train or {}), retrain=own)


def cell(workspace: Workspace, name: str) -> Step:
    return next(step for step in STEP.expand(workspace.settings) if step.name == f"retrain@{name}")


def test_a_cell_leaves_what_the_comparison_reads(tmp_path: Path) -> None:
    workspace = space(tmp_path, epochs=8)
    done = run_step(cell(workspace, "cleaned-2"), workspace)
    folder = tmp_path / "data/retrain/cleaned-2"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        "history.parquet",
        "metrics.json",
        "training.json",
        "predictions/far.parquet",
        "predictions/held.parquet",
    }
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["rows"] == 40
    assert {"held.accuracy", "held.macro_f1", "far.accuracy", "far.macro_f1", "train.accuracy", "train.failed", "epochs"} <= set(metrics)
    training = json.loads((folder / "training.json").read_text())
    assert {"subset": "cleaned", "seed": 2, "rows": 40, "model": "bow", "epochs": 8, "learning_rate": 0.01}.items() <= training.items()
    predictions = pq.read_table(folder / "predictions/far.parquet")
    assert predictions.schema == dynamics_schema(2)
    accuracies = [f"{name} {metrics[f'{name}.accuracy']:.3f}".replace(" 0.", " .") for name in ("far", "held")]
    assert done.receipt.summary == f"40 rows, accuracy {', '.join(accuracies)}"


@pytest.mark.slow
def test_patience_holds_out_a_tenth_of_the_cells_own_rows_and_reads_no_set_that_is_reported(tmp_path: Path) -> None:
    workspace = space(tmp_path / "held", evaluation={"validation": "id"}, epochs=30, patience=2)
    run_step(cell(workspace, "original-1"), workspace)
    folder = tmp_path / "held/data/retrain/original-1"
    training, metrics = (json.loads((folder / f"{name}.json").read_text()) for name in ("training", "metrics"))
    assert training["epochs"] == training["best_epoch"] + 2 < 30 and training["patience"] == 2
    assert metrics["rows"] == training["rows"] == 60
    assert [path.name for path in (folder / "predictions").iterdir()] == ["validation.parquet"]
    assert not [name for name in metrics if "stopping" in name]
    history = pq.read_table(folder / "history.parquet").to_pylist()
    stopping = [score["accuracy"] for score in history if score["set"] == "held-out for stopping"]
    assert stopping.index(max(stopping)) + 1 == training["best_epoch"]
    # What the reported set holds changes no epoch: with its labels turned round, the model is the same.
    other = space(tmp_path / "turned", evaluation={"validation": "id"}, epochs=30, patience=2)
    path = tmp_path / "turned/data/ingest/validation.parquet"
    rows = pq.read_table(path)
    turned = pa.array([1 - label for label in rows["label"].to_pylist()], rows.schema.field("label").type)
    save(rows.set_column(rows.schema.get_field_index("label"), rows.schema.field("label"), turned), path)
    run_step(cell(other, "original-1"), other)
    again = tmp_path / "turned/data/retrain/original-1"
    assert json.loads((again / "training.json").read_text()) == training
    mine, its = (logits_of(pq.read_table(part / "predictions/validation.parquet")) for part in (folder, again))
    assert np.array_equal(mine, its)


def test_patience_on_too_few_rows_is_refused(tmp_path: Path) -> None:
    workspace = space(tmp_path, patience=2)
    rows = small_set().select(["uid", "label"]).cast(SUBSET)
    labels = rows["label"].to_pylist()
    save(rows.take([labels.index(0), labels.index(1)]), tmp_path / "data/select/cleaned.parquet")
    with pytest.raises(InputError, match=r"cleaned.parquet has 2 rows, too few to hold out a tenth .* set retrain.patience to null"):
        run_step(cell(workspace, "cleaned-1"), workspace)


@pytest.mark.slow
def test_it_trains_as_the_section_train_with_the_cells_seed(tmp_path: Path) -> None:
    workspace = space(tmp_path, train={"record": "epoch_end", "seed": 99})
    run_step(cell(workspace, "original-3"), workspace)
    sets = {name: pq.read_table(tmp_path / f"data/ingest/{name}.parquet") for name in ("train", "held", "far")}
    train = sets.pop("train")
    fitted = fit(recipe_of(Train(**SMALL_TRAINING, seed=3)), train, sets, tmp_path / "by-hand")
    for name in sets:
        mine, its = (
            logits_of(pq.read_table(folder / f"predictions/{name}.parquet"))
            for folder in (fitted.folder, tmp_path / "data/retrain/original-3")
        )
        assert np.array_equal(mine, its)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "epochs"),
    [
        ({"train": {"epochs": "auto"}}, (2, 6, 32)),
        ({"train": {"epochs": 2}}, (2, 2, 2)),
        ({"train": {"epochs": "auto"}, "epochs": 3}, (3, 3, 3)),
    ],
)
def test_a_small_subset_has_the_optimiser_steps_of_the_whole_set_where_epochs_are_left_open(
    tmp_path: Path, own: dict[str, Any], epochs: tuple[int, int, int]
) -> None:
    workspace = space(tmp_path, **own)
    whole = pq.read_table(tmp_path / "data/select/original.parquet")
    save(whole.slice(0, 20), tmp_path / "data/select/cleaned.parquet")
    two = [whole["label"].to_pylist().index(label) for label in (0, 1)]
    save(whole.take(sorted(two)), tmp_path / "data/select/random.parquet")
    (tmp_path / "data/train").mkdir(exist_ok=True)
    (tmp_path / "data/train/training.json").write_text(json.dumps({"epochs": 2}))
    found = []
    for name in ("original-1", "cleaned-1", "random-1"):
        run_step(cell(workspace, name), workspace)
        found.append(json.loads((tmp_path / f"data/retrain/{name}/training.json").read_text())["epochs"])
    assert tuple(found) == epochs


def test_without_an_evaluation_set_a_part_of_each_class_is_held_out_and_no_version_is_trained_on_it(tmp_path: Path) -> None:
    workspace = space(tmp_path, evaluation={}, epochs=4)
    (tmp_path / "data/hold_out").mkdir()
    for name in ("original-1", "cleaned-1"):
        run_step(cell(workspace, name), workspace)
    held = held_out_set(workspace.settings.of(Retrain), pq.read_table(tmp_path / "data/ingest/train.parquet"))
    assert dataset_info(held.schema).name == "held-out" and dataset_info(held.schema).domain == "id"
    rows = small_set()
    for label in (0, 1):
        own = sum(value == label for value in rows["label"].to_pylist())
        assert held["label"].to_pylist().count(label) == own // 5
    predictions = [pq.read_table(tmp_path / f"data/retrain/{name}-1/predictions/held-out.parquet") for name in ("original", "cleaned")]
    assert all(sorted(table["uid"].to_pylist()) == sorted(held["uid"].to_pylist()) for table in predictions)
    counts = [json.loads((tmp_path / f"data/retrain/{name}-1/metrics.json").read_text())["rows"] for name in ("original", "cleaned")]
    assert counts[0] == 60 - held.num_rows
    first = set(rows["uid"].to_pylist()[:40]) - set(held["uid"].to_pylist())
    assert counts[1] == len(first)


def test_versions_that_were_made_without_the_rows_held_out_are_trained_on(tmp_path: Path) -> None:
    workspace = space(tmp_path, evaluation={}, epochs=4)
    held = set(held_out_set(workspace.settings.of(Retrain), pq.read_table(tmp_path / "data/ingest/train.parquet"))["uid"].to_pylist())
    own = [uid for uid in small_set()["uid"].to_pylist() if uid not in held][:30]
    whole = small_set().select(["uid", "label"]).cast(SUBSET)
    save(whole.filter(pa.array([uid in own for uid in whole["uid"].to_pylist()])), tmp_path / "data/hold_out/cleaned.parquet")
    run_step(cell(workspace, "cleaned-1"), workspace)
    assert json.loads((tmp_path / "data/retrain/cleaned-1/metrics.json").read_text())["rows"] == 30


@pytest.mark.parametrize(("share", "kept"), [(0.99, 30), (0.01, 570)])
def test_a_part_is_held_out_and_a_part_is_not_however_uneven_the_share(share: float, kept: int) -> None:
    texts = {"premise": [f"premise {row // 3}" for row in range(600)], "hypothesis": [f"says {row}" for row in range(600)]}
    held = held_out_set(Retrain(held_out=share), table(info_of("pair"), texts, [row % 2 for row in range(600)]))
    assert held.num_rows == 600 - kept


def test_few_groups_are_not_divided() -> None:
    texts = {"premise": [f"premise {row // 4}" for row in range(48)], "hypothesis": [f"says {row}" for row in range(48)]}
    premises = held_out_set(Retrain(held_out=0.2), table(info_of("pair"), texts, [row % 2 for row in range(48)]))["premise"].to_pylist()
    assert len(premises) == 8
    assert all(premises.count(premise) == 4 for premise in premises)


@pytest.mark.parametrize("share", [0.2, 0.33, 0.7])
def test_pairs_that_share_a_text_are_held_out_together(share: float) -> None:
    texts = {"premise": [f"premise {row // 3}" for row in range(600)], "hypothesis": [f"says {row}" for row in range(600)]}
    rows = table(info_of("pair"), texts, [row % 2 for row in range(600)])
    held = held_out_set(Retrain(held_out=share), rows)
    assert abs(held.num_rows - 600 * share) <= 25
    assert abs(2 * sum(held["label"].to_pylist()) - held.num_rows) <= 4
    premises = held["premise"].to_pylist()
    assert all(premises.count(premise) == 3 for premise in premises)


def test_rows_that_a_column_links_are_held_out_together() -> None:
    rows = small_set(rows=300).append_column("linked", pa.array([row // 3 for row in range(300)], pa.int32()))
    held = held_out_set(Retrain(held_out=0.2), rows)
    assert abs(held.num_rows - 60) <= 6
    assert "linked" not in held.column_names
    uids = {int(uid[1:]) // 3 for uid in held["uid"].to_pylist()}
    assert len(uids) * 3 == held.num_rows


@pytest.mark.slow
def test_each_subset_is_trained_at_the_rate_that_is_best_on_a_fifth_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = space(tmp_path, epochs=3, rate_trials=3, rate_range=(1e-3, 0.5), seeds=[1, 2])
    tried: list[tuple[float, float, set[str]]] = []
    real = fit

    def watched(recipe: Any, rows: pa.Table, sets: dict[str, pa.Table], *more: Any, **named: Any) -> Any:
        if set(sets) != {"held", "far"}:
            [held] = sets.values()
            compared, kept = set(held["uid"].to_pylist()), set(rows["uid"].to_pylist())
            assert not compared & kept, "rates are compared on rows of the subset that no trial was trained on"
            fitted = real(recipe, rows, sets, *more, **named)
            tried.append((recipe.learning_rate, fitted.metrics["held-out.accuracy"], compared | kept))
            return fitted
        return real(recipe, rows, sets, *more, **named)

    monkeypatch.setattr("cartograph.train.fit.fit", watched)
    for name in ("cleaned-1", "cleaned-2", "random-1"):
        run_step(cell(workspace, name), workspace)
    assert len(tried) == 6, "the seeds of a subset share its search"
    assert [rate for rate, *_ in tried[:3]] == [rate for rate, *_ in tried[3:]]
    assert all(1e-3 <= rate <= 0.5 for rate, *_ in tried)
    uids = small_set()["uid"].to_pylist()
    for names, own, rows in ((("cleaned-1", "cleaned-2"), tried[:3], uids[:40]), (("random-1",), tried[3:], uids[20:])):
        assert all(used == set(rows) for *_, used in own)
        rate, accuracy, _ = max(own, key=lambda trial: trial[1])
        for name in names:
            training = json.loads((tmp_path / f"data/retrain/{name}/training.json").read_text())
            assert training["learning_rate"] == pytest.approx(rate)
            assert (training["rate_trials"], training["rate_accuracy"]) == (3, pytest.approx(accuracy))


@pytest.mark.slow
def test_a_rate_is_searched_for_weighted_rows_too(tmp_path: Path) -> None:
    workspace = space(tmp_path, epochs=2, rate_trials=2, subsets=["cleaned"], seeds=[1])
    subset = pq.read_table(tmp_path / "data/select/cleaned.parquet")
    weights = pa.array(np.linspace(0.2, 1.0, subset.num_rows), pa.float32())
    save(subset.append_column(WEIGHTED_SUBSET.field("weight"), weights).cast(WEIGHTED_SUBSET), tmp_path / "data/select/cleaned.parquet")
    run_step(cell(workspace, "cleaned-1"), workspace)
    assert json.loads((tmp_path / "data/retrain/cleaned-1/training.json").read_text())["rate_trials"] == 2


def test_rates_to_search_between_are_in_order() -> None:
    with pytest.raises(ValueError, match=r"should be two rates above 0, the lower one first, but is 0\.1 and 0\.01"):
        Retrain(rate_trials=2, rate_range=(0.1, 0.01))


def test_dynamics_made_elsewhere_are_no_reason_to_hold_rows_out(tmp_path: Path) -> None:
    assert not STEP.when(space(tmp_path, evaluation={}, train={"dynamics": "recorded"}).settings)


@pytest.mark.slow
def test_labels_are_the_subsets(tmp_path: Path) -> None:
    workspace = space(tmp_path, train={"epochs": 8})
    part = pq.read_table(tmp_path / "data/select/original.parquet")
    wrong = pa.array([1 - label for label in part["label"].to_pylist()], pa.int32())
    run_step(cell(workspace, "original-1"), workspace)
    pq.write_table(part.set_column(1, SUBSET.field("label"), wrong), tmp_path / "data/select/cleaned.parquet")
    run_step(cell(workspace, "cleaned-1"), workspace)
    right, turned = (
        json.loads((tmp_path / f"data/retrain/{name}-1/metrics.json").read_text())["held.accuracy"] for name in ("original", "cleaned")
    )
    assert right > 0.8
    assert turned < 0.2


def test_own_values_come_before_those_of_train(tmp_path: Path) -> None:
    workspace = space(tmp_path, epochs=1, batch_size=16, learning_rate=0.02)
    run_step(cell(workspace, "original-1"), workspace)
    training = json.loads((tmp_path / "data/retrain/original-1/training.json").read_text())
    assert {"epochs": 1, "batch_size": 16, "learning_rate": 0.02}.items() <= training.items()


@pytest.mark.slow
def test_easy_rows_come_first_where_the_map_says_which_they_are(tmp_path: Path) -> None:
    workspace = space(tmp_path, order="easy-first", epochs=3)
    rows = small_set()
    confidence = np.random.default_rng(3).random(60)
    uids = rows["uid"].to_pylist()
    map_ = map_table(uids, rows["label"].to_numpy(), Measures(confidence, np.full(60, 0.1), np.ones(60)))
    save(map_, tmp_path / "data/measure/measures.parquet")
    part = cell(workspace, "cleaned-1")
    assert "data/measure/measures.parquet" in part.inputs_of(workspace.settings)
    run_step(part, workspace)
    folder = tmp_path / "data/retrain/cleaned-1"
    assert json.loads((folder / "training.json").read_text())["order"] == "easy-first"
    kept, held = rows.slice(0, 40), pq.read_table(tmp_path / "data/ingest/held.parquet")
    ranked = kept.append_column("training_rank", [-confidence[:40]])
    recipe = recipe_of(Train(**SMALL_TRAINING | {"epochs": 3}, seed=1))
    for name, train in (("ranked", ranked), ("shuffled", kept)):
        fitted = fit(recipe, train, {"held": held}, tmp_path / name)
        mine, its = (logits_of(pq.read_table(place / "predictions/held.parquet")) for place in (fitted.folder, folder))
        assert np.array_equal(mine, its) == (name == "ranked")
    plain = space(tmp_path / "plain", epochs=3)
    assert "data/measure/measures.parquet" not in cell(plain, "cleaned-1").inputs_of(plain.settings)


@pytest.mark.slow
def test_ambiguous_rows_come_twice_where_the_map_says_which_they_are(tmp_path: Path) -> None:
    rows = small_set()
    varied = np.random.default_rng(3).random(60) / 2
    map_ = map_table(rows["uid"].to_pylist(), rows["label"].to_numpy(), Measures(np.full(60, 0.5), varied, np.ones(60)))
    outputs = []
    for name in ("one", "other"):
        workspace = space(tmp_path / name, order="ambiguous-twice", epochs=3)
        save(map_, tmp_path / name / "data/measure/measures.parquet")
        outputs.append(run_step(cell(workspace, "cleaned-1"), workspace).receipt.outputs)
    assert outputs[0] == outputs[1], "the same bytes"
    folder = tmp_path / "one/data/retrain/cleaned-1"
    assert json.loads((folder / "training.json").read_text())["order"] == "ambiguous-twice"
    region = dict(zip(map_["uid"].to_pylist(), map_["region"].to_pylist(), strict=True))
    kept, held = rows.slice(0, 40), pq.read_table(tmp_path / "one/data/ingest/held.parquet")
    twice = [region[uid] == "ambiguous" for uid in kept["uid"].to_pylist()]
    assert 5 < sum(twice) < 20
    recipe = recipe_of(Train(**SMALL_TRAINING | {"epochs": 3}, seed=1))
    for name, train in (("twice", kept.append_column("training_twice", [twice])), ("shuffled", kept)):
        fitted = fit(replace(recipe, record="epoch_end"), train, {"held": held}, tmp_path / name)
        mine, its = (logits_of(pq.read_table(place / "predictions/held.parquet")) for place in (fitted.folder, folder))
        assert np.array_equal(mine, its) == (name == "twice")


def test_an_order_by_a_map_of_other_rows_is_refused(tmp_path: Path) -> None:
    workspace = space(tmp_path, order="easy-first")
    rows = small_set().slice(1)
    confidence = np.full(59, 0.5)
    save(
        map_table(rows["uid"].to_pylist(), rows["label"].to_numpy(), Measures(confidence, confidence / 2, confidence)),
        tmp_path / "data/measure/measures.parquet",
    )
    with pytest.raises(InputError, match=r"original.parquet, trained in the order of data/measure/measures.parquet, names uid"):
        run_step(cell(workspace, "original-1"), workspace)


@pytest.mark.slow
def test_the_same_cell_gives_the_same_bytes_and_another_seed_another_model(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    first = run_step(cell(workspace, "random-1"), workspace)
    again = run_step(cell(workspace, "random-1"), workspace, force=True)
    other = run_step(cell(workspace, "random-2"), workspace)
    assert first.receipt.outputs == again.receipt.outputs
    predictions = [(tmp_path / f"data/retrain/random-{seed}/predictions/held.parquet").read_bytes() for seed in (1, 2)]
    assert other.executed and predictions[0] != predictions[1]


@pytest.mark.slow
def test_a_killed_cell_goes_on_after_its_last_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = space(tmp_path / "whole")
    run_step(cell(whole, "original-1"), whole)
    workspace = space(tmp_path / "cut")

    def die(done: int, total: int) -> None:
        if done > 2 * total / 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("tasks.audit.retrain.progress", lambda name: _telling(die))
        run_step(cell(workspace, "original-1"), workspace)
    assert not (tmp_path / "cut/data/retrain/original-1").exists()
    steps: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr("tasks.audit.retrain.progress", lambda name: _telling(lambda done, total: steps.append(done)))
        run_step(cell(workspace, "original-1"), workspace)
    assert min(steps) > 120, "two epochs of 60 rows were not trained again"
    for name in ("predictions/held.parquet", "metrics.json", "history.parquet"):
        assert (tmp_path / "cut/data/retrain/original-1" / name).read_bytes() == (
            tmp_path / "whole/data/retrain/original-1" / name
        ).read_bytes()


class _telling:
    def __init__(self, tell: object) -> None:
        self.tell = tell

    def __enter__(self) -> object:
        return self.tell

    def __exit__(self, *error: object) -> None:
        return None


def test_a_training_that_failed_is_marked(tmp_path: Path) -> None:
    workspace = space(tmp_path, epochs=6)
    alike = table(info_of("single"), {"text": ["the same"] * 60}, [0] * 40 + [1] * 20)
    pq.write_table(alike, tmp_path / "data/ingest/train.parquet")
    pq.write_table(alike.select(["uid", "label"]).cast(SUBSET), tmp_path / "data/select/original.parquet")
    done = run_step(cell(workspace, "original-1"), workspace)
    assert done.receipt.summary == "60 rows, FAILED: no better than chance"
    assert json.loads((tmp_path / "data/retrain/original-1/metrics.json").read_text())["train.failed"] == 1


def test_a_loss_that_is_no_number_is_said_in_the_cells_line(tmp_path: Path) -> None:
    workspace = space(tmp_path, learning_rate=1e38)
    done = run_step(cell(workspace, "original-1"), workspace)
    assert done.receipt.summary == "60 rows, FAILED: the loss is not a number; lower the learning rate"


def test_dynamics_from_elsewhere_leave_a_recipe(tmp_path: Path) -> None:
    workspace = space(tmp_path, train={"dynamics": "map.jsonl"})
    assert run_step(cell(workspace, "original-1"), workspace).executed
    (tmp_path / "no").mkdir()
    lost = space(tmp_path / "no", train={"dynamics": "map.jsonl", "model": "transformer"})
    with pytest.raises(
        InputError, match=r"whose model `transformer` needs `train\.pretrained`.*leave retraining out with `retrain\.subsets: \[\]`"
    ):
        run_step(cell(lost, "original-1"), lost)


def test_a_subset_of_one_class_is_refused(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    path = tmp_path / "data/select/cleaned.parquet"
    part = pq.read_table(path)
    pq.write_table(part.filter(pa.compute.equal(part["label"], 1)), path)
    with pytest.raises(
        InputError, match=r"data/select/cleaned\.parquet has \d+ rows of fewer than two classes.*clean less \(section `clean`\)"
    ):
        run_step(cell(workspace, "cleaned-1"), workspace)


def test_a_selection_of_one_class_fails_alone(tmp_path: Path) -> None:
    workspace = space(tmp_path, selections=True)
    workspace = with_sections(workspace, select=Select(strategies=("high-confidence",), fractions=(0.1,)))
    whole = pq.read_table(tmp_path / "data/select/original.parquet")
    pq.write_table(whole.filter(pa.compute.equal(whole["label"], 1)).slice(0, 6), tmp_path / "data/select/high-confidence-0.1.parquet")
    done = run_step(cell(workspace, "high-confidence-0.1-1"), workspace)
    folder = tmp_path / "data/retrain/high-confidence-0.1-1"
    metrics = json.loads((folder / "metrics.json").read_text())
    held = pq.read_table(tmp_path / "data/ingest/held.parquet")
    assert (metrics["train.failed"], metrics["rows"]) == (1, 6)
    assert metrics["held.accuracy"] == held["label"].to_pylist().count(1) / held.num_rows
    assert set(logits_of(pq.read_table(folder / "predictions/far.parquet")).argmax(axis=1)) == {1}
    assert done.receipt.summary == "6 rows, FAILED: no better than chance"


def test_a_cell_that_raises_leaves_why_and_is_taken_up_again(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    step, folder = cell(workspace, "cleaned-1"), tmp_path / "data/retrain/cleaned-1"
    run_step(step, workspace)
    whole = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    path = tmp_path / "data/select/cleaned.parquet"
    part = pq.read_table(path)
    pq.write_table(part.filter(pa.compute.equal(part["label"], 1)), path)
    with pytest.raises(InputError):
        run_step(step, workspace)
    assert [file.name for file in folder.iterdir()] == ["failure.json"]
    assert "fewer than two classes" in (failure_of(folder) or "")
    assert fresh(step, workspace) is None
    pq.write_table(part, path)
    assert run_step(step, workspace).executed
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == whole
    assert failure_of(folder) is None


def test_the_reason_of_an_error_nobody_foresaw_has_its_kind(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    circle = tmp_path / ".cartograph/checkpoints/retrain@cleaned-1"
    circle.parent.mkdir(parents=True)
    circle.symlink_to(circle)
    with pytest.raises(OSError, match="symbolic links"):
        run_step(cell(workspace, "cleaned-1"), workspace)
    assert (failure_of(tmp_path / "data/retrain/cleaned-1") or "").startswith("OSError: ")


def test_a_file_in_the_way_of_a_cell_is_named_as_the_reason(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    blocked = tmp_path / ".cartograph/checkpoints/retrain@cleaned-1"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("not a folder")
    with pytest.raises(InputError, match="is a file, where none belongs"):
        run_step(cell(workspace, "cleaned-1"), workspace)
    said = failure_of(tmp_path / "data/retrain/cleaned-1") or ""
    assert said.startswith(f"step `retrain@cleaned-1`: {blocked} is a file, where none belongs")


def test_a_cell_has_inputs_and_a_folder_of_its_own(tmp_path: Path) -> None:
    workspace = space(
        tmp_path, seeds=(4,), subsets=("original", "cleaned"), train={"model": "transformer", "pretrained": "./models/{mine}"}
    )
    cells = STEP.expand(workspace.settings)
    assert [step.name for step in cells] == ["retrain@original-4", "retrain@cleaned-4"]
    assert cells[1].inputs_of(workspace.settings) == (
        "data/select/cleaned.parquet",
        "data/ingest/train.parquet",
        "data/ingest/far.parquet",
        "data/ingest/held.parquet",
        "file:./models/{mine}",
    )
    assert list(retrained_models(workspace.settings).values()) == [step.outputs_of(workspace.settings)[0] for step in cells]
    assert STEP.when(workspace.settings)


@pytest.mark.parametrize("without", [{"evaluation": {}, "held_out": 0}, {"subsets": ()}, {"seeds": ()}])
def test_nothing_to_score_or_to_train_is_no_step(tmp_path: Path, without: dict[str, object]) -> None:
    assert not STEP.when(space(tmp_path, **without).settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"seeds": [1, 2, 1]}, "`retrain.seeds`: names 1 twice; each is trained once"),
        ({"subsets": ["random", "random"]}, "`retrain.subsets`: names random twice; each is trained once"),
        ({"seeds": [-1]}, "`retrain.seeds`: seeds should be 0 or more, but one is -1"),
        ({"subsets": ["cleand"]}, "`retrain.subsets.0`: input should be 'original', 'cleaned' or 'random', but is 'cleand'"),
        ({"epochs": 0}, "`retrain.epochs`: input should be greater than or equal to 1, but is 0"),
        ({"epoch": 2}, "unknown key `retrain.epoch`; did you mean `epochs`?"),
    ],
)
def test_wrong_parameters_say_what_is_expected(tmp_path: Path, section: dict[str, object], message: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump({"retrain": section}))
    with pytest.raises(InputError) as raised:
        load_settings(path, {"retrain": Retrain})
    assert message in str(raised.value)


@pytest.mark.slow
def test_versions_of_the_same_rows_are_trained_once_and_each_when_it_is_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import cartograph.train.fit

    trained: list[Path] = []

    def counted(*arguments: Any, **options: Any) -> Any:
        trained.append(arguments[3])
        return fit_files(*arguments, **options)

    fit_files = cartograph.train.fit.fit_files
    monkeypatch.setattr(cartograph.train.fit, "fit_files", counted)
    workspace = space(tmp_path, epochs=2)
    save(pq.read_table(tmp_path / "data/select/original.parquet"), tmp_path / "data/select/cleaned.parquet")
    for name in ("original-1", "cleaned-1", "random-1", "original-2"):
        run_step(cell(workspace, name), workspace)
    assert len(trained) == 3, "`cleaned` has all rows, `random` has others, and another seed is another training"
    kept = {
        name: {
            path.name: path.read_bytes()
            for path in (tmp_path / f"data/retrain/{name}").rglob("*")
            if path.is_file() and path.name != "training.json"
        }
        for name in ("original-1", "cleaned-1")
    }
    assert kept["original-1"] == kept["cleaned-1"]
    assert json.loads((tmp_path / "data/retrain/cleaned-1/training.json").read_text())["subset"] == "cleaned"
    run_step(cell(workspace, "cleaned-1"), workspace, force=True)
    assert len(trained) == 4
    for path in (tmp_path / "data/retrain/cleaned-1").rglob("*"):
        assert path.is_dir() or path.name == "training.json" or path.read_bytes() == kept["cleaned-1"][path.name]
