from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.chart_blocks import Charts
from cartograph.page.row_blocks import RowTables, SuspectTable
from cartograph.page.sections.audit_changes import audit_changes_section
from tests.page_audits import block_of, with_earlier_audit


def test_the_section_lists_changed_rows_and_the_trend(audit: Audit) -> None:
    assert audit_changes_section(audit) is None
    section = audit_changes_section(with_earlier_audit(audit))
    assert section is not None
    assert " ".join(section.lead.split()) == (
        "This is audit 5 of this workspace; it is compared with audit 4. 1 row was added, 1 row was removed and 1 row was relabelled. "
        "1 label became suspect, 1 still is, 1 no longer is. 1 row of the 7 that both audits have (14 %) changed region. "
        "The energy distance of the two maps is 0.042 (0 = the same; p = 0.005 in a permutation test that takes rows as independent). "
        "The frozen encoder's vectors of 11 rows with the same texts were reused, those of 1 were computed; "
        "every model was trained from scratch, on all rows. The first table has the labels that became suspect."
    )
    suspects = block_of(section, SuspectTable)
    assert [suspect.place for suspect in suspects.suspects] == [1]  # type: ignore[attr-defined]
    lists = block_of(section, RowTables)
    assert [(found.name, list(found.rows)) for found in lists.lists] == [("Added", [7]), ("No longer suspect", [3])]  # type: ignore[attr-defined]
    charts = block_of(section, Charts)
    accuracy = next(chart for chart in charts.charts if chart.title == "Accuracy")  # type: ignore[attr-defined]
    assert (list(accuracy.x), list(accuracy.series[0].values)) == ([4.0, 5.0], [0.7, 0.6])
