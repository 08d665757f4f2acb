from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.page.audit import Audit
from cartograph.page.blocks import Checks, Table
from cartograph.page.sections.validation import validation_section
from cartograph.schema import (
    QUARANTINE,
)
from tests.page_audits import block_of, check_of, set_entry


def test_failed_checks_come_first(audit: Audit) -> None:
    examples = [f"row {number}" for number in range(1, 8)]
    checks = [
        check_of("fine"),
        check_of("warned", passed=False, severity="warning"),
        check_of("broken", passed=False, unexpected=9, examples=examples),
    ]
    section = validation_section(
        replace(audit, validation={"passed": False, "sets": [set_entry("train", "train", checks)], "quarantine": {}})
    )
    assert section is not None
    assert [item.check for item in block_of(section, Checks).checks] == ["broken", "warned", "fine"]
    assert block_of(section, Checks).checks[0].where == "row 1, row 2, row 3, row 4 and row 5, and 4 more"
    assert section.lead == "2 of 3 checks failed. Every row that was read could be used."


def test_columns_that_were_not_read_are_named(audit: Audit) -> None:
    sets = [{**set_entry("train", "train", [check_of("x")]), "left_out": ["name", "row <1>"]}]
    section = validation_section(replace(audit, validation={"passed": True, "sets": sets, "quarantine": {}}))
    assert section is not None
    assert section.lead.endswith(
        "Columns that were not read (names that hardly repeat, row numbers, who labelled, empty, marked so): “name” and “row <1>”."
    )


def test_which_rows_are_held_out_together_is_said(audit: Audit) -> None:
    sets = [{**set_entry("train", "train", [check_of("x")]), "linked": "Rows with the same `<who>` are held out together."}]
    section = validation_section(replace(audit, validation={"passed": True, "sets": sets, "quarantine": {}}))
    assert section is not None
    assert section.lead.endswith("could be used. Rows with the same `<who>` are held out together.")


def test_quarantine_is_counted_by_reason_and_shows_each(audit: Audit) -> None:
    reasons = ["empty text"] * 4 + ["unknown label"]
    rows = [
        {"set": "train", "file": "a.csv", "row": number, "column": "text", "value": "v" * 200, "reason": reason, "record": "{}"}
        for number, reason in enumerate(reasons)
    ]
    sets = [set_entry("train", "train", [check_of("x")], quarantined=5)]
    changed = replace(
        audit,
        quarantine=pa.Table.from_pylist(rows, schema=QUARANTINE),
        validation={"passed": True, "sets": sets, "quarantine": {"empty text": 4}},
    )
    section = validation_section(changed)
    assert section is not None
    tables = {item.caption: item for item in section.blocks if isinstance(item, Table)}
    assert tables["Quarantined rows by reason"].cells == [("empty text", 4), ("unknown label", 1)]
    shown = tables["Examples of each reason"].cells
    assert [(cells[0], cells[3]) for cells in shown] == [("empty text", 0), ("empty text", 1), ("unknown label", 4)]
    assert max(len(cells[5]) for cells in shown) == 80
    assert "5 rows of 13 (38\u00a0%) could not be used and were set aside." in section.lead


def test_an_audit_without_checked_sets_has_no_section(audit: Audit) -> None:
    assert validation_section(replace(audit, validation={"passed": True, "sets": [], "quarantine": {}})) is None


def test_rows_that_stand_in_train_too_are_counted_by_kind(audit: Audit) -> None:
    counts = {"exact": 3, "normalised": 2, "near": 1, "other label": 2}
    sets = [{**set_entry("train", "train", []), "in_train": None}, {**set_entry("test", "id", []), "in_train": counts}]
    section = validation_section(replace(audit, validation={"passed": True, "sets": sets, "quarantine": {}}))
    assert section is not None
    tables = {item.caption: item for item in section.blocks if isinstance(item, Table)}
    [cells] = tables["Rows of evaluation sets that are in the train set too"].cells
    assert (cells[0], *cells[2:]) == ("test", 3, 2, 1, 2)
    sets[1]["in_train"] = dict.fromkeys(counts, 0)
    section = validation_section(replace(audit, validation={"passed": True, "sets": sets, "quarantine": {}}))
    assert section is not None
    assert "Rows of evaluation sets that are in the train set too" not in {getattr(item, "caption", "") for item in section.blocks}


def test_equal_rows_with_different_labels_are_counted(audit: Audit) -> None:
    sets = [{**set_entry("train", "train", []), "contradicted": 2}, {**set_entry("test", "id", []), "contradicted": 0}]

    def table() -> Table | None:
        section = validation_section(replace(audit, validation={"passed": True, "sets": sets, "quarantine": {}}))
        assert section is not None
        tables = {item.caption: item for item in section.blocks if isinstance(item, Table)}
        return tables.get("Equal rows with different labels")

    found = table()
    assert found is not None
    assert [(cells[0], cells[2]) for cells in found.cells] == [("train", 2), ("test", 0)]
    assert found.cells[0][3] == 2 / found.cells[0][1]
    sets[0]["contradicted"] = 0
    assert table() is None


def test_many_classes_have_a_table_of_their_own_with_a_row_each(audit: Audit) -> None:
    entries = [set_entry("train", "train", []), set_entry("test", "id", [])]
    classes = {f"class {number}": number for number in range(77)}
    validation = {"passed": True, "sets": [{**entry, "classes": classes} for entry in entries], "quarantine": {}}
    tables = {
        block.caption: block for block in validation_section(replace(audit, validation=validation)).blocks if isinstance(block, Table)
    }
    assert len(tables["The sets"].columns) == 6
    by_class = tables["Rows of each label"]
    assert [column.title for column in by_class.columns] == ["Label", "train", "test"]
    assert by_class.cells[76] == ("class 76", 76, 76) and len(by_class.cells) == 77
