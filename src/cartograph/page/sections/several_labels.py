"""The labels of rows that have several: how often each is given, how often it looks wrong, and which could not be audited."""

from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.step_results import LabelFound
from cartograph.wording import about, count, counted, cut

_LONGEST = 80
_NAMED = 5


def several_labels_section(audit: Audit) -> Section | None:
    """Return a row for each label; None where rows have one label."""
    if not audit.several:
        return None
    audited = [label for label in audit.several if not label.note]
    left_out = [label for label in audit.several if label.note]
    columns = (
        Column("Label"),
        Column("Rows", "count", "that have it"),
        Column("Suspects", "count"),
        Column("Should have it", "count", "suspects that do not have it"),
        Column("Should not", "count", "suspects that have it"),
        Column("Wrong, estimated", meaning="of all its answers, with a 95 % interval, or that alone; — where its rows show too little"),
    )
    blocks: list[Block] = [Table("Label by label", columns, [_cells(label) for label in audited])]
    if left_out:
        why = (Column("Label"), Column("Rows", "count", "that have it"), Column("Why"))
        cells = [(cut(label.name, _LONGEST), label.rows, label.note) for label in left_out]
        blocks.append(Table("Labels that were not audited", why, cells, folded=len(left_out) > _NAMED))
    most = sorted(audited, key=lambda label: -(label.missing + label.surplus))[0]
    lead = f"{counted(len(audited), 'label')}, each a separate yes or no for each row."
    if most.missing + most.surplus:
        lead += f" Most suspects: {cut(most.name, _LONGEST)} ({count(most.missing + most.surplus)})."
    if left_out:
        lead += f" {counted(len(left_out), 'label')} could not be audited: too few rows have the label, or too few lack it."
    return Section("labels", "Labels", lead, blocks)


def _cells(label: LabelFound) -> tuple[Cell, ...]:
    wrong = "—"
    if label.wrong is not None:
        expected, low, high = label.wrong
        ends = f"{about(low)} to {about(high)}"
        wrong = ends if expected is None else f"{about(expected)} ({ends})"
    return cut(label.name, _LONGEST), label.rows, label.missing + label.surplus, label.missing, label.surplus, wrong
