from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.clean.decisions import Decision
from cartograph.dynamics.decision_rows import decision_classes, decision_names, decision_rows
from cartograph.schema import NOISE, SUBSET, DatasetInfo, examples_schema
from cartograph.write.label_findings import label_findings
from cartograph.write.tables import KIND, LABEL_TABLES, AuditKey, one_table

KEY = AuditKey("ab12" * 4, "films", 2)
NAMES = ("love", "war: a history")
GIVEN = np.array([[1, 0], [0, 1], [1, 1]])


def answers() -> pa.Table:
    """Three rows with two labels each; one uid holds what joins a uid and a label."""
    info = DatasetInfo("train", "train", "single", ("text",), (), ("x", "y"))
    uids = np.array(["a", "b#1", "c"], dtype=object)
    columns = [uids.tolist(), ["s", "t", "u"], pa.array([0, 0, 1], pa.int32()), ["f.csv"] * 3, [1, 2, 3]]
    rows = pa.Table.from_arrays([pa.array(column) for column in columns], schema=examples_schema(info))
    named = decision_names(uids, NAMES).ravel()
    order = np.argsort(named)
    labels = 2 * np.tile([0, 1], 3)[order] + GIVEN.ravel()[order]
    return decision_rows(rows.take(pa.array(order // 2)), named[order], decision_classes(NAMES), labels)


@pytest.fixture
def found() -> dict[str, pa.Table]:
    own = answers()

    def doubt(uid: str, flagged: bool, suggested: int, rank: int) -> dict[str, object]:
        known = {"suggested": suggested, "suggested_probability": 0.8, "rank": rank}
        return {"uid": uid, "probability": 0.9, "flagged": flagged, **known, "reason": "why"}

    noise = [doubt("a#love", True, 0, 2), doubt("b#1#war: a history", True, 2, 1), doubt("c#love", False, 0, 3)]
    decisions = {
        "a#war: a history": Decision("a#war: a history", "relabel", "war: a history: yes", "ann", "it is"),
        "c#love": Decision("c#love", "drop", None, "bob"),
    }
    after = {"a#love": 0, "a#war: a history": 3, "b#1#love": 0, "b#1#war: a history": 2}
    cleaned = pa.table({"uid": list(after), "label": list(after.values())}, SUBSET)
    return label_findings(KEY, own, pa.Table.from_pylist(noise, NOISE), decisions, cleaned, "v1")


def test_suspects_name_row_label_and_both_answers(found: dict[str, pa.Table]) -> None:
    shown = [
        tuple(row[name] for name in ("uid", "label", "row", "given", "suggested", "rank")) for row in found["label_suspects"].to_pylist()
    ]
    assert shown == [("b#1", "war: a history", 2, "yes", "no", 1), ("a", "love", 1, "yes", "no", 2)]


def test_decisions_name_row_label_and_answer(found: dict[str, pa.Table]) -> None:
    shown = [
        tuple(row[name] for name in ("uid", "label", "decision", "answer", "decided_by")) for row in found["label_decisions"].to_pylist()
    ]
    assert shown == [("a", "war: a history", "relabel", "yes", "ann"), ("c", "love", "drop", None, "bob")]


def test_cleaned_rows_say_which_labels_they_got_and_lost(found: dict[str, pa.Table]) -> None:
    shown = [tuple(row[name] for name in ("uid", "row", "version", "added", "removed")) for row in found["label_cleaned"].to_pylist()]
    assert shown == [("a", 1, "v1", '["war: a history"]', '["love"]'), ("b#1", 2, "v1", "[]", '["war: a history"]')]


def test_the_tables_are_those_declared_and_one_in_a_lake(found: dict[str, pa.Table]) -> None:
    assert {name: table.schema for name, table in found.items()} == LABEL_TABLES
    assert one_table(found)[KIND].to_pylist() == ["suspect", "suspect", "decision", "decision", "cleaned", "cleaned"]
