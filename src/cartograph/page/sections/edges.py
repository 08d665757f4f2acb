"""The rows doubted most that are no suspects, and those at the edges of the map: the least confident, the most variable and the most."""

from __future__ import annotations

import numpy as np

from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.row_blocks import RowList, RowTables
from cartograph.wording import count


def edges_section(audit: Audit) -> Section:
    """Return a table of what stands below the list of suspects and one for each edge, by rank over all rows, whatever their region."""
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
    which = f"The first {count(first)} at each edge of the map."
    if (number := len(audit.doubted_most)) > 1:
        lists.insert(0, RowList("Doubted most", "no suspects, the most doubted first", audit.doubted_most.tolist()))
        which = f"The {count(number)} doubted most that are no suspects, and the first {count(first)} at each edge of the map."
    lead = f"{which} Open a row to see its whole text and the model's probability, epoch by epoch."
    return Section("rows", "Rows to read", lead, (RowTables(lists),))
