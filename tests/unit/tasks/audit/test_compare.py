"""The steps `compare` and `gates`, on a workspace made by hand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.clean.reviewed import DECIDED
from cartograph.errors import GateError
from cartograph.schema import FEATURES, MEASURES, VALUES, Feature, dataset_info, examples_schema
from tasks.audit import compare, gates
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.cleaning import make_examples, make_noise
from tests.workspaces import make_workspace, save

SIZE = 40
SOURCES = {"source": "files", "train": "x.csv", "text": "text", "evaluation": {"test": ["y.csv"]}}


class Space:
    """A workspace whose rows, map and suspects are made by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gates: dict[str, Any] = {}

    @property
    def space(self) -> Workspace:
        return make_workspace(self.path, ingest=SOURCES, noise={}, compare={}, gates=self.gates)

    def fill(self, rows: int, suspects: list[str], accuracy: float = 0.9, wrong: str = "", failed: str = "") -> None:
        """Write what the steps before leave; the row ``wrong`` has another label than in other calls."""
        named = [(f"u{number:03}", f"text {number}", (number + (f"u{number:03}" == wrong)) % 3) for number in range(rows)]
        examples = make_examples(named)
        save(examples, self.path / "data/ingest/train.parquet")
        save(make_noise(examples, dict.fromkeys(suspects, (1, 0.9))), self.path / "data/noise/noise.parquet")
        self.write("data/noise/noise.json", {"unknown": None})
        plain: dict[str, Any] = dict.fromkeys(MEASURES.names)
        plain |= {"confidence": 0.5, "variability": 0.2, "correctness": 0.5, "threshold_closeness": 0.2, "region": "ambiguous"}
        measures = [{**plain, "uid": uid, "gold": label} for uid, _, label in named]
        save(pa.Table.from_pylist(measures, MEASURES), self.path / "data/measure/measures.parquet")
        check = {"check": failed, "passed": False, "severity": "critical", "expected": "none", "found": "2 rows"}
        checks = [{"set": "train", "checks": [check] if failed else []}]
        self.write("data/ingest/validation.json", {"sets": checks, "quarantine": {"empty text": 1}})
        self.write("data/clean/validation.json", {"sets": []})
        save(DECIDED.empty_table(), self.path / "data/clean/decided.parquet")
        self.write("reports/ingest.metrics.json", {"quarantined": 1, "quarantined.share": 1 / (rows + 1), "validation.failed": 0})
        self.write("data/train/training.json", {"learning": {"state": "learnt", "sentence": ""}})
        self.write("reports/train.metrics.json", {"test.accuracy": accuracy})
        self.write("reports/measure.metrics.json", {"region.ambiguous.share": 1.0})
        self.write("reports/noise.metrics.json", {"suspects": len(suspects), "suspects.share": len(suspects) / rows})

    def write(self, name: str, content: Any) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))

    def read(self, name: str) -> Any:
        return json.loads((self.path / name).read_text())

    def run(self) -> list[str]:
        return [run_step(step, self.space).receipt.summary for step in (compare.STEP, gates.STEP)]

    def outcome(self, gate: str) -> tuple[str, str]:
        [found] = [found for found in self.read("data/gates/gates.json")["gates"] if found["gate"] == gate]
        return found["outcome"], found["sentence"]


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return Space(tmp_path)


