from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from cartograph.dynamics.decisions import decision_places
from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.models.base import label_matrix
from cartograph.models.bow import Bow
from cartograph.schema import HISTORY, LABEL_SET, DatasetInfo, Domain, dynamics_schema
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from tests.label_sets import WORDS, films
from tests.training_sets import info_of, small_set, table

RECIPE = Recipe(epochs=2, batch_size=8, learning_rate=0.01, seed=5, threads=1, device="cpu")


def recipe(**changes: object) -> Recipe:
    return Recipe(**RECIPE.to_json() | changes)


def train(folder: Path, evaluation: dict[str, pa.Table] | None = None, **changes: object) -> TrainingResult:
    return fit(recipe(**changes), small_set(), evaluation or {}, folder)


def test_a_training_writes_dynamics_predictions_history_and_metrics(tmp_path: Path) -> None:
    held = small_set(rows=20, seed=9, name="held", domain="id")
    result = train(tmp_path, {"held": held, "far": small_set(rows=10, seed=8, name="far", domain="ood")})
    assert result.history.schema == HISTORY
    assert [(row["epoch"], row["set"]) for row in result.history.to_pylist()] == [
        (epoch, name) for epoch in (0, 1) for name in ("train", "far", "held")
    ]
    predictions = pq.read_table(result.predictions / "held.parquet")
    assert predictions.schema == dynamics_schema(2)
    assert predictions.column("gold").to_pylist() == held.column("label").to_pylist()
    logits = np.array(predictions.column("logits").to_pylist())
    assert result.metrics["held.accuracy"] == np.mean(logits.argmax(1) == predictions.column("gold").to_numpy())
    assert set(result.metrics) == {
        *("epochs", "train.accuracy", "train.loss", "train.failed"),
        *("held.accuracy", "held.macro_f1", "far.accuracy", "far.macro_f1"),
    }
    assert result.training | {"parameters": 0} == {
        "model": "bow",
        "record": "train_pass",
        "epochs": 2,
        "source": "trained",
        "parameters": 0,
        "device": "cpu",
    }
    assert sorted(path.name for path in result.dynamics.iterdir()) == ["epoch=0.parquet", "epoch=1.parquet"]


@pytest.mark.slow
def test_weights_of_one_change_nothing_and_a_row_of_none_teaches_nothing(tmp_path: Path) -> None:
    def logits(name: str, weights: np.ndarray | None, labels: list[int] | None = None) -> np.ndarray:
        rows = small_set() if labels is None else small_set().set_column(2, small_set().schema.field("label"), pa.array(labels, pa.int32()))
        weighted = rows if weights is None else rows.append_column("weight", pa.array(weights.astype(np.float32)))
        held = small_set(rows=20, seed=9, name="held", domain="id")
        found = fit(recipe(epochs=8), weighted, {"held": held}, tmp_path / name)
        return np.array(pq.read_table(found.predictions / "held.parquet")["logits"].to_pylist())

    assert small_set().column_names[2] == "label"
    plain = logits("plain", None)
    assert np.array_equal(plain, logits("ones", np.ones(60)))
    given = small_set()["label"].to_pylist()
    turned = [1 - label if row < 30 else label for row, label in enumerate(given)]
    light = np.where(np.arange(60) < 30, 0.0, 2.0)
    gold = small_set(rows=20, seed=9)["label"].to_numpy()
    right = {
        name: float(np.mean(found.argmax(axis=1) == gold))
        for name, found in (("turned", logits("turned", None, turned)), ("light", logits("light", light, turned)))
    }
    assert right["light"] > right["turned"] + 0.2


def test_the_history_scores_the_recorded_logits(tmp_path: Path) -> None:
    result = train(tmp_path)
    _, gold, logits = read_dynamics(result.dynamics)
    for row in result.history.to_pylist():
        scores = torch.from_numpy(logits[:, row["epoch"]]).double()
        assert row["loss"] == pytest.approx(torch.nn.functional.cross_entropy(scores, torch.from_numpy(gold).long()).item())
        assert row["accuracy"] == np.mean(logits[:, row["epoch"]].argmax(1) == gold)


def test_the_training_pass_is_recorded_before_its_update_with_dropout(tmp_path: Path) -> None:
    slow, fast = (read_dynamics(train(tmp_path / str(rate), batch_size=60, learning_rate=rate).dynamics).logits for rate in (1e-9, 0.1))
    assert np.array_equal(slow[:, 0], fast[:, 0])
    assert not np.allclose(slow[:, 1], fast[:, 1])
    assert not np.allclose(slow[:, 0], slow[:, 1], atol=1e-6)


