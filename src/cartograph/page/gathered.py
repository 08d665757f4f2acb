"""Where suspects gather, in a sentence and a table: people who label differ, files and weeks do, and rows alone do not say so."""

from __future__ import annotations

from cartograph.ingest.strata import COLUMN, FILE
from cartograph.page.audit import Audit
from cartograph.page.blocks import Cell, Column, Table
from cartograph.suspects.gathering import Gathering
from cartograph.wording import count, cut, share

_NAMED, _LISTED, _LONGEST = 2, 20, 60


def gathered_sentence(audit: Audit) -> str:
    """Return where suspects gather the most; empty where they gather nowhere."""
    if not (found := audit.gatherings):
        return ""
    first, *others = found[:_NAMED]
    of = f"{count(first.suspects)} of the {count(len(audit.flagged))}, among {share(first.rows, audit.rows)} of the rows"
    more = "".join(f"; and {_where(one)} ({count(one.suspects)})" for one in others)
    return f"Suspects gather {_where(first)} ({of}){more}: ask first how these rows were labelled."


def gathered_table(audit: Audit) -> Table | None:
    """Return the parts of the rows in which suspects gather; None where they gather nowhere."""
    if not (found := audit.gatherings):
        return None
    columns = [
        Column("Where"),
        Column("Suspects", "count"),
        Column("Rows", "count"),
        Column("Of its rows", "share"),
        Column("By its classes alone", "count", "so many suspects would be there if they were spread evenly over the rows of each class"),
    ]
    cells: list[list[Cell]] = [
        [_where(one), one.suspects, one.rows, one.suspects / one.rows, round(one.expected)] for one in found[:_LISTED]
    ]
    return Table("Where suspects gather", columns, cells)


def _where(one: Gathering) -> str:
    part = cut(one.part, _LONGEST)
    if one.stratum.startswith(COLUMN):
        return f"where `{cut(one.stratum.removeprefix(COLUMN), _LONGEST)}` is {part}"
    return f"in the file {part}" if one.stratum == FILE else f"in the rows {part} of the file"
