"""The rows at the edges of the map: the least confident, the most variable, the most confident."""

from __future__ import annotations

import numpy as np

from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.row_blocks import RowList, RowTables
from cartograph.wording import count


def edges_section(audit: Audit) -> Section:
    """Return a table for each edge, by rank over all rows, whatever their region."""
    first = min(audit.limits.listed, audit.rows)
    ranked = (
        ("Least confident", "lowest confidence first", np.lexsort((audit.variability, audit.confidence))),
        (
            "Most variable",
            "highest variability first",
            np.argsort(-audit.variability, kind="stable"),
        ),
        (
            "Most confident",
            "highest confidence first",
            np.lexsort((audit.variability, -audit.confidence)),
        ),
    )
    lists = [RowList(name, meaning, order[:first].tolist()) for name, meaning, order in ranked]
    lead = (
        f"The first {count(first)} at each edge of the map. Open a row to see its whole text and the model's probability, epoch by epoch."
    )
    return Section("rows", "Rows to read", lead, (RowTables(lists),))
