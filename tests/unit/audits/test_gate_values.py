from __future__ import annotations

from typing import Any

import pyarrow as pa

from cartograph.audits.gate_values import (
    accuracy_drop_value,
    check_values,
    class_shift_value,
    cleaning_value,
    quarantine_value,
    suspect_values,
    training_value,
)
from cartograph.audits.gates import GateValue

ROWS = pa.table({"uid": [f"u{row}" for row in range(7)], "source": ["a.csv"] * 7, "row": range(1, 8)})


def noise(flagged: list[bool]) -> pa.Table:
    return pa.table({"uid": [f"u{row}" for row in range(len(flagged))], "flagged": flagged, "rank": range(len(flagged), 0, -1)})


def changes(*rows: tuple[str, str]) -> pa.Table:
    return pa.table({"uid": pa.array([uid for uid, _ in rows], pa.string()), "what": pa.array([what for _, what in rows], pa.string())})


def values(found: Any) -> dict[str, GateValue]:
    return {item.gate: item for item in found}


def test_suspects_are_named_from_the_most_doubtful_on() -> None:
    [first, *later] = suspect_values(noise([True, False, True, False]), None, ROWS)
    assert first == GateValue(
        "suspects", 0.5, "2 of 4 labels look wrong (50\u00a0%)", rows=["'u2'", "'u0'"], where="data/noise/noise.parquet"
    )
    assert later == [GateValue("new_suspects", None), GateValue("changed_suspects", None)]
    [many, *_] = suspect_values(noise([True] * 7), None, ROWS)
    assert many.rows == [] and many.where == "data/noise/noise.parquet", "a few of many say nothing"


def test_where_it_is_unknown_how_many_labels_are_wrong_suspects_are_worth_a_second_look() -> None:
    [first, new, _] = suspect_values(noise([True, False, True, False]), changes(("u0", "new suspect")), ROWS, known=False)
    assert first.statement == "2 of 4 labels are worth a second look (50\u00a0%)"
    assert new.statement == "1 of 4 labels is worth a second look that was not in the last audit (25\u00a0%)"


def test_rows_without_a_uid_of_their_own_are_named_by_their_place_in_the_file_too() -> None:
    uids = ["0123456789abcdef0123", "0123456789abcdef0123-2", "0123456789abcdef4567#a tag"]
    doubted = pa.table({"uid": uids, "flagged": [True] * 3, "rank": [1, 2, 3]})
    for sources, files in ((["a.csv"] * 3, ["", "", ""]), (["a.csv", "b.csv", "b.csv"], ["a.csv ", "b.csv ", "b.csv "])):
        [found, *_] = suspect_values(doubted, None, pa.table({"uid": uids, "source": sources, "row": [3, 12_345, 7]}))
        rows = [f"({file}row {number})" for file, number in zip(files, ("3", "12,345", "7"), strict=True)]
        assert found.rows == [f"{uid!r} {row}" for uid, row in zip(uids, rows, strict=True)]


def test_new_and_changed_suspects_are_counted_since_the_audit_before() -> None:
    since = changes(("u0", "new suspect"), ("u0", "added"), ("u1", "edited"), ("u2", "moved"))
    found = values(suspect_values(noise([True, False, True, False]), since, ROWS))
    assert (found["new_suspects"].value, list(found["new_suspects"].rows)) == (0.25, ["'u0'"])
    changed = found["changed_suspects"]
    assert changed.value is not None and 0 < changed.value < 0.5
    assert changed.statement.startswith("1 of 2 labels added or changed since the last audit looks wrong (50\u00a0%; at least ")


def test_without_a_changed_row_no_changed_row_is_a_suspect() -> None:
    found = values(suspect_values(noise([True]), changes(), ROWS))
    assert found["changed_suspects"] == GateValue("changed_suspects", 0.0, "No row was added or changed since the last audit")


def test_quarantine_names_the_most_frequent_reasons_first() -> None:
    found = quarantine_value({"quarantined": 3, "quarantined.share": 0.03}, {"no label": 2, "empty text": 1})
    assert (found.value, found.statement, found.rows) == (0.03, "3 rows (3\u00a0%) could not be used", ["2 no label", "1 empty text"])


def test_a_first_audit_has_no_shift_and_no_drop() -> None:
    assert class_shift_value({}) == GateValue("class_shift", None)
    assert accuracy_drop_value({}) == GateValue("accuracy_drop", None)


def test_a_class_shift_names_the_classes_that_moved() -> None:
    comparison = {"numbers": {"class_shift": 0.1}, "classes": {"a": [0.5, 0.5], "b": [0.2, 0.3], "c": [0.3, 0.2]}}
    assert class_shift_value(comparison).rows == ["b 20\u00a0% → 30\u00a0%", "c 30\u00a0% → 20\u00a0%"]


def test_the_largest_drop_of_accuracy_counts() -> None:
    before, now = {"a.accuracy": 0.9, "b.accuracy": 0.8, "gone.accuracy": 1.0}, {"a.accuracy": 0.88, "b.accuracy": 0.7}
    found = accuracy_drop_value({"before": before, "now": now})
    assert found.value is not None and abs(found.value - 0.1) < 1e-12
    assert found.statement == "Accuracy on b went from 0.800 to 0.700"
    assert accuracy_drop_value({"before": {"gone.accuracy": 1.0}, "now": {}}).statement == "No evaluation set that the last audit had, too"


def test_scores_that_cleaning_measurably_lowers_are_counted_and_named() -> None:
    found = cleaning_value({"worse": [["test", "accuracy"], ["test", "macro_f1"]], "recommended": "original", "outcome": "worse"})
    assert (found.value, found.rows) == (2, ["accuracy on test", "macro_f1 on test"])
    assert found.statement == "By 2 scores models trained on the cleaned rows are measurably worse, so the original rows are recommended"
    found = cleaning_value({"worse": [], "recommended": "cleaned", "outcome": "better"})
    assert found.value == 0 and found.statement.endswith("are not measurably worse than on the original; the cleaned rows are recommended")
    found = cleaning_value({"worse": [], "recommended": "original", "outcome": "unchanged"})
    assert (found.value, found.statement) == (0, "Cleaning changed nothing that a model sees; the original rows are recommended")
    assert cleaning_value({}).value is None and cleaning_value({}).statement.endswith("cleaned rows could be compared")


def test_failed_checks_are_counted_critical_ones_apart() -> None:
    check = {"check": "uids are unique", "expected": "all", "found": "3 twice"}
    failed = [{**check, "passed": False, "severity": severity} for severity in ("warning", "warning", "critical")]
    found = values(check_values([{"sets": [{"set": "train", "checks": [*failed, {**check, "passed": True, "severity": "critical"}]}]}]))
    assert (found["failed_checks"].value, found["failed_checks"].statement) == (2, "2 checks of the data failed")
    assert (found["failed_critical_checks"].value, found["failed_critical_checks"].statement) == (1, "1 critical check of the data failed")
    assert found["failed_critical_checks"].rows == ["uids are unique in set `train` (expected all, found 3 twice)"]


def test_a_training_that_has_not_learnt_is_a_problem_with_its_sentence() -> None:
    learning = {"sentence": "The model has not learnt. Raise train.epochs."}
    found = training_value({"learning": learning})
    assert (found.gate, found.value, found.rows) == ("training_problems", 1, ["The model has not learnt. Raise train.epochs"])
    assert training_value({"learning": {"sentence": ""}}).value == 0
    assert training_value({"source": "imported"}).value is None
