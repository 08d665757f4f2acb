"""The step hold_out: what is not held out is cleaned as if the rest were not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.schema import SUBSET
from tasks.audit.held_out import held_out_set
from tasks.audit.hold_out import STEP
from tasks.audit.parameters.retrain import Retrain
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tasks.pipelines import STEPS
from tests.cleaning import make_noise
from tests.training_sets import SMALL_TRAINING, small_set
from tests.workspaces import make_workspace, save

ROWS, WRONG = 200, 16


class Audit:
    """A workspace of an audit without an evaluation set, some of its labels wrong, up to the step."""

    def __init__(self, path: Path, *, recipe: str = "drop-flagged", detector: str = "committee") -> None:
        rows = small_set(rows=ROWS)
        wrong = np.random.default_rng(7).choice(ROWS, WRONG, replace=False)
        labels = rows["label"].to_numpy().copy()
        labels[wrong] = 1 - labels[wrong]
        self.path, self.wrong = path, {rows["uid"][int(row)].as_py() for row in wrong}
        self.rows = rows.set_column(rows.schema.get_field_index("label"), rows.schema.field("label"), pa.array(labels, pa.int32()))
        self.space: Workspace = make_workspace(
            path, self.rows, train=SMALL_TRAINING, noise={}, clean={"recipe": recipe}, retrain={}, hold_out={}
        )
        self.held = set(held_out_set(Retrain(), self.rows)["uid"].to_pylist())
        # By hand: every row that is held out is said to be wrong, and none of the others.
        save(make_noise(self.rows, dict.fromkeys(sorted(self.held), (0, 0.99))), path / "data/noise/noise.parquet")
        self.write("data/noise/noise.json", {"detector": detector, "calibrated": True, "unknown": None, "wrong": None})
        self.write("data/clean/arms.json", {"used": recipe})
        whole = self.rows.select(["uid", "label"]).cast(SUBSET)
        for name in ("cleaned", "random"):
            save(whole.slice(0, 150), path / f"data/select/{name}.parquet")

    def write(self, name: str, content: Any) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(json.dumps(content))

    def run(self) -> tuple[set[str], set[str]]:
        run_step(STEP, self.space)
        cleaned, random = (
            set(pq.read_table(self.path / f"data/hold_out/{name}.parquet")["uid"].to_pylist()) for name in ("cleaned", "random")
        )
        return cleaned, random


def test_suspects_are_found_again_among_the_rows_that_are_not_held_out(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    cleaned, random = audit.run()
    rest = set(audit.rows["uid"].to_pylist()) - audit.held
    assert 0 < len(audit.held) < ROWS // 4 and cleaned < rest and random < rest and len(random) == len(cleaned)
    dropped, wrong = rest - cleaned, audit.wrong - audit.held
    assert len(dropped & wrong) >= 0.4 * len(wrong) and len(dropped - wrong) <= 2


@pytest.mark.parametrize(("recipe", "detector"), [("decisions-only", "committee"), ("drop-flagged", "measures")])
def test_where_nothing_is_doubted_anew_the_list_of_all_rows_counts(tmp_path: Path, recipe: str, detector: str) -> None:
    audit = Audit(tmp_path, recipe=recipe, detector=detector)
    cleaned, _ = audit.run()
    assert cleaned == set(audit.rows["uid"].to_pylist()) - audit.held


def test_decisions_count_and_where_they_leave_no_row_of_a_class_the_cleaned_rows_of_all_are_taken(tmp_path: Path) -> None:
    audit = Audit(tmp_path, recipe="decisions-only")
    rest = [uid for uid in audit.rows["uid"].to_pylist() if uid not in audit.held]
    (tmp_path / "review").mkdir()
    decided = tmp_path / "review/decisions.csv"
    head = "uid,decision,new_label,by,comment\n"
    held_out = sorted(audit.held)[0]
    decided.write_text(f"{head}{rest[0]},drop,,Ann,\n{held_out},drop,,Ann,\n")
    assert audit.run()[0] == set(rest[1:])
    label = dict(zip(audit.rows["uid"].to_pylist(), audit.rows["label"].to_pylist(), strict=True))
    decided.write_text(head + "".join(f"{uid},drop,,Ann,\n" for uid in rest if label[uid] == 1))
    assert audit.run()[0] == set(audit.rows["uid"].to_pylist()[:150]) - audit.held


def test_an_audit_with_an_evaluation_set_or_without_retraining_has_no_such_step(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    assert STEP in STEPS and STEP.when(audit.space.settings)
    for name, own in (("one", {"subsets": []}), ("two", {"held_out": 0.0})):
        space = make_workspace(tmp_path / name, audit.rows, train=SMALL_TRAINING, noise={}, clean={}, retrain=own)
        assert not STEP.when(space.settings)
    test = small_set(rows=20, seed=9, name="test", domain="id")
    space = make_workspace(tmp_path / "three", audit.rows, test, train=SMALL_TRAINING, noise={}, clean={}, retrain={})
    assert not STEP.when(space.settings)
