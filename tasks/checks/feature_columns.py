"""The expectations about the columns of a table of features: what they hold, what is missing, and what the train set has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tasks.checks.great_expectations_run import Check

if TYPE_CHECKING:
    import pandas as pd

    from cartograph.ingest.canonical import IngestedSet

_UNREAD = "[not as its column: {}]"
_MOST_MISSING, _MORE_MISSING = 0.5, 0.1
_FEW = 0.01
_HOLDS = {"number": "numbers", "date": "dates"}


def feature_frame(item: IngestedSet, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return the values of a set by type, and of numbers and dates which could not be read.

    Args:
        item: a set of a table of features.
        titles: the column's name in the frame by the feature's.
    """
    import pandas as pd
    import pyarrow.compute as pc

    from cartograph.schema import UNREAD, VALUES

    unread = [set(names) for names in item.raw[UNREAD].to_pylist()]
    columns = {}
    for feature in item.info.features:
        title = titles[feature.name]
        columns[title] = pc.struct_field(item.raw[VALUES], feature.name).to_pandas()
        if feature.kind in _HOLDS:
            columns[_UNREAD.format(title)] = pd.Series([feature.name in names for names in unread])
    return pd.DataFrame(columns)


def feature_checks(item: IngestedSet, train: pd.DataFrame, titles: Mapping[str, str]) -> list[Check]:
    """Return what is expected of each column.

    Of the train set that its values can be read, are not mostly missing, and differ; of an evaluation set also that its numbers and
    dates are within the train set's, its categories among them, and that not many more are missing.

    Args:
        item: the set.
        train: ``feature_frame`` of the train set.
        titles: see there.
    """
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

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
        elif len(known):
            low, high = known.min(), known.max()
            shown = [f"{end:%Y-%m-%d}" if feature.kind == "date" else f"{end:,.6g}" for end in (low, high)]
            within = gxe.ExpectColumnValuesToBeBetween(column=title, min_value=low, max_value=high, mostly=rare, severity=warning)
            checks.append(Check(f"`{name}` is within train's range", f"{shown[0]} to {shown[1]}; {few}", within))
    return checks