def test_the_pass_after_the_epoch_is_recorded_without_dropout(tmp_path: Path) -> None:
    result = train(tmp_path, {"again": small_set(name="again", domain="id")}, record="epoch_end")
    last = read_dynamics(result.dynamics).logits[:, -1]
    predicted = np.array(pq.read_table(result.predictions / "again.parquet").column("logits").to_pylist())
    np.testing.assert_allclose(last, predicted, rtol=0, atol=1e-6)
    still = read_dynamics(train(tmp_path / "still", record="epoch_end", learning_rate=1e-12).dynamics).logits
    np.testing.assert_allclose(still[:, 0], still[:, 1], rtol=0, atol=1e-6)


def test_recording_does_not_change_the_training(tmp_path: Path) -> None:
    one, other = train(tmp_path / "one"), train(tmp_path / "other", record="epoch_end")
    assert (one.model / "model.safetensors").read_bytes() == (other.model / "model.safetensors").read_bytes()


def test_accumulated_gradients_make_the_same_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.nn.functional.dropout", lambda tensor, *_: tensor)
    whole, cut = (read_dynamics(train(tmp_path / str(parts), gradient_accumulation=parts, epochs=3).dynamics) for parts in (1, 3))
    assert whole.uids.tolist() == cut.uids.tolist()
    np.testing.assert_allclose(whole.logits, cut.logits, rtol=0, atol=1e-4)


def test_optimisation_is_the_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.nn.functional.dropout", lambda tensor, *_: tensor)
    result = train(tmp_path, batch_size=60, epochs=3, learning_rate=0.01)
    torch.manual_seed(_model_seed())
    model = Bow.create(info_of("single"), small_set())
    examples = model.encode(small_set(), info_of("single"))
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, eps=1e-8, weight_decay=0.0)
    expected = []
    for epoch in range(3):
        optimiser.param_groups[0]["lr"] = 0.01 * (3 - epoch) / 3
        output = model(**model.batch(examples, np.arange(60)))
        expected.append(output.logits.detach().numpy())
        optimiser.zero_grad()
        output.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    np.testing.assert_allclose(read_dynamics(result.dynamics).logits, np.stack(expected, 1), rtol=0, atol=1e-5)


