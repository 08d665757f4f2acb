"""The step evaluation_labels, run through the machinery of steps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.features.vectors import write_features
from tasks.audit.evaluation_labels import DATA, METRICS, STEP
from tasks.engine.running import run_step
from tasks.pipelines import STEPS
from tests.training_sets import SMALL_TRAINING, small_set
from tests.workspaces import make_workspace


def mislabelled(rows: pa.Table, number: int) -> pa.Table:
    labels = rows["label"].to_numpy().copy()
    labels[:number] = 1 - labels[:number]
    return rows.set_column(rows.schema.get_field_index("label"), rows.schema.field("label"), pa.array(labels, pa.int32()))


def test_the_sets_of_the_train_sets_distribution_are_looked_at(tmp_path: Path) -> None:
    test = mislabelled(small_set(rows=100, seed=8, name="test", domain="id"), 6)
    far = small_set(rows=30, seed=5, name="far", domain="ood")
    space = make_workspace(tmp_path, small_set(rows=300), test, far, train=SMALL_TRAINING, noise={}, evaluation_labels={"train_rows": 200})
    assert STEP in STEPS and STEP.when(space.settings)
    assert STEP.inputs_of(space.settings) == ("data/ingest/train.parquet", "data/ingest/test.parquet")
    summary = run_step(STEP, space).receipt.summary
    record = json.loads((tmp_path / DATA / "evaluation_labels.json").read_text())
    assert list(record) == ["test"] and record["test"]["rows"] == 100
    found = pq.read_table(tmp_path / DATA / "test.parquet").sort_by("rank")
    assert len(set(found["uid"].to_pylist()[:6]) & set(test["uid"].to_pylist()[:6])) >= 5
    assert summary == f"test {record['test']['suspects']} of 100"
    assert json.loads((tmp_path / METRICS).read_text())["test.suspects"] == record["test"]["suspects"] >= 5


def test_an_encoders_vectors_are_read_where_there_are_some(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sets = {"train": small_set(rows=300), "test": mislabelled(small_set(rows=100, seed=4, name="test", domain="id"), 6)}
    space = make_workspace(tmp_path, *sets.values(), train=SMALL_TRAINING, noise={}, evaluation_labels={}, embed={"pretrained": "encoder"})
    run = []
    for signal in (0.0, 6.0):
        for name, rows in sets.items():
            true = rows["label"].to_numpy().copy()
            true[:6] = 1 - true[:6] if name == "test" else true[:6]
            vectors = rng.normal(size=(rows.num_rows, 4)).astype(np.float32)
            vectors[:, 0] += signal * true
            (tmp_path / "data/embed").mkdir(exist_ok=True)
            write_features(rows["uid"], vectors, tmp_path / f"data/embed/{name}.parquet")
        run_step(STEP, space)
        run.append(pq.read_table(tmp_path / DATA / "test.parquet")["probability"].to_numpy())
    assert "data/embed" in STEP.inputs_of(space.settings)
    assert not np.allclose(*run)
    assert run[1][:6].min() > 0.9


def test_of_one_class_nothing_is_said_and_nothing_breaks(tmp_path: Path) -> None:
    def alike(rows: pa.Table) -> pa.Table:
        return rows.set_column(rows.schema.get_field_index("label"), rows.schema.field("label"), pa.array([0] * len(rows), pa.int32()))

    test = alike(small_set(rows=10, seed=4, name="test", domain="id"))
    space = make_workspace(tmp_path, alike(small_set(rows=30)), test, train=SMALL_TRAINING, noise={}, evaluation_labels={})
    assert run_step(STEP, space).receipt.summary == "test 0 of 10"
    record = json.loads((tmp_path / DATA / "evaluation_labels.json").read_text())
    assert "without a second class" in record["test"]["why"]


def test_without_such_a_set_or_without_suspects_there_is_no_such_step(tmp_path: Path) -> None:
    rows = small_set(rows=30)
    for place, (sets, more) in enumerate((((), {"noise": {}}), ((small_set(rows=9, seed=2, name="far", domain="ood"),), {"noise": {}}))):
        space = make_workspace(tmp_path / str(place), rows, *sets, train=SMALL_TRAINING, evaluation_labels={}, **more)
        assert not STEP.when(space.settings)


def test_where_a_word_tells_the_label_there_is_no_number(tmp_path: Path) -> None:
    def named(rows: pa.Table) -> pa.Table:
        texts = [
            f"{text} [{('quiet', 'loud')[label]}]" for text, label in zip(rows["text"].to_pylist(), rows["label"].to_pylist(), strict=True)
        ]
        return rows.set_column(rows.schema.get_field_index("text"), rows.schema.field("text"), pa.array(texts))

    test = named(mislabelled(small_set(rows=600, seed=4, name="test", domain="id"), 40))
    space = make_workspace(tmp_path, named(small_set(rows=600)), test, train=SMALL_TRAINING, noise={}, evaluation_labels={"rows": 550})
    run_step(STEP, space)
    record = json.loads((tmp_path / DATA / "evaluation_labels.json").read_text())["test"]
    assert (record["rows"], record["wrong"], record["unknown"], record["leaked_words"]) == (550, None, "leaked", True)
