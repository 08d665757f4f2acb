"""Files whose first line is no header: how that is seen, and which column is which."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_LOOKED_AT = 1000
_LONG = 5
"""Words of a name from which on it is a text."""


def names_by_position(table: pa.Table) -> str | None:
    """Return names for the columns of a table whose header looks like a row (``label,,text``); None where it looks like a header.

    A header has the look of a row where a name is a number, a text of many words, or a value that its own column has too. The text is
    the column with the longest texts, the label the one with the fewest different values.

    >>> names_by_position(pa.table({"3": ["1", "3", "1"], "Wall St. Bears claw back into it": ["A b c d", "e", "f"]}))
    'label,text'
    >>> names_by_position(pa.table({"review": ["A b c", "d"], "stars": ["1", "2"]}))
    """
    start = table.slice(0, _LOOKED_AT)
    names = [name for name, column in zip(start.column_names, start.columns, strict=True) if pa.types.is_string(column.type)]
    if len(names) < 2 or not any(_is_value(name, start[name]) for name in names):
        return None
    columns = {name: start[name].drop_null() for name in names}
    lengths = {name: pc.mean(pc.utf8_length(column)).as_py() or 0 for name, column in columns.items()}
    text = max(names, key=lambda name: lengths[name])
    counts = {name: len(pc.unique(column)) for name, column in columns.items() if name != text and len(pc.unique(column)) > 1}
    label = min(counts, key=lambda name: counts[name]) if counts else None
    return ",".join("text" if name == text else "label" if name == label else "" for name in start.column_names)


def _is_value(name: str, column: pa.ChunkedArray) -> bool:
    given = re.sub(r" \(\d+\)$", "", name).strip()
    if re.fullmatch(r"column \d+", given):
        return False
    if re.fullmatch(r"[-+]?\d+([.,]\d+)?", given) or len(given.split()) > _LONG:
        return True
    return bool(pc.sum(pc.equal(pc.utf8_trim_whitespace(column), given)).as_py() or 0)
