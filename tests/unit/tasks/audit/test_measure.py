from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.config import load_settings
from cartograph.dynamics.epoch_files import dynamics_table
from cartograph.errors import InputError
from cartograph.maps.measures import compute_measures
from cartograph.maps.regions import assign_regions
from cartograph.maps.table import BURN_OUT
from cartograph.schema import COORDINATES, MEASURES, DatasetInfo, examples_schema
from tasks.audit.measure import STEP, run
from tasks.audit.parameters.measure import Measure
from tasks.engine.digest import digest_path

LABELS = ("no", "maybe", "yes")


class Audit:
    """A train set and its dynamics on disk, and where the step writes."""

    def __init__(self, folder: Path, n: int = 60, epochs: int = 4) -> None:
        rng = np.random.default_rng(1)
        self.folder = folder
        self.uids = [f"r{row:03}" for row in range(n)]
        self.gold = rng.integers(0, 3, n).astype(np.int32)
        self.logits = rng.normal(0, 2, (n, epochs, 3)).astype(np.float32)
        self.inputs = {"data/ingest/train.parquet": folder / "train.parquet", "data/train": folder / "train"}
        (folder / "train" / "dynamics").mkdir(parents=True)
        self.write_rows(self.uids, self.gold)
        self.write_dynamics()
        (folder / "train" / "training.json").write_text(json.dumps({"model": "bow", "epochs": epochs, "record": "train_pass"}))

    def write_rows(self, uids: list[str], gold: np.ndarray, labels: tuple[str, ...] = LABELS) -> None:
        schema = examples_schema(DatasetInfo("train", "train", "single", ("text",), (), labels))
        n = len(uids)
        columns = [uids, ["some text"] * n, np.asarray(gold, np.int32), ["rows.csv"] * n, list(range(1, n + 1))]
        table = pa.Table.from_arrays([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
        pq.write_table(table.take(list(reversed(range(n)))), self.inputs["data/ingest/train.parquet"])

    def write_dynamics(self) -> None:
        for epoch in range(self.logits.shape[1]):
            table = dynamics_table(pa.array(self.uids), self.gold, self.logits[:, epoch])
            pq.write_table(table, self.folder / "train" / "dynamics" / f"epoch={epoch}.parquet")

    def write_coordinates(self, columns: dict[str, object]) -> None:
        pq.write_table(pa.table(columns, schema=COORDINATES), self.folder / "train" / "coordinates.parquet")

    def run(self, name: str = "out", **params: object) -> tuple[str, dict[str, Path]]:
        out = {output: self.folder / name / output for output in STEP.outputs_of({})}
        for path in out.values():
            (path.parent if path.suffix else path).mkdir(parents=True, exist_ok=True)
        return run(Measure(**params), self.inputs, out), out


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path)


def test_it_writes_the_measures_of_the_dynamics_with_regions_metrics_and_figures(audit: Audit) -> None:
    summary, out = audit.run(include_ci=True, burn_in=1)
    table = pq.read_table(out["data/measure"] / "measures.parquet")
    assert table.schema.equals(MEASURES)
    assert table.column("uid").to_pylist() == audit.uids
    expected = compute_measures(audit.uids, audit.logits, audit.gold, burn_in=1, include_ci=True)
    for name in ("confidence", "variability", "correctness", "predicted", "aum", "el2n", "loss", "never_learnt"):
        assert np.array_equal(table.column(name).to_numpy(), getattr(expected, name)), name
    assert pq.read_table(out["data/measure"] / "burn_out.parquet").column("epochs").to_pylist() == [1, 2, 3]
    metrics = json.loads(out["reports/measure.metrics.json"].read_text())
    names = assign_regions(audit.uids, expected.confidence, expected.variability).names.tolist()
    assert table.column("region").to_pylist() == names
    assert [metrics[f"region.{name}.count"] for name in ("easy-to-learn", "ambiguous", "hard-to-learn", "unassigned")] == [1, 20, 6, 33]
    assert [metrics[f"region.{name}.listed"] for name in ("easy-to-learn", "ambiguous", "hard-to-learn")] == [20, 20, 6]
    hard = table.filter(pc.equal(table.column("region"), "hard-to-learn")).column("confidence").to_numpy().max()
    assert f"hard ≤ {hard:.3f}".replace("0.", ".") in summary
    assert summary.startswith("confidence easy ≥ .")
    assert len(summary) <= 58
    assert out["reports/figures/data_map.png"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in out["reports/figures/data_map.svg"].read_text()


def test_dynamics_out_of_fold_become_measures_in_the_same_window(audit: Audit) -> None:
    held = np.random.default_rng(5).normal(0, 1, audit.logits.shape).astype(np.float32)
    folder = audit.folder / "train" / "out_of_fold"
    folder.mkdir()
    for epoch in range(held.shape[1]):
        pq.write_table(dynamics_table(pa.array(audit.uids), audit.gold, held[:, epoch]), folder / f"epoch={epoch}.parquet")
    _, out = audit.run(burn_in=1)
    table = pq.read_table(out["data/measure"] / "measures.parquet")
    expected = compute_measures(audit.uids, held, audit.gold, burn_in=1)
    for name, measure in (("confidence", "confidence"), ("variability", "variability"), ("margin", "aum")):
        assert np.array_equal(table.column(f"out_of_fold_{name}").to_numpy(), getattr(expected, measure)), name
    assert np.array_equal(table.column("aum").to_numpy(), compute_measures(audit.uids, audit.logits, audit.gold, burn_in=1).aum)
    assert json.loads(out["reports/measure.metrics.json"].read_text())["out_of_fold_margin.mean"] == pytest.approx(
        expected.aum.mean(), abs=1e-6
    )
    pq.write_table(dynamics_table(pa.array(audit.uids[:-1]), audit.gold[:-1], held[:-1, 0]), folder / "epoch=0.parquet")
    with pytest.raises(InputError, match=r"out_of_fold: the epochs do not hold the same uids: epoch 0 lacks 1 uid \('r059'\)"):
        audit.run("again")


def test_the_same_input_gives_the_same_bytes_and_neither_time_nor_place_is_in_them(audit: Audit) -> None:
    _, first = audit.run("first")
    _, second = audit.run("second/deeper")
    for name in first:
        assert digest_path(first[name]) == digest_path(second[name]), name


def test_the_title_says_which_data_and_model(audit: Audit) -> None:
    _, out = audit.run()
    assert ">rows.csv · bow · 4 epochs</text>" in out["reports/figures/data_map.svg"].read_text()


def test_coordinates_alone_make_a_map_without_what_needs_logits(audit: Audit) -> None:
    n = len(audit.uids)
    rng = np.random.default_rng(2)
    audit.write_coordinates(
        {"uid": audit.uids[::-1], "confidence": rng.random(n), "variability": rng.random(n) / 2, "correctness": np.ones(n)}
    )
    summary, out = audit.run()
    assert summary.endswith("(no logits)")
    table = pq.read_table(out["data/measure"] / "measures.parquet")
    assert table.column("gold").to_numpy().tolist() == audit.gold.tolist()
    assert table.column("predicted").null_count == table.column("aum").null_count == n
    assert pq.read_table(out["data/measure"] / "burn_out.parquet").equals(BURN_OUT.empty_table())
    with pytest.raises(
        InputError,
        match=r"`burn_in` of `measure` needs dynamics per epoch, but .*coordinates\.parquet holds finished coordinates; leave it out",
    ):
        audit.run(burn_in=1)


def test_uids_that_do_not_match_the_data_are_counted_and_shown(audit: Audit) -> None:
    audit.write_rows([*audit.uids[:-2], "x1", "x2", "x3", "x4"], [*audit.gold, 0, 0])
    with pytest.raises(InputError) as error:
        audit.run()
    message = str(error.value)
    assert "does not belong to this train set: 4 of the 62 uids of the data are not in the map's source ('x1', 'x2', 'x3', …)" in message
    assert "2 of its 60 uids are not in the data ('r058', 'r059'); train on this data, or import what belongs to it." in message


def test_a_uid_twice_in_coordinates_is_found(audit: Audit) -> None:
    n = len(audit.uids) + 1
    ones = np.ones(n)
    audit.write_coordinates({"uid": [*audit.uids, "r007"], "confidence": ones, "variability": ones / 4, "correctness": ones})
    with pytest.raises(InputError, match="some uid is there more than once"):
        audit.run()


def test_labels_that_do_not_match_the_data_are_counted_and_shown(audit: Audit) -> None:
    other = audit.gold.copy()
    other[[4, 9]] = (other[[4, 9]] + 1) % 3
    audit.write_rows(audit.uids, other)
    was, now = audit.gold[4], other[4]
    with pytest.raises(InputError) as error:
        audit.run()
    expected = f"uid 'r004' was trained as {was} ({LABELS[was]}) but has label {now} ({LABELS[now]}) in the data, one of 2 such rows"
    assert expected in str(error.value)


def test_another_number_of_classes_is_refused(audit: Audit) -> None:
    audit.write_rows(audit.uids, audit.gold, ("a", "b", "c", "d"))
    with pytest.raises(InputError, match=r"have 3 classes and the data has 4 \(a, b, c, d\)"):
        audit.run()


def test_epochs_that_are_not_there_are_refused(audit: Audit) -> None:
    with pytest.raises(InputError, match=r"`burn_in` skips 4 epochs and the dynamics have 4: none is left"):
        audit.run(burn_in=4)
    with pytest.raises(InputError, match=r"`epochs` asks for 9 epochs and the dynamics have 4"):
        audit.run(epochs=9)


def test_one_epoch_is_said_to_have_no_variability(audit: Audit) -> None:
    summary, out = audit.run(epochs=1)
    assert "none varied" in summary
    assert pq.read_table(out["data/measure"] / "measures.parquet").column("variability").to_numpy().max() == 0


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"epochs": "some"}, r"`measure\.epochs`: should be `all` or a whole number of 1 or more, but is 'some'\.$"),
        ({"epochs": 0}, r"`measure\.epochs`: should be `all` or a whole number of 1 or more, but is 0\.$"),
        ({"epochs": True}, r"but is True\.$"),
        ({"hard": 0}, r"`measure\.hard`: input should be greater than 0, but is 0\.$"),
        ({"hard": 0.5}, r"`measure`: easy, ambiguous and hard add up to 1\.16; lower them to 1 or less, the remainder is unassigned\.$"),
        ({"burn_in": -1}, r"`measure\.burn_in`: input should be greater than or equal to 0, but is -1\.$"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(section: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump({"measure": section}))
    with pytest.raises(InputError, match=message):
        load_settings(path, {"measure": Measure})


@pytest.mark.realdata
def test_the_published_winogrande_map(tmp_path: Path, real_data: Path) -> None:
    lines = (real_data / "winogrande" / "roberta_large_coordinates.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    texts = {
        row["guid"]: row for row in map(json.loads, (real_data / "winogrande" / "train_xl.jsonl").read_text(encoding="utf-8").splitlines())
    }
    audit = Audit(tmp_path)
    uids = [str(row["guid"]) for row in rows]
    gold = np.array([int(texts[row["guid"]]["answer"]) - 1 for row in rows])
    audit.write_rows(uids, gold, ("1", "2"))
    columns = {name: [row[name] for row in rows] for name in ("confidence", "variability")}
    audit.write_coordinates({"uid": uids, **columns, "correctness": [row["correctness"] / 6 for row in rows]})
    (tmp_path / "train" / "training.json").write_text(json.dumps({"model": "RoBERTa-large", "epochs": 6}))
    summary, out = audit.run()
    metrics = json.loads(out["reports/measure.metrics.json"].read_text())
    assert metrics["confidence.mean"] == pytest.approx(0.8974, abs=5e-5)
    assert metrics["variability.mean"] == pytest.approx(0.1480, abs=5e-5)
    counts = [metrics[f"region.{name}.count"] for name in ("easy-to-learn", "ambiguous", "hard-to-learn", "unassigned")]
    assert counts == [13_331, 13_310, 80, 13_677]
    assert [metrics[f"region.hard-to-learn.{name}"] for name in ("listed", "elsewhere")] == [4_040, 3_786]
    assert summary == "easy ≥ .937, hard ≤ .499; ambiguous ≥ .191 (no logits)"
    table = pq.read_table(out["data/measure"] / "measures.parquet")
    hardest = table.sort_by("confidence").slice(0, 10).column("uid").to_pylist()
    assert any(texts[int(uid)]["sentence"].startswith("Christopher had a private jet") for uid in hardest)
    assert out["reports/figures/data_map.svg"].stat().st_size < 1_000_000
