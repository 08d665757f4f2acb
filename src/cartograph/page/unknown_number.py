"""What is said where the number of wrong labels is not known, or not closely: why, and between which numbers it lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.clean.reviewed import Reviewed
from cartograph.suspects.label_doubt import FEWEST_ROWS, NOTHING
from cartograph.wording import about, between_wrong, counted, cut, upper_end

VERY_FEW = 100
"""Rows below which models learn little, whatever the labels."""

HARDLY_ANY = 0.005
"""Share of the labels below which an interval from 0 on is said by its upper end: as closely as anybody needs."""

NONE_SURE, _NONE_SO_SURE = (f"without {which} number none is sure enough to change automatically" for which in ("that", "a closer"))


def not_estimated(what: str, record: Mapping[str, Any], why: str, found: Reviewed | None = None) -> tuple[str, str]:
    """Return that a number of wrong labels is not known, or not closely, and why, and that none is sure for that reason, as clauses.

    Args:
        what: that is not known, such as ``how many are wrong``.
        record: of the suspects.
        why: as ``why_unknown`` says it.
        found: what people looked at, so that what is not known is how many of the others are wrong.

    Returns:
        What is known, and the clauses that follow it.
    """
    ends = between_left(record, found)
    known, no_closer = within(what, ends, record["rows"])
    return known, f"{no_closer}: {why}; {NONE_SURE if ends is None else _NONE_SO_SURE}"


def within(what: str, ends: Mapping[str, float] | None, rows: int) -> tuple[str, str]:
    """Return between which numbers that of the wrong labels lies, and that no estimate is closer; or that it cannot be estimated.

    Args:
        what: that is not known, such as ``how many are wrong``.
        ends: as ``between_left`` has them.
        rows: of the set.
    """
    if ends is None:
        return f"{what} cannot be estimated", ""
    which, closer = what.removeprefix("how many "), ", and no closer number can be estimated"
    if about(ends["low"]) != "0" or ends["high"] >= HARDLY_ANY * rows:
        return between_wrong(which, ends["low"], ends["high"], ends["scattered"]), closer
    which = which.replace("of all are", "are")
    if about(ends["high"]) == "1":
        which = which.replace("labels ", "label ", 1).replace("are ", "is ")
    return f"at most about {upper_end(which, ends['high'], ends['scattered'])}", closer


def between_left(record: Mapping[str, Any], found: Reviewed | None = None) -> dict[str, float] | None:
    """Return between which numbers that of the wrong labels lies, and how many it is at most, of those that people did not look at.

    Args:
        record: of the suspects.
        found: what people looked at; the labels that they changed were wrong.

    Returns:
        ``low``, ``high``, ``scattered`` (of earlier audits as high) and ``most``; None where that is not known, as where people changed
        more labels than could be wrong.
    """
    ends = record.get("between")
    if ends is None:
        return None
    ends = {"scattered": ends["high"], **ends}
    if found is None:
        return ends
    if found.changed > ends["high"]:
        return None
    left = float(len(found.decided) - found.rows)
    return {end: min(max(number - found.changed, 0.0), left) for end, number in ends.items()}


def why_unknown(record: Mapping[str, Any], rows: int) -> str:
    """Return why the number of wrong labels cannot be estimated, as a clause; empty where it can be, or was not asked."""
    if record.get("unknown") == "few rows":
        return f"{counted(rows, 'row')} in so many classes are too few" if rows >= FEWEST_ROWS else f"{counted(rows, 'row')} are too few"
    if record.get("unknown") == "leaked":
        columns = record["leaked_by"]
        if record.get("leaked_words"):
            word = cut(columns[0], 60)
            return f"a word per class, such as `{word}`, tells the label of most rows by itself, so that wrong labels would look right"
        which = f"`{cut(columns[0], 60)}` tells" if len(columns) == 1 else f"each of {counted(len(columns), 'column')} tells"
        return f"{which} the label of (nearly) every row by itself, so that wrong labels would look right"
    if record.get("unknown") == "outcome":
        name = cut(record["outcome"], 60)
        return f"`{name}` is by its name an outcome, which follows from more than the columns say: exceptions look like wrong labels"
    if record.get("unknown") == "one class":
        return "its classes may all be one under different names"
    if record.get("unknown") == "hard rows":
        return "even the rows that the models are surest about contradict them, so that hard rows and wrong labels look alike"
    nothing = (record.get("explained") or 0.0) < NOTHING
    if record.get("unknown") == "much noise" or (nothing and record.get("unknown") == "roughly known"):
        return "so many labels contradict the models that hard rows and wrong labels look alike"
    if record.get("unknown") not in ("little explained", "roughly known"):
        return ""
    if nothing and rows < VERY_FEW:
        return f"{counted(rows, 'row')} are too few for models to know more of labels than how many each class has"
    if nothing:
        return "the models know little more of labels than how many each class has, since what they read hardly says or very many are wrong"
    return "the models explain too little of the labels"
