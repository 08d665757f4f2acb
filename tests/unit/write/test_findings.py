from __future__ import annotations

import pyarrow as pa

from cartograph.clean.decisions import Decision
from cartograph.schema import NOISE, SUBSET, WEIGHTED_SUBSET, DatasetInfo, examples_schema
from cartograph.write.findings import findings
from cartograph.write.tables import KIND, TABLES, AuditKey, one_table, whole_schema

KEY = AuditKey("ab12" * 4, "reviews", 2)


def examples() -> pa.Table:
    info = DatasetInfo("train", "train", "single", ("text",), (), ("bad", "good"))
    columns = [["a", "b", "c"], ["x", "y", "z"], pa.array([0, 1, 1], pa.int32()), ["r.parquet"] * 3, [1, 2, 3]]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=examples_schema(info))


def noise() -> pa.Table:
    def row(uid: str, flagged: bool, suggested: int, rank: int) -> dict[str, object]:
        known = {"suggested": suggested, "suggested_probability": 0.8, "rank": rank}
        return {"uid": uid, "probability": 0.9, "flagged": flagged, **known, "reason": "why"}

    return pa.Table.from_pylist([row("a", True, -1, 2), row("b", False, 0, 3), row("c", True, 0, 1)], NOISE)


def found(weighted: bool = False) -> dict[str, pa.Table]:
    rows = {"uid": ["a", "b"], "label": [0, 1], **({"weight": [0.5, 1.5]} if weighted else {})}
    decisions = {"c": Decision("c", "drop", None, "ann", "wrong film")}
    return findings(KEY, examples(), noise(), decisions, pa.table(rows, WEIGHTED_SUBSET if weighted else SUBSET), "v1")


def test_suspects_come_by_rank_with_names_of_labels_and_their_place() -> None:
    suspects = found()["suspects"].to_pylist()
    assert [(one["uid"], one["row"], one["label"], one["suggested"], one["rank"]) for one in suspects] == [
        ("c", 3, "good", "bad", 1),
        ("a", 1, "bad", None, 2),
    ]
    assert {(one["audit"], one["workspace"], one["number"]) for one in suspects} == {(KEY.fingerprint, "reviews", 2)}


def test_decisions_and_cleaned_rows_are_those_given() -> None:
    tables = found()
    [decision] = tables["decisions"].to_pylist()
    assert (decision["uid"], decision["decision"], decision["new_label"], decision["decided_by"]) == ("c", "drop", None, "ann")
    assert [(one["uid"], one["label"], one["weight"], one["version"]) for one in tables["cleaned"].to_pylist()] == [
        ("a", "bad", None, "v1"),
        ("b", "good", None, "v1"),
    ]
    assert found(weighted=True)["cleaned"]["weight"].to_pylist() == [0.5, 1.5]
    assert {name: table.schema for name, table in tables.items()} == TABLES


def test_as_one_table_every_row_says_what_it_is() -> None:
    whole = one_table(found())
    assert whole.schema == whole_schema(TABLES)
    assert whole[KIND].to_pylist() == ["suspect", "suspect", "decision", "cleaned", "cleaned"]
    assert whole["decided_by"].to_pylist() == [None, None, "ann", None, None]
