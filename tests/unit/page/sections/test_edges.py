from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.row_blocks import RowTables
from cartograph.page.sections.edges import edges_section
from tests.page_audits import block_of


def test_each_edge_of_the_map_lists_its_rows_in_order(audit: Audit) -> None:
    tables = block_of(edges_section(audit), RowTables)
    assert [(rows.name, list(rows.rows)) for rows in tables.lists] == [
        ("Least confident", [0, 1, 2]),
        ("Most variable", [3, 2, 4]),
        ("Most confident", [7, 6, 5]),
    ]
