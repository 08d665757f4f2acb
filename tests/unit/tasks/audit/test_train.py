from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.config import Settings, load_settings
from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import dynamics_table, epoch_file, read_dynamics
from cartograph.errors import InputError
from cartograph.models.registry import MODELS
from cartograph.schema import COORDINATES, HISTORY
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.train import Train
from tasks.audit.recipes import epochs_file, recipe_of
from tasks.audit.train import STEP, run
from tasks.engine.digest import digest_path
from tasks.engine.step import Out
from tasks.engine.workspace import CODE
from tests.training_sets import info_of, small_set, table
from tests.workspaces import make_workspace


class Workplace:
    """Ingested sets on disk, and where the step writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.inputs = {"data/ingest/train.parquet": folder / "train.parquet", "data/ingest/held.parquet": folder / "held.parquet"}
        pq.write_table(small_set(), self.inputs["data/ingest/train.parquet"])
        pq.write_table(small_set(rows=20, seed=9, name="held", domain="id"), self.inputs["data/ingest/held.parquet"])

    def run(self, **params: object) -> tuple[str, Path, dict[str, float]]:
        data, metrics = self.folder / "out" / "data" / "train", self.folder / "out" / "train.metrics.json"
        data.mkdir(parents=True)
        staged = {"data/train": data, "reports/train.metrics.json": metrics}
        space = make_workspace(self.folder)
        out = Out(space, staged, self.folder / "checkpoints", self.folder / "out" / "reports", self.folder / "failed")
        inputs = self.inputs | ({f"file:{params['dynamics']}": Path(str(params["dynamics"]))} if "dynamics" in params else {})
        values = {"batch_size": 8, "learning_rate": 0.01, "epochs": 3, "device": "cpu", "threads": 1} | params
        return run(Train(**values), inputs, out), data, json.loads(metrics.read_text())  # type: ignore[arg-type]


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def test_it_writes_what_the_next_steps_read(place: Workplace) -> None:
    summary, data, metrics = place.run(epochs=8)
    assert summary == f"bow, 8 epochs, accuracy {metrics['train.accuracy']:.2f}".replace("0.", ".")
    assert read_dynamics(data / "dynamics").logits.shape == (60, 8, 2)
    assert pq.read_table(data / "predictions" / "held.parquet").num_rows == 20
    assert pq.read_table(data / "history.parquet").num_rows == 16
    assert (data / "model" / "model.safetensors").is_file()
    assert json.loads((data / "training.json").read_text())["source"] == "trained"
    training = {"epochs", "train.accuracy", "train.loss", "train.failed", "train.learnt", "train.simple_accuracy"}
    assert training | {"held.accuracy", "held.macro_f1"} == set(metrics)


@pytest.mark.slow
def test_patience_ends_the_training_and_the_next_steps_train_as_many_epochs(place: Workplace) -> None:
    validation = small_set(rows=60, seed=9, name="validation", domain="id")
    place.inputs["data/ingest/validation.parquet"] = place.folder / "validation.parquet"
    pq.write_table(validation, place.inputs["data/ingest/validation.parquet"])
    values = {"epochs": 30, "patience": 2, "batch_size": 8, "learning_rate": 0.01, "device": "cpu", "threads": 1}
    _, data, metrics = place.run(**values, folds=2)
    training = json.loads((data / "training.json").read_text())
    epochs = training["epochs"]
    assert metrics["epochs"] == epochs == training["best_epoch"] + 2 < 30
    for folder in ("dynamics", "out_of_fold"):
        assert read_dynamics(data / folder).logits.shape == (60, epochs, 2)
    params = Train(**values)  # type: ignore[arg-type]
    assert epochs_file(params) == ("data/train/training.json",)
    after = recipe_of(params, trained=data / "training.json")
    assert (after.epochs, after.schedule_epochs, after.patience) == (epochs, 30, None)


def test_patience_without_a_validation_set_is_refused(place: Workplace) -> None:
    with pytest.raises(InputError, match="but the evaluation sets are: `held`; name one so, or leave patience out"):
        place.run(patience=2)


def test_a_model_that_has_not_learnt_its_rows_says_what_to_change(place: Workplace) -> None:
    summary, data, metrics = place.run(epochs=1)
    learning = json.loads((data / "training.json").read_text())["learning"]
    assert summary.endswith(", NOT LEARNT: raise train.epochs") or "FAILED" in summary
    assert learning["state"] in ("not learnt", "failed") and metrics["train.learnt"] == 0
    assert "has not learnt these data: after 1 epoch it " in learning["sentence"]
    assert "Raise train.epochs (now 1; `auto` goes on until the model has learnt)" in learning["sentence"]


@pytest.mark.slow
def test_epochs_are_doubled_until_the_model_has_learnt(place: Workplace) -> None:
    summary, data, metrics = place.run(epochs="auto", batch_size=64, folds=2)
    learning = json.loads((data / "training.json").read_text())["learning"]
    tried = [attempt["epochs"] for attempt in learning["attempts"]]
    assert learning["state"] == "learnt" and learning["sentence"] == "" and metrics["train.learnt"] == 1
    assert len(tried) > 1 and tried == [8 * 2**place for place in range(len(tried))]
    assert summary.startswith(f"bow, {tried[-1]} epochs, ")
    fixed = Workplace(place.folder / "fixed")
    _, other, _ = fixed.run(epochs=tried[-1], batch_size=64, folds=2)
    for name in ("dynamics", "out_of_fold", "model"):
        assert digest_path(data / name) == digest_path(other / name)


@pytest.mark.slow
def test_folds_are_written_beside_a_training_that_they_do_not_change(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    _, plain, _ = place.run()
    said: list[tuple[int, int]] = []
    monkeypatch.setattr("tasks.audit.train.progress", lambda *_: nullcontext(lambda done, total: said.append((done, total))))
    other = Workplace(place.folder / "folds")
    _, data, metrics = other.run(folds=4)
    assert digest_path(plain) != digest_path(data)
    held = read_dynamics(data / "out_of_fold")
    assert held.logits.shape == (60, 3, 2)
    shutil.rmtree(data / "out_of_fold")
    assert digest_path(plain) == digest_path(data)
    assert metrics["epochs"] == 3
    assert said[-1] == (720, 720) and {total for _, total in said} == {720}
    assert [done for done, _ in said] == sorted(done for done, _ in said)


@pytest.mark.slow
def test_a_class_with_fewer_rows_than_folds_is_trained_in_folds_all_the_same(place: Workplace) -> None:
    texts = [f"{'loud' if row >= 57 else 'quiet'} {row % 7}" for row in range(60)]
    rows = table(info_of("single"), {"text": texts}, [0] * 57 + [1] * 3)
    pq.write_table(rows, place.inputs["data/ingest/train.parquet"])
    del place.inputs["data/ingest/held.parquet"]
    _, data, _ = place.run(folds=5)
    assert read_dynamics(data / "out_of_fold").logits.shape == (60, 3, 2)


def test_a_training_that_failed_says_so_in_its_line(place: Workplace) -> None:
    alike = table(info_of("single"), {"text": ["the same"] * 60}, [0] * 40 + [1] * 20)
    pq.write_table(alike, place.inputs["data/ingest/train.parquet"])
    del place.inputs["data/ingest/held.parquet"]
    summary, _, metrics = place.run(epochs=6)
    assert summary == "bow, 6 epochs, FAILED: no better than chance (train accuracy .67)"
    assert metrics["train.failed"] == 1


def test_a_loss_that_is_no_number_is_said_in_its_line(place: Workplace) -> None:
    summary, _, metrics = place.run(learning_rate=1e38)
    assert summary == "bow, 3 epochs, FAILED: the loss is not a number; lower learning_rate"
    assert "train.loss" not in metrics


def write_dynamics(folder: Path, uids: list[str], gold: list[int]) -> np.ndarray:
    logits = np.random.default_rng(0).normal(size=(len(uids), 4, 2)).astype(np.float32)
    folder.mkdir()
    for epoch in range(4):
        write_parquet(dynamics_table(pa.array(uids), np.array(gold), logits[:, epoch]), epoch_file(folder, epoch))
    return logits


def test_dynamics_from_elsewhere_take_the_place_of_a_training(place: Workplace, tmp_path: Path) -> None:
    train = pq.read_table(place.inputs["data/ingest/train.parquet"])
    logits = write_dynamics(tmp_path / "mine", train.column("uid").to_pylist(), train.column("label").to_pylist())
    summary, data, metrics = place.run(dynamics=str(tmp_path / "mine"))
    assert summary == "dynamics imported, 60 rows, 4 epochs"
    assert np.array_equal(read_dynamics(data / "dynamics").logits, logits)
    assert pq.read_table(data / "history.parquet").equals(HISTORY.empty_table())
    assert not (data / "predictions").exists() and not (data / "model").exists()
    training = json.loads((data / "training.json").read_text())
    assert training == {"model": None, "record": None, "epochs": 4, "source": "imported", "parameters": None, "device": None}
    assert metrics["train.accuracy"] == np.mean(logits[:, -1].argmax(1) == train.column("label").to_numpy())


def test_labels_in_another_order_are_said_to_be_reordered(place: Workplace, tmp_path: Path) -> None:
    train = pq.read_table(place.inputs["data/ingest/train.parquet"])
    logits = write_dynamics(tmp_path / "mine", train.column("uid").to_pylist(), [1 - label for label in train.column("label").to_pylist()])
    summary, data, _ = place.run(dynamics=str(tmp_path / "mine"))
    assert summary == "dynamics imported, 60 rows, 4 epochs, labels reordered"
    assert np.array_equal(read_dynamics(data / "dynamics").logits, logits[:, :, ::-1])
    assert json.loads((data / "training.json").read_text())["classes"] == ["loud", "quiet"]


def test_coordinates_are_imported(place: Workplace, tmp_path: Path) -> None:
    uids = pq.read_table(place.inputs["data/ingest/train.parquet"]).column("uid").to_pylist()
    lines = [f"{uid},0.5,0.1,{row % 7}" for row, uid in enumerate(uids)]
    (tmp_path / "map.csv").write_text("\n".join(["guid,confidence,variability,correctness", *lines]))
    summary, data, metrics = place.run(dynamics=str(tmp_path / "map.csv"), dynamics_epochs=6)
    assert summary == "coordinates imported, 60 rows"
    coordinates = pq.read_table(data / "coordinates.parquet")
    assert coordinates.schema == COORDINATES
    assert coordinates.column("correctness").to_pylist()[:7] == [row / 6 for row in range(7)]
    assert not (data / "dynamics").exists()
    assert metrics == {"rows": 60, "epochs": 6}


def test_dynamics_of_other_data_are_refused(place: Workplace, tmp_path: Path) -> None:
    write_dynamics(tmp_path / "mine", ["x", "y"], [0, 1])
    with pytest.raises(
        InputError,
        match=r"2 of 2 uids \('x', 'y'\) have no row in the data, and 60 of 60 uids \('u0000', 'u0001', 'u0002', …\) of the data",
    ):
        place.run(dynamics=str(tmp_path / "mine"))


def settings_of(**train: object) -> Settings:
    return Settings({"ingest": Ingest(), "train": Train(**train)})


def test_what_it_reads_follows_from_the_parameters(tmp_path: Path) -> None:
    sets = ("data/ingest/train.parquet", "data/ingest/challenge.parquet", "data/ingest/validation.parquet")
    assert STEP.inputs_of(settings_of()) == sets
    assert STEP.inputs_of(settings_of(model="transformer", pretrained="owner/name")) == sets
    assert STEP.inputs_of(settings_of(model="transformer", pretrained=str(tmp_path))) == (*sets, f"file:{tmp_path}")
    assert STEP.inputs_of(settings_of(model="transformer", pretrained="./nowhere")) == (*sets, "file:./nowhere")
    assert STEP.inputs_of(settings_of(model="probe")) == (*sets, "data/embed")
    assert STEP.inputs_of(settings_of(dynamics="mine")) == (sets[0], "file:mine")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"model": "bert"}, f"`train.model`: should be one of {', '.join(MODELS)}, but is 'bert'"),
        ({"epoch": 3}, "unknown key `train.epoch`; did you mean `epochs`?"),
        ({"epochs": 0}, "`train.epochs`: should be `auto` or a whole number of 1 or more, but is 0"),
        ({"learning_rate": "fast"}, "`train.learning_rate`: input should be a valid number"),
        ({"learning_rate": 0}, "`train.learning_rate`: input should be greater than 0"),
        ({"record": "always"}, "`train.record`: input should be 'train_pass' or 'epoch_end', but is 'always'"),
        ({"processes": 0}, "`train.processes`: should be `auto` or a whole number of 1 or more, but is 0"),
        ({"batch_size": 2, "gradient_accumulation": 3}, "gradient_accumulation cuts a batch into 3 parts, but batch_size is 2; lower it"),
        ({"model": "probe", "pretrained": "x/y"}, "model `probe` reads vectors that the step `embed` makes; name the encoder in"),
        ({"folds": 1}, "`train.folds`: should be 0 (none), or 2 or more, so that each row has models that did not see it, but is 1."),
        ({"folds": 3, "dynamics": "mine"}, "folds needs a training run, but the dynamics are imported; set folds to 0"),
        ({"model": "transformer"}, "model `transformer` needs `pretrained`: a model's folder, or a hub id"),
    ],
)
def test_wrong_parameters_say_what_is_expected(tmp_path: Path, section: dict[str, object], message: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump({"train": section}))
    with pytest.raises(InputError) as raised:
        load_settings(path, {"train": Train})
    assert message in str(raised.value)


def test_defaults_are_those_of_the_default_audit() -> None:
    written = yaml.safe_load((CODE / "params.yaml").read_text())["train"]
    assert {key: getattr(Train(), key) for key in written} == written