def _model_seed() -> int:
    return int(np.random.SeedSequence((RECIPE.seed,)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def test_evaluation_sets_can_be_scored_at_the_end_only(tmp_path: Path) -> None:
    result = train(tmp_path, {"held": small_set(rows=20, seed=9, name="held", domain="id")}, evaluate="end", epochs=3)
    assert [(row["epoch"], row["set"]) for row in result.history.to_pylist()] == [(0, "train"), (1, "train"), (2, "train"), (2, "held")]


def test_a_longer_schedule_trains_as_the_longer_training_begins(tmp_path: Path) -> None:
    train(tmp_path / "long", epochs=4)
    train(tmp_path / "cut", epochs=2, schedule_epochs=4)
    train(tmp_path / "short", epochs=2)
    long, cut, short = (read_dynamics(tmp_path / name / "dynamics").logits for name in ("long", "cut", "short"))
    assert np.array_equal(cut, long[:, :2])
    assert not np.array_equal(cut, short)


def test_progress_counts_rows(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    fit(recipe(batch_size=25), small_set(), {}, tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(25, 120), (50, 120), (60, 120), (85, 120), (110, 120), (120, 120)]


def test_a_loss_that_is_no_number_is_a_failed_training(tmp_path: Path) -> None:
    result = train(tmp_path, learning_rate=1e38, epochs=3)
    assert result.metrics["train.failed"] == 1
    assert "train.loss" not in result.metrics
    assert math.isnan(result.history.to_pylist()[-1]["loss"])


def test_a_model_no_better_than_the_largest_class_has_failed(tmp_path: Path) -> None:
    alike = table(info_of("single"), {"text": ["the same"] * 60}, [0] * 40 + [1] * 20)
    result = fit(recipe(epochs=6), alike, {}, tmp_path)
    assert result.metrics["train.accuracy"] == pytest.approx(2 / 3)
    assert result.metrics["train.failed"] == 1


@pytest.mark.parametrize(("domain", "failed"), [("id", 1), ("ood", 0)])
def test_a_model_that_predicts_one_class_for_every_row_has_failed_though_it_learnt_its_train_set(
    tmp_path: Path, domain: Domain, failed: int
) -> None:
    strange = table(info_of("single", "held", domain), {"text": ["Nothing of it is known."] * 20}, [0] * 10 + [1] * 10)
    result = train(tmp_path, {"held": strange}, epochs=6)
    assert result.metrics["train.accuracy"] > 0.7
    assert result.metrics["held.accuracy"] == 0.5
    assert result.metrics["train.failed"] == failed


def test_one_class_is_refused(tmp_path: Path) -> None:
    one = table(info_of("single"), {"text": ["x", "y"]}, [1, 1])
    with pytest.raises(InputError, match="the train set has 2 rows and 1 class; a model needs two classes at least"):
        fit(RECIPE, one, {}, tmp_path)


def test_an_evaluation_set_with_other_labels_is_refused(tmp_path: Path) -> None:
    other = DatasetInfo("held", "id", "single", ("text",), (), ("loud", "quiet"))
    with pytest.raises(
        InputError,
        match=r"evaluation set `held` \(single, labels loud, quiet\) does not go with the train set \(single, labels quiet, loud\)",
    ):
        fit(RECIPE, small_set(), {"held": table(other, {"text": ["x"]}, [0])}, tmp_path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_missing_gpu_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="device is `cuda`, but torch sees no GPU here; set it to `auto` or `cpu`"):
        fit(recipe(device="cuda"), small_set(), {}, tmp_path)


@pytest.mark.slow
def test_the_running_loss_is_logged_to_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'live.db'}")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "live")
    monkeypatch.chdir(tmp_path)
    try:
        train(tmp_path / "fit", {"held": small_set(rows=20, seed=9, name="held", domain="id")}, live=True)
        (run,) = mlflow.search_runs(experiment_names=["live"], output_format="list")
    finally:
        # Set for the process by Hugging Face's callback, it would go before the environment of later tests.
        mlflow.set_tracking_uri(None)
    assert run.info.status == "FINISHED"
    assert {"loss", "learning_rate", "train.loss", "train.accuracy", "held.accuracy"} <= set(run.data.metrics)


@pytest.mark.realdata
def test_trec_is_learnt(real_data: Path, tmp_path: Path) -> None:
    train_set, labels = _trec(real_data / "trec" / "TREC.train", "train", ())
    test_set, _ = _trec(real_data / "trec" / "TREC.test", "test", labels)
    result = fit(recipe(batch_size=64, epochs=3), train_set, {"test": test_set}, tmp_path)
    assert result.metrics["test.accuracy"] > 0.85


def _trec(path: Path, name: str, labels: tuple[str, ...]) -> tuple[pa.Table, tuple[str, ...]]:
    rows = [line.split(" ", 1) for line in path.read_text(encoding="latin-1").splitlines()]
    coarse = [label.split(":")[0] for label, _ in rows]
    labels = labels or tuple(sorted(set(coarse)))
    info = DatasetInfo(name, "train" if name == "train" else "id", "single", ("text",), (), labels)
    return table(info, {"text": [text for _, text in rows]}, [labels.index(label) for label in coarse]), labels


def of_several_labels() -> pa.Table:
    texts, labels = films(60)
    whole = table(replace(info_of("single"), labels=WORDS), {"text": texts}, [0] * 60)
    return whole.append_column(LABEL_SET, pa.FixedSizeListArray.from_arrays(pa.array(labels.astype(bool).ravel()), len(WORDS)))


@pytest.mark.parametrize("record", ["train_pass", "epoch_end"])
def test_several_labels_are_one_training_with_dynamics_of_each(record: str, tmp_path: Path) -> None:
    rows = of_several_labels()
    found = read_dynamics(fit(recipe(record=record), rows, {}, tmp_path).dynamics)
    assert found.logits.shape == (240, 2, 2) and not found.logits[..., 0].any()
    uids = rows["uid"].to_numpy(zero_copy_only=False).astype(object)
    given = label_matrix(rows).ravel()
    assert found.gold.tolist() == given[decision_places(uids, len(WORDS))].tolist()


def test_several_labels_are_trained_on_alone(tmp_path: Path) -> None:
    rows = of_several_labels()
    with pytest.raises(InputError, match="a train set whose rows have several labels is trained on alone"):
        fit(RECIPE, rows, {"test": rows}, tmp_path)