def test_a_first_audit_has_nothing_to_be_held_against(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    assert space.run()[0] == "no earlier audit of other rows, labels or parameters"
    assert not (space.path / "data/compare/comparison.json").exists()
    assert space.read("reports/compare.metrics.json") == {"audit.number": 1}
    later = ("new_suspects", "changed_suspects", "class_shift", "accuracy_drop")
    assert {space.outcome(gate) for gate in later} == {("unknown", "No earlier audit of other rows, labels or parameters to compare with.")}


def test_an_accuracy_on_another_set_than_before_is_not_compared(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    space.run()
    space.fill(SIZE, ["u001"])
    space.write("reports/train.metrics.json", {"other.accuracy": 0.1})
    space.run()
    assert space.outcome("accuracy_drop") == ("unknown", "No evaluation set that the last audit had, too.")


def test_the_second_audit_is_held_against_the_first_and_the_third_against_the_second(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    space.run()
    space.fill(SIZE + 4, ["u002", "u041"], accuracy=0.8, wrong="u002")
    assert space.run() == ["4 added, 1 relabelled; suspects +2 -1", "4 warned, 5 passed"]
    metrics = space.read("reports/compare.metrics.json")
    assert (metrics["audit.number"], metrics["rows.added"], metrics["rows.relabelled"], metrics["suspects.new"]) == (2, 4, 1, 2)
    outcome, sentence = space.outcome("new_suspects")
    assert outcome == "warned"
    assert sentence == (
        "2 of 44 labels look wrong that did not in the last audit (4.5\u00a0%), and `gates.new_suspects.warn` is 2 %: "
        "'u002', 'u041' (all: data/compare/rows.parquet)."
    )
    assert space.outcome("changed_suspects") == (
        "warned",
        "2 of 5 labels added or changed since the last audit look wrong (40\u00a0%; at least 7.6\u00a0% with 95 % confidence), "
        "and `gates.changed_suspects.warn` is 5 %: 'u002', 'u041' (all: data/compare/rows.parquet).",
    )
    assert space.outcome("accuracy_drop") == (
        "warned",
        "Accuracy on test went from 0.900 to 0.800, and `gates.accuracy_drop.warn` is 3 points.",
    )
    assert space.read("data/compare/record.json")["earlier"][0]["rows"] == SIZE
    space.fill(SIZE, ["u002"])
    space.run()
    assert space.read("data/compare/comparison.json")["audits"] == [2, 3]
    assert [numbers["rows"] for numbers in space.read("data/compare/record.json")["earlier"]] == [SIZE, SIZE + 4]


def test_suspects_among_new_rows_are_counted_apart_from_those_among_old_rows(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    space.run()
    space.fill(SIZE, ["u002"])
    space.run()
    assert space.outcome("new_suspects")[0] == "warned"
    assert space.outcome("changed_suspects") == ("passed", "No row was added or changed since the last audit.")
    space.fill(SIZE + 20, ["u001", "u041"])
    space.run()
    said = "1 of 20 labels added or changed since the last audit looks wrong (5\u00a0%; at least 0.3\u00a0% with 95 % confidence)."
    assert space.outcome("changed_suspects") == ("passed", said)


def test_the_columns_of_a_table_are_compared_with_those_of_the_audit_before(space: Space) -> None:
    def fill(shift: float, suspects: list[str]) -> None:
        space.fill(SIZE, suspects)
        by_hand = pq.read_table(space.path / "data/ingest/train.parquet")
        drawn = np.random.default_rng(1).normal(size=SIZE)
        info = dataclasses.replace(dataset_info(by_hand.schema), task="table", text=(FEATURES,), features=(Feature("age", "number"),))
        columns = {name: by_hand[name] for name in by_hand.column_names if name != "text"}
        columns |= {FEATURES: [""] * SIZE, VALUES: [{"age": float(value + shift)} for value in drawn]}
        schema = examples_schema(info)
        save(pa.table({name: columns[name] for name in schema.names}, schema=schema), space.path / "data/ingest/train.parquet")

    fill(0.0, ["u001"])
    space.run()
    fill(0.0, ["u002"])
    assert "drifted" not in space.run()[0]
    assert space.read("reports/compare.metrics.json")["columns.drifted"] == 0
    fill(3.0, ["u003"])
    assert space.run()[0].endswith("; 1 column drifted")
    metrics, [column] = space.read("reports/compare.metrics.json"), space.read("data/compare/comparison.json")["columns"]
    assert metrics["columns.drifted"] == 1 and metrics["columns.distance"] == column["distance"] > 0.8
    assert column["name"] == "age" and "in the middle, now" in column["why"][0]


def test_the_same_audit_again_is_no_new_audit(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    space.run()
    space.fill(SIZE, ["u002"])
    space.run()
    before = {path.name: path.read_bytes() for path in (space.path / "data/compare").iterdir()}
    assert run_step(compare.STEP, space.space, force=True).executed
    assert {path.name: path.read_bytes() for path in (space.path / "data/compare").iterdir()} == before


def test_what_the_last_audit_left_may_be_broken(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    space.run()
    (space.path / "data/compare/record.json").write_text("{")
    space.fill(SIZE, ["u002"])
    assert space.run()[0] == "no earlier audit of other rows, labels or parameters"


@pytest.mark.parametrize("audits", [1, 2])
@pytest.mark.parametrize("name", ["record.parquet", "record.json"])
def test_a_damaged_record_is_neither_compared_with_nor_the_end_of_what_is_remembered(space: Space, audits: int, name: str) -> None:
    for number in range(audits):
        space.fill(SIZE, [f"u00{number}"])
        space.run()
    folder = space.path / "data/compare"
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    if name.endswith(".json"):
        (folder / name).write_bytes(written[name].replace(b'"rows": 40', b'"rows": 41'))
    else:
        rows = pq.read_table(folder / name)
        place = rows.schema.get_field_index("variability")
        save(rows.set_column(place, rows.schema.field(place), pa.array([0.25] * SIZE)), folder / name)
    assert (folder / name).read_bytes() != written[name]
    assert run_step(compare.STEP, space.space).executed
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == written


def test_a_record_of_an_earlier_version_is_compared_with(space: Space) -> None:
    space.fill(SIZE, ["u001"])
    space.run()
    facts = space.read("data/compare/record.json")
    del facts["digest"]
    space.write("data/compare/record.json", facts)
    space.fill(SIZE, ["u002"])
    assert space.run()[0] == "the same rows; suspects +1 -1"


def test_a_gate_that_fails_ends_the_audit_with_its_sentence(space: Space) -> None:
    space.gates = {"suspects": {"fail": 0.05}}
    space.fill(SIZE, ["u001"], failed="uids are unique")
    assert space.run()[1].startswith("1 failed, 1 warned")
    with pytest.raises(GateError, match=r"^1 critical check of the data failed, and `gates\.failed_critical_checks\.fail` is 1: "):
        gates.check_gates(space.space)
    space.fill(SIZE, ["u001", "u002", "u003"])
    space.run()
    with pytest.raises(GateError, match=r"^3 of 40 labels look wrong \(7\.5\u00a0%\), and `gates\.suspects\.fail` is 5 %: 'u001', 'u002'"):
        gates.check_gates(space.space)
    assert space.read("reports/gates.metrics.json")["gate.suspects"] == 2
    space.fill(SIZE, [])
    space.run()
    gates.check_gates(space.space)
