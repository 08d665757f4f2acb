"""How many labels of each class should be another one, by estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cartograph.page.audit import Audit
from cartograph.page.blocks import Column, Table
from cartograph.page.rows import LONGEST_NAME
from cartograph.suspects.class_forms import class_forms
from cartograph.wording import about, cut

_FEWEST, _NAMED, _LISTED = 5, 2, 40
"""Fewest wrong labels of a pair of classes that are worth a sentence, how many pairs it names, and how many the table lists."""

_TWO, _STANDS_OUT, _STANDS_OUT_OF_TWO = 2, 2.0, 1.4
"""How many times as many wrong labels a pair has as even errors would give it, to be worth a sentence; and of two classes."""


def wrong_by_class(audit: Audit) -> Table | None:
    """Return how many labels of each class are estimated to be another; None where no number can be given."""
    record = audit.suspects.record if audit.suspects is not None else {}
    found = _of_known_classes(audit, record["wrong"].get("pairs", ())) if record.get("calibrated") and not audit.several else ()
    if not found:
        return None
    meant = class_forms(audit.info.labels, audit.gold).first[audit.gold]
    rows = np.bincount(meant, minlength=len(audit.info.labels))
    columns = [
        Column("Given label"),
        Column("Should be"),
        Column("Labels", "count", "about how many, by estimate"),
        Column("95\u00a0% CI"),
        Column("Of the label", "share", "of the rows with the given label"),
    ]
    if further := any(_rounded(pair["most"]) > _rounded(pair["high"]) for pair in found[:_LISTED]):
        columns.append(Column("At most", "count", "if nearly all hard rows are wrong"))
    cells: list[tuple[str | float, ...]] = []
    for pair in found[:_LISTED]:
        names = (cut(audit.info.labels[pair[which]], LONGEST_NAME) for which in ("given", "true"))
        interval = f"{about(pair['low'])} to {about(pair['high'])}"
        most = (_rounded(pair["most"]),) if further else ()
        cells.append((*names, _rounded(pair["expected"]), interval, pair["expected"] / int(rows[pair["given"]]), *most))
    more = f", the {_LISTED} most frequent of {len(found)} mistakes" if len(found) > _LISTED else ""
    seen = "" if audit.reviewed is None and audit.blind is None else ", by models alone"
    return Table(f"Wrong labels by class{seen}{more}", columns, cells)


def _rounded(number: float) -> int:
    return int(about(number).replace(",", ""))


def most_often(audit: Audit, pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return between which classes most labels are wrong; nothing where hardly any is, or where no pair stands out of even errors."""
    found = () if audit.several else _of_known_classes(audit, pairs)
    every = sum(pair["expected"] for pair in found)
    shares, classes = np.bincount(audit.gold, minlength=len(audit.info.labels)) / len(audit.gold), len(audit.info.labels)
    # Errors that are even go from each class to all others alike; of two classes half of them go either way.
    often = _STANDS_OUT if classes > _TWO else _STANDS_OUT_OF_TWO
    found = [pair for pair in found if pair["expected"] >= max(_FEWEST, often * every * shares[pair["given"]] / max(classes - 1, 1))]
    named = []
    for pair in found[:_NAMED]:
        given, true = (cut(audit.info.labels[pair[which]], LONGEST_NAME) for which in ("given", "true"))
        named.append(f"`{given}` should be `{true}` (about {about(pair['expected'])})")
    return [f"{' and '.join(named)}."] if named else []


def _of_known_classes(audit: Audit, pairs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the pairs but for those of a class of which nearly all rows are suspects: what its rows should be is not known either."""
    return [pair for pair in pairs if pair["given"] not in audit.unknown]
