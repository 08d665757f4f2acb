from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.page.audit import Audit
from cartograph.page.blocks import Facts, Table
from cartograph.page.sections.cleaning_changes import cleaning_changes_section
from cartograph.page.step_results import Cleaning
from cartograph.schema import (
    CHANGES,
)
from tests.page_audits import HOSTILE, audit_of_images, block_of, with_cleaning


def test_changes_are_counted_by_class_and_those_of_people_come_first(audit: Audit) -> None:
    section = cleaning_changes_section(with_cleaning(audit))
    assert section is not None
    assert section.lead == "2 rows dropped and 1 row relabelled: 8 rows became 6, version abc."
    by_class, listed = (item for item in section.blocks if isinstance(item, Table))
    assert by_class.cells == [("no", 4, "50\u00a0%", 2, 0, 1, 3, "50\u00a0%"), ("yes", 4, "50\u00a0%", 0, 1, 0, 3, "50\u00a0%")]
    assert listed.cells == [
        ("u1", "same", "no", "dropped", "<b>gibberish</b>", "Ann"),
        ("u2", "c", "yes", "no", "read it", "Ann"),
        ("u0", "same", "no", "dropped", "suspect 2", "recipe drop-flagged"),
    ]
    assert dict(block_of(section, Facts).facts)["Decided by"] == "Ann (2), recipe drop-flagged (1)"  # type: ignore[attr-defined]


def test_a_version_without_changes_says_so_and_no_cleaning_has_no_section(audit: Audit) -> None:
    assert cleaning_changes_section(audit) is None
    version = {"version": "def", "parent": "def", "rows": 8, "parent_rows": 8, "dropped": 0, "relabelled": 0, "changes": 0}
    section = cleaning_changes_section(replace(audit, cleaning=Cleaning(CHANGES.empty_table(), version)))
    assert section is not None
    assert section.lead == "Nothing: the cleaned version def has the 8 rows of the original, with their labels."
    assert not [item for item in section.blocks if isinstance(item, Table)]


def test_changes_show_pictures() -> None:
    audit = audit_of_images(5)
    change = {"uid": "u0000003", "what": "drop", "from": HOSTILE, "to": None, "why": "so", "by": "recipe drop-flagged"}
    version = {"version": "b", "parent": "a", "parent_rows": 5, "rows": 4, "dropped": 1, "relabelled": 0}
    section = cleaning_changes_section(replace(audit, cleaning=Cleaning(pa.Table.from_pylist([change], schema=CHANGES), version)))
    table = section.blocks[-1]  # type: ignore[union-attr]
    assert [column.cell for column in table.columns][:2] == ["code", "picture"]
    assert table.cells[0][1].startswith("data:image/png;base64,")
