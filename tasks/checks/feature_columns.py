"""The expectations about the columns of a table of features: what they hold, what is missing, and what the train set has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cartograph.wording import counted
from tasks.checks.great_expectations_run import Check

if TYPE_CHECKING:
    import pandas as pd

    from cartograph.ingest.canonical import IngestedSet

_UNREAD = "[not as its column: {}]"
_MOST_MISSING, _MORE_MISSING = 0.5, 0.1
_ROUNDING = 1e-9
_FEW = 0.01
_CHANCE = 0.001
"""How often the range check of a set drawn like the train set may warn by chance, per column."""
_HOLDS = {"number": "numbers", "date": "dates"}


def feature_frame(item: IngestedSet, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return the values of a set by type, and of numbers and dates which could not be read.

    Args:
        item: a set of a table of features.
        titles: the column's name in the frame by the feature's.
    """
    import pandas as pd

    from cartograph.schema import UNREAD, values_of

    unread = [set(names) for names in item.raw[UNREAD].to_pylist()]
    columns = {}
    for feature in item.info.features:
        title = titles[feature.name]
        columns[title] = values_of(item.raw, feature.name).to_pandas()
        if feature.kind in _HOLDS:
            columns[_UNREAD.format(title)] = pd.Series([feature.name in names for names in unread])
    return pd.DataFrame(columns)


def feature_checks(item: IngestedSet, train: pd.DataFrame, titles: Mapping[str, str]) -> list[Check]:
    """Return what is expected of each column.

    Of the train set that its values can be read, are not mostly missing, and differ; of an evaluation set also that its numbers and
    dates are within the train set's, its categories among them, and that not many more are missing. How many may lie outside the range
    is 1 %, in small sets as many as chance explains (``most_outside``).

    Args:
        item: the set.
        train: ``feature_frame`` of the train set.
        titles: see there.
    """
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    from cartograph.schema import values_of

    warning, rare = FailureSeverity.WARNING, 1 - _FEW
    few = f"at most {100 * _FEW:g} % others"
    first = item.info.domain == "train"
    checks: list[Check] = []
    for feature in item.info.features:
        name, title = feature.name, titles[feature.name]
        known = train[title].dropna()
        if feature.kind in _HOLDS:
            unread = _UNREAD.format(title)
            readable = gxe.ExpectColumnValuesToBeInSet(column=unread, value_set=[False], mostly=rare, severity=warning)
            checks.append(Check(f"`{name}` holds {_HOLDS[feature.kind]}", few, readable))
        most = _MOST_MISSING if first else min(1.0, 1 - len(known) / max(len(train), 1) + _MORE_MISSING)
        there = gxe.ExpectColumnValuesToNotBeNull(column=title, mostly=1 - most, severity=warning)
        checks.append(Check(f"`{name}` is there", f"at most {100 * most:.0f} % missing", there))
        if first:
            differ = gxe.ExpectColumnUniqueValueCountToBeBetween(column=title, min_value=2, severity=warning)
            checks.append(Check(f"`{name}` differs from row to row", "two values or more", differ))
        elif feature.kind == "category":
            seen = gxe.ExpectColumnValuesToBeInSet(column=title, value_set=sorted(set(known)), mostly=rare, severity=warning)
            checks.append(Check(f"categories of `{name}` are in train", few, seen))
        elif len(known) and feature.kind != "text":
            low, high = known.min(), known.max()
            shown = [f"{end:%Y-%m-%d}" if feature.kind == "date" else f"{end:,.6g}" for end in (low, high)]
            count = len(item.raw) - values_of(item.raw, name).null_count
            most = most_outside(len(known), count)
            mostly = 1 - most / count - _ROUNDING if count else rare
            within = gxe.ExpectColumnValuesToBeBetween(column=title, min_value=low, max_value=high, mostly=mostly, severity=warning)
            others = f"at most {counted(most, 'other')} of {count:,}" if most > _FEW * count else few
            checks.append(Check(f"`{name}` is within train's range", f"{shown[0]} to {shown[1]}; {others}", within))
    return checks


def most_outside(known: int, count: int) -> int:
    """Return how many of so many values may lie outside the range of those known: 1 %, or more where chance makes it so.

    Of values drawn alike, the share outside the range of ``known`` of them has a beta distribution with parameters 2 and ``known - 1``,
    whatever theirs is: two of ``known + 1`` gaps are outside (Wilks 1942). More than this number are outside once in a thousand times.

    Args:
        known: values of the train set, at least 1.
        count: values of the other set, at least 0.

    >>> most_outside(140, 38), most_outside(10_000, 38), most_outside(10_000, 5_000)
    (5, 1, 50)
    """
    from scipy.stats import betabinom

    if known < 2:
        return count
    return max(int(_FEW * count), int(betabinom.isf(_CHANCE, count, 2, known - 1)))
