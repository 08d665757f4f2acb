"""Whether cleaning raised or lowered a metric, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cartograph.compare.markdown import METRIC_NAMES, digits, in_points, points
from cartograph.page.audit import Audit
from cartograph.schema import UID
from cartograph.wording import cut, listing

Row = Mapping[str, Any]

_LONGEST = 40


def cleaning_effect(differences: pa.Table, cleaning: str = "Cleaning", *, against: str = "original", metric: str = "accuracy") -> str:
    """Return a sentence per outcome (raised, lowered, no measurable difference) with its evaluation sets, out of distribution first.

    Args:
        differences: ``compare.versions.DIFFERENCES``.
        cleaning: what was done to the train set, as ``cleaning_phrase`` says it.
        against: ``original`` or ``random``.
        metric: of ``compare.versions.METRICS``.

    Returns:
        Empty where the two versions were not compared.
    """
    rows = [row for row in differences.to_pylist() if (row["subset"], row["against"], row["metric"]) == ("cleaned", against, metric)]
    outcomes: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["domain"] != "ood"):
        outcomes.setdefault("raised" if row["low"] > 0 else "lowered" if row["high"] < 0 else "no difference", []).append(row)
    first = f"Compared with as many rows picked at random, {cleaning[:1].lower()}{cleaning[1:]}" if against == "random" else cleaning
    subjects = (first, "It", "It")
    return " ".join(
        _sentence(subject, outcome, own, METRIC_NAMES[metric]) for subject, (outcome, own) in zip(subjects, outcomes.items(), strict=False)
    )


def cleaning_phrase(audit: Audit) -> str:
    """Return what cleaning did, as the subject of a sentence: ``Dropping the suspects`` where it did exactly that."""
    if audit.cleaning is None or audit.suspects is None:
        return "Cleaning"
    changes = audit.cleaning.changes
    changed, flagged = changes[UID].to_pylist(), audit.measures[UID].take(audit.flagged).to_pylist()
    verb = {("drop",): "Dropping", ("relabel",): "Relabelling"}.get(tuple(changes["what"].unique().to_pylist()))
    return f"{verb} the suspects" if verb and sorted(changed) == sorted(flagged) else "Cleaning"


def _sentence(subject: str, outcome: str, rows: Sequence[Row], metric: str) -> str:
    parts = []
    for place, row in enumerate(rows):
        numbers = in_points(row)
        decimals = digits(*numbers[1:])
        if outcome == "no difference":
            shown = [points(value, decimals, signed=True) for value in numbers]
        else:
            difference, *ends = map(abs, numbers)
            shown = [points(value, decimals) for value in (difference, *sorted(ends))]
        unit, interval = (" points", "95 % CI ") if not place else ("", "")
        parts.append(f"{shown[0]}{unit} ({interval}{shown[1]} to {shown[2]}) on {cut(row['set'], _LONGEST)}")
    if outcome == "no difference":
        return f"{subject} made no measurable difference to {metric}: {', '.join(parts)}."
    return f"{subject} {outcome} {metric} by {listing(parts)}."
