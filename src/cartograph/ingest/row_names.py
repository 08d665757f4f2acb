"""Columns whose names say that they number the rows, as spreadsheets, R and pandas write them, or that they are a row's identifier."""

from __future__ import annotations

import re

from cartograph.ingest.labeller_names import plain_name

_INDEX = r"unnamed(_\d+)?|(row_?)?(index|idx)|row(_?(names?|id|nr|no|num|number))?|level_0|s_?no|sl_?no|sr_?no|serial(_(no|nr|number))?"
_ROWS = re.compile(rf"{_INDEX}|(\w+_)?(id|uid|uuid|guid)|(record|case|sample|observation|obs|subject|patient)_?(nr|no|num|number)")


def names_rows(name: str) -> bool:
    """Return whether a column of this name numbers the rows or names each, where no value of it comes twice.

    >>> [names_rows(name) for name in ("rownames", "Unnamed: 0", "PassengerId", "customer_id", "index", "Sr. No.")]
    [True, True, True, True, True, True]
    >>> [names_rows(name) for name in ("paid", "price index", "number", "humid", "rows", "age")]
    [False, False, False, False, False, False]
    """
    return _ROWS.fullmatch(plain_name(name)) is not None
