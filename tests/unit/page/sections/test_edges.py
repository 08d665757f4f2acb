from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.row_blocks import RowTables
from cartograph.page.sections.edges import edges_section
from tests.page_audits import block_of, with_suspects


def test_each_edge_of_the_map_lists_its_rows_in_order(audit: Audit) -> None:
    tables = block_of(edges_section(audit), RowTables)
    assert [(rows.name, list(rows.rows)) for rows in tables.lists] == [
        ("Least confident", [0, 1, 2]),
        ("Most variable", [3, 2, 4]),
        ("Most confident", [7, 6, 5]),
    ]


def test_what_stands_below_the_list_of_suspects_comes_first(audit: Audit) -> None:
    section = edges_section(with_suspects(audit, flagged=(3, 1)))
    below = block_of(section, RowTables).lists[0]
    assert (below.name, below.meaning, list(below.rows)) == ("Doubted most", "no suspects, the most doubted first", [5, 6, 7])
    assert section.lead.startswith("The 3 doubted most that are no suspects, and the first 3 at each edge of the map.")
    assert (
        block_of(edges_section(with_suspects(audit, flagged=(), impossible="of one class")), RowTables).lists[0].name == "Least confident"
    )
