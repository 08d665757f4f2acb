from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.audits.columns import ColumnDrift
from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.chart_blocks import Charts
from cartograph.page.row_blocks import RowTables, SuspectTable
from cartograph.page.sections.audit_changes import _relabelled, audit_changes_section
from cartograph.page.step_results import SinceLastAudit
from cartograph.schema import ROW_CHANGES
from tests.page_audits import audit_of_images, block_of, with_earlier_audit


def test_the_section_lists_changed_rows_and_the_trend(audit: Audit) -> None:
    assert audit_changes_section(audit) is None
    section = audit_changes_section(with_earlier_audit(audit))
    assert section is not None
    assert " ".join(section.lead.split()) == (
        "This is audit 5 of this workspace; it is compared with audit 4. 1 row was added, 1 row was removed and 1 row was relabelled. "
        "1 label became suspect, 1 still is, 1 no longer is. 1 row of the 7 that both audits have (14 %) changed region. "
        "The energy distance of the two maps is 0.042 (0 = the same; p = 0.005 in a permutation test that takes rows as independent). "
        "The frozen encoder's vectors of 11 rows with the same texts were reused, those of 1 were computed; "
        "no model starts from an earlier audit's: each is trained from scratch, on all rows. "
        "The first table lists the labels that became suspect."
    )
    suspects = block_of(section, SuspectTable)
    assert [suspect.place for suspect in suspects.suspects] == [1]  # type: ignore[attr-defined]
    lists = block_of(section, RowTables)
    assert [(found.name, list(found.rows)) for found in lists.lists] == [("Added", [7]), ("No longer suspect", [3])]  # type: ignore[attr-defined]
    charts = block_of(section, Charts)
    accuracy = next(chart for chart in charts.charts if chart.title == "Accuracy")  # type: ignore[attr-defined]
    assert (list(accuracy.x), list(accuracy.series[0].values)) == ([4.0, 5.0], [0.7, 0.6])


def test_columns_that_drifted_are_named_and_tabled(audit: Audit) -> None:
    drifted = ColumnDrift("<age>", "number", 0.25, (0.0, 0.125), ("38", "52"), None, ("38 in the middle, now 52",))
    same = ColumnDrift("job", "category", 0.05, (0.0, 0.0), ("clerk", "clerk"), 0.0, ())
    second = with_earlier_audit(audit)
    assert second.since_last_audit is not None
    for columns, folded, sentence in (
        ((drifted, same), False, "1 of 2 columns drifted: `<age>` (38 in the middle, now 52). 1 row of the 7"),
        ((same,), True, "1 no longer is. No column drifted. 1 row"),
    ):
        section = audit_changes_section(replace(second, since_last_audit=replace(second.since_last_audit, columns=columns)))
        assert section is not None and sentence in " ".join(section.lead.split())
        table = next(block for block in section.blocks if isinstance(block, Table) and block.caption == "Columns before and now")
        assert table.folded is folded and table.cells[-1] == ("job", "", 0.05, "clerk", "clerk", 0.0, 0.0, 0.0)
        assert all(len(row) == len(table.columns) for row in table.cells)


def test_relabelled_rows_are_shown_as_pictures() -> None:
    audit = audit_of_images(12)
    uid = audit.measures["uid"][3].as_py()
    rows = pa.Table.from_pylist([{"uid": uid, "what": "relabelled", "from": "no", "to": "yes"}], schema=ROW_CHANGES)
    table = _relabelled(audit, SinceLastAudit((1, 2), rows, {"rows.relabelled": 1}, {}, {}, []))
    assert table is not None and table.columns[0].cell == "picture" and table.columns[0].title == "Image"
    assert str(table.cells[0][0]).startswith("data:image/png;base64,") and list(table.cells[0][1:]) == ["no", "yes", uid]
