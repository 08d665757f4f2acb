"""The regions of the map: counts, bounds and examples."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.row_blocks import Region, Regions
from cartograph.schema import REGIONS
from cartograph.wording import count, probability, share

EASY, AMBIGUOUS, HARD, UNASSIGNED = REGIONS

MEANINGS = {
    HARD: "Low confidence and low variability: in epoch after epoch, the model gave these labels little probability. "
    "Read them for wrong labels, and for rows that leave the label open.",
    AMBIGUOUS: "High variability: the probability of these labels went up and down from epoch to epoch, or rose late. "
    "Read them for cases that the instructions for labelling leave open.",
    EASY: "High confidence and low variability: the model gave these labels much probability, early and steadily. "
    "Read a few for what they have in common: it may be a shortcut.",
    UNASSIGNED: "Rows in none of the other three regions.",
}
_LISTS = ((HARD, "least confident"), (EASY, "most confident"), (AMBIGUOUS, "most variable"))


def regions_section(audit: Audit) -> Section:
    """Return one card per region that has rows, the hardest first."""
    names = (HARD, AMBIGUOUS, EASY, UNASSIGNED)
    cards = [_card(audit, name) for name in names if len(audit.members(name))]
    lead = (
        "Hard-to-learn and easy-to-learn rows are among the least and the most confident, and closest to the corner of the map where "
        "confidence is low or high and variability is 0; the remaining ones among the most variable rows are ambiguous. The parameters "
        "limit how many rows a region may hold; the data decide how many it does hold."
    )
    empty = [name for name in names[:3] if not len(audit.members(name))]
    lead += f" No row is {' or '.join(empty)}." if empty else ""
    return Section("regions", "Regions", " ".join([lead, *_lists(audit)]), (Regions(cards),))


def _lists(audit: Audit) -> list[str]:
    """Return what became of the rows of each list, one sentence each."""
    metrics, sentences = audit.metrics.get("measure", {}), []
    for name, rank in _LISTS:
        if not metrics.get(f"region.{name}.listed"):
            continue
        listed, inside, elsewhere = (int(metrics[f"region.{name}.{key}"]) for key in ("listed", "count", "elsewhere"))
        other = "hard-to-learn or easy-to-learn" if name == AMBIGUOUS else AMBIGUOUS
        verb = "is" if inside == 1 else "are"
        sentence = f"Of the {count(listed)} {rank} rows, {count(inside)} {verb} {name}"
        sentences.append(f"{sentence} and {count(elsewhere)} {other}." if elsewhere else f"{sentence}.")
    return sentences


def _card(audit: Audit, name: str) -> Region:
    rows = audit.members(name)
    bounds = [(title, _range(values[rows])) for title, values in (("Confidence", audit.confidence), ("Variability", audit.variability))]
    always, never = (int(np.count_nonzero(np.isclose(audit.correctness[rows], value))) for value in (1.0, 0.0))
    bounds += [(title, _part(number, len(rows))) for title, number in (("Right in every epoch", always), ("Right in none", never))]
    if audit.disagreeing is not None:
        bounds.append(("Model prefers another label", _part(int(np.count_nonzero(audit.disagreeing[rows])), len(rows))))
    if audit.suspects is not None:
        bounds.append(("Suspects", _part(int(np.isin(rows, audit.flagged).sum()), len(rows))))
    return Region(name, MEANINGS[name], len(rows), share(len(rows), audit.rows), bounds, _examples(audit, name, rows))


def _part(number: int, rows: int) -> str:
    return f"{number:,} ({share(number, rows)})"


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
