"""Columns inside columns: a path with numbers leads into lists of JSON (``annotations.0.choices.0``)."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from cartograph.read.jsonl import as_text


def column_at(table: pa.Table, path: str) -> pa.ChunkedArray | None:
    """Return what a path leads to in each row, null where a row has nothing there; None where no column begins the path.

    Args:
        table: raw columns.
        path: names and numbers, counted from 0 and negative ones from the end, with dots between them; its beginning is a column of lists
            or of JSON.

    >>> table = pa.table({"marks": [['{"value": "good"}'], []]})
    >>> column_at(table, "marks.0.value").to_pylist()
    ['good', None]
    """
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:length])
        if name in table.column_names:
            values = [_unicode(as_text(_at(value, parts[length:]))) for value in table[name].to_pylist()]
            return pa.chunked_array([pa.array(values, pa.string())]) if any(value is not None for value in values) else None
    return None


def _at(value: Any, parts: list[str]) -> Any:
    for part in parts:
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        if isinstance(value, list):
            try:
                value = value[int(part)]
            except (ValueError, IndexError):
                return None
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def _unicode(text: str | None) -> str | None:
    """Return a text, None for one with half of a surrogate pair, which JSON can write and no table hold."""
    try:
        return text if text is None or text.encode() is not None else None
    except UnicodeEncodeError:
        return None
