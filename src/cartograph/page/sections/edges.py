"""The rows at the edges of the map: the hardest, the most ambiguous, the easiest."""

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
        ("Hardest", "lowest confidence first: wrong labels gather here", np.lexsort((audit.variability, audit.confidence))),
        (
            "Most ambiguous",
            "highest variability first: texts that can be read more than one way",
            np.argsort(-audit.variability, kind="stable"),
        ),
        (
            "Easiest",
            "highest confidence first: learnt at once, often by a give-away word",
            np.lexsort((audit.variability, -audit.confidence)),
        ),
    )
    lists = [RowList(name, meaning, order[:first].tolist()) for name, meaning, order in ranked]
    lead = (
        f"The first {count(first)} at each edge of the map. Open a row to see its whole text and the model's probability, epoch by epoch."
    )
    return Section("rows", "Rows to read", lead, (RowTables(lists),))
