from __future__ import annotations

from dataclasses import replace

import pytest

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.row_blocks import SuspectTable
from cartograph.page.sections.map import map_section
from cartograph.page.sections.several_labels import several_labels_section
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.verdict import verdict
from tests.page_audits import with_several_labels, with_suspects


@pytest.fixture
def several(audit: Audit) -> Audit:
    return with_several_labels(with_suspects(audit, flagged=(1, 3)))


def test_rows_of_one_label_have_no_such_section(audit: Audit) -> None:
    assert several_labels_section(audit) is None and audit.labels_a_row == 1


def test_each_label_has_its_counts_and_its_interval(several: Audit) -> None:
    section = several_labels_section(several)
    assert section is not None and several.labels_a_row == 2
    assert section.lead == (
        "2 labels, each a separate yes or no for each row. Most suspects: sea (2). 1 label could not be audited: too few rows have the "
        "label, or too few lack it."
    )
    table, left_out = section.blocks
    assert isinstance(table, Table) and isinstance(left_out, Table)
    assert table.cells == [("war", 3, 1, 1, 0, "2 (1 to 4)"), ("sea", 2, 2, 1, 1, "—")]
    assert left_out.cells == [("typo", 1, "yes in 1 row, of 5 that are needed")]


def test_of_a_label_whose_number_is_not_known_the_interval_stands_alone(several: Audit) -> None:
    war, sea, typo = several.several
    section = several_labels_section(replace(several, several=(war, replace(sea, wrong=(None, 0.2, 341.0)), typo)))
    assert section is not None and isinstance(table := section.blocks[0], Table)
    assert [cells[-1] for cells in table.cells] == ["2 (1 to 4)", "0 to 340"]


def test_the_page_counts_rows_and_their_labels(several: Audit) -> None:
    assert "Each point is one label of a row, yes or no: 4 rows with 2 labels make 8 points." in map_section(several).lead
    rows = verdict(several).figures[0]
    assert (rows.label, rows.value, rows.note) == ("Rows", "4", "2 labels each, yes or no")


def test_suspects_of_several_labels_take_no_decisions_since_no_file_of_them_names_a_label(several: Audit) -> None:
    section = suspects_section(several)
    assert section is not None
    (table,) = [block for block in section.blocks if isinstance(block, SuspectTable)]
    assert table.answers is None and len(table.suspects) == 2
