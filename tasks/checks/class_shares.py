"""The expectation that an evaluation set of the train set's distribution has its classes about as often as the train set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.wording import counted, cut, listing, percent
from tasks.checks.great_expectations_run import Check

if TYPE_CHECKING:
    from cartograph.ingest.canonical import IngestedSet

SAME_SHARES = "classes are about as frequent as in the train set"
COLUMN = "[classes of another share than in train]"
"""Column whose every value is how many there are."""

_TIMES, _POINTS, _ERRORS = 2.0, 0.02, 4.0
_NAMED = 3


def shifted_classes(item: IngestedSet, train: IngestedSet) -> dict[str, tuple[float, float]]:
    """Return the classes that are twice or half as frequent as in the train set, with their shares there and here, most different first.

    Only where they differ by two points, and by four standard errors: what chance does not explain. None of a set out of distribution.
    """
    there, here = sum(train.class_counts.values()), sum(item.class_counts.values())
    if item.info.domain != "id" or not there or not here:
        return {}
    found = {}
    for name, rows in item.class_counts.items():
        before, now = train.class_counts.get(name, 0) / there, rows / here
        both = (train.class_counts.get(name, 0) + rows) / (there + here)
        error = (both * (1.0 - both) * (1.0 / there + 1.0 / here)) ** 0.5
        if abs(now - before) >= max(_POINTS, _ERRORS * error) and max(now, before) >= _TIMES * min(now, before):
            found[name] = (before, now)
    return dict(sorted(found.items(), key=lambda pair: -abs(pair[1][1] - pair[1][0])))


def class_share_checks() -> list[Check]:
    """Return the check that there is no such class, which warns."""
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    even = gxe.ExpectColumnMaxToBeBetween(column=COLUMN, max_value=0, severity=FailureSeverity.WARNING)
    return [Check(SAME_SHARES, "none twice or half as frequent", even)]


def class_share_phrases(shifted: dict[str, tuple[float, float]]) -> dict[str, str]:
    """Return, by failed check, what was found."""
    if not shifted:
        return {SAME_SHARES: "none"}
    named = [f"`{cut(name, 40)}` {percent(now)}, in the train set {percent(before)}" for name, (before, now) in shifted.items()]
    more = f", and {counted(len(named) - _NAMED, 'more class', 'more classes')}" if len(named) > _NAMED else ""
    return {SAME_SHARES: f"{listing(named[:_NAMED])}{more}: its rows were drawn otherwise, or labelled otherwise"}
