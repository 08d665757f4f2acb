"""The regions of the map: counts, bounds and examples."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.row_blocks import Region, Regions
from cartograph.schema import REGIONS
from cartograph.wording import probability, share

EASY, AMBIGUOUS, HARD, UNASSIGNED = REGIONS

MEANINGS = {
    HARD: "The model kept doubting these labels. Many are wrong labels, some are merely rare: read them first.",
    AMBIGUOUS: "The model changed its mind about these. They teach it most, and hold the rows that people would label differently.",
    EASY: "Learnt at once and never doubted. Needed, but many say the same; what gives a label away puts rows here.",
    UNASSIGNED: "In between: neither doubted, nor unsettled, nor learnt at once.",
}


def regions_section(audit: Audit) -> Section:
    """Return one card per region that has rows, the hardest first."""
    cards = [_card(audit, name) for name in (HARD, AMBIGUOUS, EASY, UNASSIGNED) if len(audit.members(name))]
    lead = (
        "Every row is in one region. The shares are set by the parameters and taken in this order: the least confident rows, then the most "
        "variable of the others, then the most confident of what is left. So the parameters decide the counts, and the data the bounds."
    )
    return Section("regions", "Regions", lead, (Regions(cards),))


def _card(audit: Audit, name: str) -> Region:
    rows = audit.members(name)
    bounds = [(title, _range(values[rows])) for title, values in (("Confidence", audit.confidence), ("Variability", audit.variability))]
    if audit.disagreeing is not None:
        other = int(np.count_nonzero(audit.disagreeing[rows]))
        bounds.append(("Model prefers another label", f"{other:,} ({share(other, len(rows))})"))
    return Region(name, MEANINGS[name], len(rows), share(len(rows), audit.rows), bounds, _examples(audit, name, rows))


def _range(values: Floats) -> str:
    low, high = probability(float(values.min())), probability(float(values.max()))
    return low if low == high else f"{low} to {high}"


def _examples(audit: Audit, name: str, rows: Integers) -> list[int]:
    """Return the most extreme rows of a region, one of each given label before a second of any, no text twice."""
    keys = {HARD: audit.confidence, AMBIGUOUS: -audit.variability, EASY: -audit.confidence}
    if name not in keys:
        return []
    order = rows[np.lexsort((audit.variability[rows], keys[name][rows]))][:500]
    chosen: dict[int, tuple[str, ...]] = {}
    for new_label in (True, False):
        labels = {int(audit.gold[row]) for row in chosen}
        for row in order.tolist():
            text = tuple(audit.examples[column][row].as_py() for column in audit.info.fields)
            label = int(audit.gold[row])
            if len(chosen) < audit.limits.examples and text not in chosen.values() and not (new_label and label in labels):
                chosen[row] = text
                labels.add(label)
    return [row for row in order.tolist() if row in chosen]
